"""Writes notes to the index and removes them, in short transactions."""

from __future__ import annotations

import json

from hivemind_memory.index.sqlite.chunk_changes import apply_changes, compare_chunks
from hivemind_memory.index.sqlite.meta import notes_transaction
from hivemind_memory.index.sqlite.note_rows import (
    LIVE,
    chunk_values,
    insert_chunks,
    insert_edges,
    insert_file,
    update_file,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.snapshot import IndexedFiles
from hivemind_memory.sqlite.connection import read_transaction, select_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import apsw

    from hivemind_memory.index.port import (
        FileRecord,
        IndexedNote,
        MayWrite,
        TouchedNote,
    )
    from hivemind_memory.index.sqlite.chunk_changes import ChunkChanges
    from hivemind_memory.index.sqlite.note_rows import ChunkValues
    from hivemind_memory.index.sqlite.rows import PlacedRow
    from hivemind_memory.model.snapshot import FileSignature


STEP_CHUNKS = 1_000
"""Chunks written in one transaction: some 30 ms of work."""

OUTDATED = "is_settled = 0 AND hash = ''"
"""True for a note that ``mark_stale`` marked, and that was not read again since."""

_BEING_WRITTEN, _REPLACED = 1, 2


def indexed_files(connection: apsw.Connection) -> IndexedFiles:
    """Return the signatures of all indexed notes, and which have to be read again."""
    rows = connection.execute(
        "SELECT path, mtime, ctime, size, inode FROM files WHERE state = 0"
    )
    young = connection.execute(
        f"SELECT path, {OUTDATED} FROM files WHERE is_settled = 0 AND state = 0"
    ).fetchall()
    return IndexedFiles(
        # No call for each row: there may be 60,000 of them before an answer.
        signatures={row[0]: row[1:] for row in rows},
        unsettled=frozenset([NotePath(path) for path, _ in young]),
        outdated=frozenset(
            [NotePath(path) for path, is_outdated in young if is_outdated]
        ),
    )


def mark_stale(
    connection: apsw.Connection, holding: Collection[NotePath] | None
) -> None:
    """Have some notes and all with a masked secret read again; None: every note.

    The signature stays, so that a note that has changed as well can be told from the
    others; not that of a note that is too young for it to prove much.
    """
    from hivemind_memory.redaction.spans import MARK_START

    connection.execute(
        """
        UPDATE files
        SET mtime = CASE WHEN is_settled = 1 OR hash = '' THEN mtime ELSE 0 END,
            is_settled = 0,
            hash = ''
        WHERE :paths IS NULL OR path IN (SELECT value FROM json_each(:paths))
          OR id IN (
            SELECT file_id FROM chunks WHERE instr(text || headings, :mark)
          )
        """,
        {
            "paths": None if holding is None else json.dumps(list(holding)),
            "mark": MARK_START,
        },
    )


def notes_at(
    connection: apsw.Connection, paths: Sequence[NotePath]
) -> dict[NotePath, IndexedNote]:
    """Return what the index knows of those of some notes that are indexed."""
    from hivemind_memory.index.port import IndexedNote

    marks = ",".join("?" * len(paths))
    rows = connection.execute(
        f"""
        SELECT path, hash, mtime, ctime, size, inode
        FROM files
        WHERE path IN ({marks})
        """,
        tuple(paths),
    )
    return {
        NotePath(path): IndexedNote((mtime, ctime, size, inode), digest)
        for path, digest, mtime, ctime, size, inode in rows
    }


def touch(connection: apsw.Connection, touched: Sequence[TouchedNote]) -> None:
    """Record new signatures of notes whose bytes are still the indexed ones."""
    with notes_transaction(connection):
        connection.executemany(
            """
            UPDATE files
            SET mtime = ?, ctime = ?, size = ?, inode = ?, is_settled = ?
            WHERE path = ? AND hash = ?
            """,
            [
                (*signature, int(is_settled), path, digest)
                for path, signature, digest, is_settled in touched
            ],
        )


def large_notes(
    connection: apsw.Connection, batch: Mapping[NotePath, Sequence[PlacedRow]]
) -> set[NotePath]:
    """Return the notes that are too much work to replace in one transaction."""
    large = {path for path, rows in batch.items() if len(rows) > STEP_CHUNKS}
    for path, (_, _, _, chunk_count) in indexed_at(connection, batch).items():
        if chunk_count > STEP_CHUNKS:
            large.add(path)
    return large


def replace_notes(
    connection: apsw.Connection,
    batch: Sequence[tuple[NotePath, FileRecord, list[PlacedRow]]],
    may_write: MayWrite | None,
) -> int:
    """Make the index of some notes equal to their rows; return the rows written.

    For notes that are not large, and few: all happens in one transaction. Chunks and
    postings change together or not at all. Chunks that are the same keep their number,
    and so their vectors; only their lines move.
    """
    chunks: list[ChunkValues] = []
    with notes_transaction(connection):
        indexed = indexed_at(connection, [path for path, _, _ in batch])
        for path, file, rows in batch:
            file_id, signature, digest, _ = indexed.get(path, NOT_INDEXED)
            if may_write is None or may_write(path, signature, digest):
                chunks += _replace_note(connection, path, file, rows, file_id)
        insert_chunks(connection, chunks)
    return len(chunks)


def _replace_note(
    connection: apsw.Connection,
    path: NotePath,
    file: FileRecord,
    rows: list[PlacedRow],
    file_id: int,
) -> list[ChunkValues]:
    """Do one note's share of ``replace_notes``; return the chunks to insert."""
    if file_id:
        update_file(connection, file_id, file, len(rows))
        changes = compare_chunks(connection, file_id, rows)
        apply_changes(connection, changes)
        rows = changes.new
        connection.execute("DELETE FROM edges WHERE file_id = ?", (file_id,))
    else:
        file_id = insert_file(connection, path, file, len(rows), LIVE)
    insert_edges(connection, file_id, file)
    return chunk_values(file_id, rows)


def replace_changed_chunks(
    connection: apsw.Connection,
    path: NotePath,
    file: FileRecord,
    rows: list[PlacedRow],
    may_write: MayWrite | None,
) -> int | None:
    """Write what differs in a large note in one transaction; return the rows written.

    A note that agents append to is large at the end of a day, and differs by an entry.
    What it holds is read before the transaction, which so stays short, and once more
    inside it if another connection has changed the index by then: a rebuild gives other
    numbers to the same chunks of the same note.

    Returns:
        None: nothing was written, because too much differs.
    """
    with read_transaction(connection):
        seen = connection.pragma("data_version")
        file_id, signature, digest, changes = _differences(connection, path, rows)
    if changes is None:
        return None
    with notes_transaction(connection):
        if connection.pragma("data_version") != seen:
            file_id, signature, digest, changes = _differences(connection, path, rows)
            if changes is None:
                return None
        if may_write is not None and not may_write(path, signature, digest):
            return 0
        update_file(connection, file_id, file, len(rows))
        apply_changes(connection, changes)
        connection.execute("DELETE FROM edges WHERE file_id = ?", (file_id,))
        insert_edges(connection, file_id, file)
        insert_chunks(connection, chunk_values(file_id, changes.new))
    return len(changes.new)


def _differences(
    connection: apsw.Connection, path: NotePath, rows: list[PlacedRow]
) -> tuple[int, FileSignature | None, str, ChunkChanges | None]:
    """Return number, signature and digest of a note, and what differs from its rows.

    The last is None when the note is not indexed, or too much differs for one step.
    """
    file_id, signature, digest, _ = indexed_at(connection, (path,)).get(
        path, NOT_INDEXED
    )
    changes = compare_chunks(connection, file_id, rows) if file_id else None
    if changes is not None and changes.count > STEP_CHUNKS:
        changes = None
    return file_id, signature, digest, changes


def replace_large_note(
    connection: apsw.Connection,
    path: NotePath,
    file: FileRecord,
    rows: list[PlacedRow],
    may_write: MayWrite | None,
) -> int:
    """Write a large note beside its old self, then swap the two in one short step.

    The caller holds the index file: see ``index_lock``.
    """
    sweep_unfinished(connection)
    with notes_transaction(connection):
        # Before anything is staged: a purge may have removed the text since it was
        # read, and what is staged stays in the log for a while.
        if not _may_write(connection, path, may_write):
            return 0
        new_id = insert_file(connection, path, file, len(rows), _BEING_WRITTEN)
        insert_edges(connection, new_id, file)
    for at in range(0, len(rows), STEP_CHUNKS):
        with notes_transaction(connection):
            step = rows[at : at + STEP_CHUNKS]
            insert_chunks(connection, chunk_values(new_id, step))
    with notes_transaction(connection):
        is_written = _may_write(connection, path, may_write)
        if is_written:
            _retire(connection, path)
            connection.execute(
                "UPDATE files SET state = ?, path = ? WHERE id = ?",
                (LIVE, path, new_id),
            )
        else:
            connection.execute(
                "UPDATE files SET state = ? WHERE id = ?", (_REPLACED, new_id)
            )
    sweep(connection)
    return len(rows) if is_written else 0


def remove_notes(
    connection: apsw.Connection,
    paths: Iterable[NotePath],
    may_write: MayWrite | None,
) -> None:
    """Remove notes; their vectors stay in the cache."""
    left = list(paths)
    for at in range(0, len(left), STEP_CHUNKS):
        with notes_transaction(connection):
            for path in left[at : at + STEP_CHUNKS]:
                if _may_write(connection, path, may_write):
                    _retire(connection, path)
    sweep(connection)


def _retire(connection: apsw.Connection, path: NotePath) -> None:
    """Hide a note at once, whatever its size; its rows are deleted in short steps."""
    connection.execute(
        "UPDATE files SET state = ?, path = '/' || id WHERE path = ?",
        (_REPLACED, path),
    )


NOT_INDEXED: tuple[int, FileSignature | None, str, int] = (0, None, "", 0)


def indexed_at(
    connection: apsw.Connection, paths: Collection[NotePath]
) -> dict[NotePath, tuple[int, FileSignature | None, str, int]]:
    """Return number, signature, digest and count of chunks of those that are there."""
    marks = ",".join("?" * len(paths))
    return {
        path: (file_id, tuple(signature), digest, chunk_count)
        for path, file_id, digest, chunk_count, *signature in connection.execute(
            f"""
            SELECT path, id, hash, chunk_count, mtime, ctime, size, inode
            FROM files WHERE path IN ({marks})
            """,
            tuple(paths),
        )
    }


def _may_write(
    connection: apsw.Connection, path: NotePath, may_write: MayWrite | None
) -> bool:
    """Ask whether a note may be written, given its current rows."""
    if may_write is None:
        return True
    _, signature, digest, _ = indexed_at(connection, (path,)).get(path, NOT_INDEXED)
    return may_write(path, signature, digest)


def sweep(connection: apsw.Connection) -> None:
    """Delete, in short steps, what was replaced.

    Another process may sweep the same files. SQLite gives the number of the newest one
    to the next file that is inserted, so each step looks again whether it was replaced.
    """
    for (file_id,) in list(
        connection.execute("SELECT id FROM files WHERE state = ?", (_REPLACED,))
    ):
        _delete_in_steps(connection, file_id)


def has_unfinished(connection: apsw.Connection) -> bool:
    """Return whether there is anything to sweep."""
    rows = connection.execute("SELECT 1 FROM files WHERE state <> 0 LIMIT 1")
    return rows.fetchone() is not None


def count_chunks(connection: apsw.Connection) -> int:
    """Return how many chunks can be found."""
    sql = "SELECT coalesce(sum(chunk_count), 0) FROM files WHERE state = 0"
    return select_int(connection, sql)


def has_outdated(connection: apsw.Connection) -> bool:
    """Return whether there is any note to read again because rules have changed."""
    rows = connection.execute(f"SELECT 1 FROM files WHERE {OUTDATED} LIMIT 1")
    return rows.fetchone() is not None


def sweep_unfinished(connection: apsw.Connection) -> None:
    """Delete what a killed process left half written.

    The caller holds the index file: a note that a live process is staging looks the
    same as one whose writer died.
    """
    with notes_transaction(connection):
        connection.execute(
            "UPDATE files SET state = ? WHERE state = ?", (_REPLACED, _BEING_WRITTEN)
        )
    sweep(connection)


def _delete_in_steps(connection: apsw.Connection, file_id: int) -> None:
    """Delete the chunks of a replaced file in short transactions, then its row."""
    while True:
        with notes_transaction(connection):
            replaced = connection.execute(
                "SELECT 1 FROM files WHERE id = ? AND state = ?", (file_id, _REPLACED)
            )
            if replaced.fetchone() is None:
                return
            connection.execute(
                """
                DELETE FROM chunks WHERE id IN (
                  SELECT id FROM chunks WHERE file_id = ? LIMIT ?
                )
                """,
                (file_id, STEP_CHUNKS),
            )
            if connection.changes() < STEP_CHUNKS:
                connection.execute("DELETE FROM files WHERE id = ?", (file_id,))
                return
