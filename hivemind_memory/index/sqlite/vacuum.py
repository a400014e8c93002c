"""Removes every trace of deleted content from the index file and the files beside it.

SQLite only unlinks what is deleted: the bytes stay in free pages, in the gaps of pages
in use, in the segments of the postings, and in the log beside the file. A vacuum
rewrites the file.

A purge is done here: nothing else drops a cached vector.
"""

from __future__ import annotations

import os

import apsw

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.files.errors import reason_of
from hivemind_memory.index.port import IndexCounts, VacuumResult
from hivemind_memory.index.sqlite.lock import index_lock
from hivemind_memory.index.sqlite.notes import sweep_unfinished
from hivemind_memory.index.sqlite.vector_blocks import clear_free_slots
from hivemind_memory.sqlite.connection import (
    open_connection,
    select_int,
    translated_errors,
    write_transaction,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator


_AT_ONCE = 500
"""Values that one statement takes."""

REWRITES = 3
"""How often the file is written again because it still holds a deleted text."""

_BLOCK_BYTES = 1 << 20

_STILL_HELD = "it still holds text of a deleted note"

_READ_DATABASE = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY

_STILL_READ = (
    "another process still reads an old state of the index, so old pages of it lie in "
    "the file and beside it"
)


def count_in_index(
    path: str,
    *,
    paths: Collection[str],
    entry_ids: Collection[str],
    text_hashes: Collection[str],
    is_seen: Callable[[str], bool],
) -> IndexCounts:
    """Return what the index at *path* holds of some notes, entries and texts.

    Args:
        path: The index file.
        paths: Notes.
        entry_ids: Entries, in whatever notes they are.
        text_hashes: SHA-256 of texts, hexadecimal.
        is_seen: Path of a note -> whether its chunks are counted.

    Raises:
        IndexUnusableError: It cannot be read now.
    """
    if not os.path.exists(path):
        return IndexCounts()
    connection = open_connection(path)
    try:
        with translated_errors(path):
            chunks: dict[int, str] = {}
            for column, values in (("path", paths), ("entry_id", entry_ids)):
                for some, marks in _steps(values):
                    chunks.update(
                        connection.execute(
                            f"""
                            SELECT chunks.id, path
                            FROM chunks JOIN files ON files.id = file_id
                            WHERE {column} IN ({marks})
                            """,
                            some,
                        )
                    )
            return IndexCounts(
                chunks=sum(map(is_seen, chunks.values())),
                vectors=sum(
                    select_int(
                        connection,
                        f"""
                        SELECT count(*) FROM embedding_cache
                        WHERE text_hash IN ({marks})
                        """,
                        *some,
                    )
                    for some, marks in _steps(text_hashes)
                ),
                free_pages=int(connection.pragma("freelist_count")),
            )
    finally:
        connection.close()


def vacuum(
    path: str,
    text_hashes: Collection[str],
    *,
    since_s: float,
    probes: Collection[str],
    wait_s: float,
) -> VacuumResult:
    """Remove the vectors of some texts from the index at *path*, and what was deleted.

    It works on a connection of its own; no other connection has to be closed.

    Args:
        path: The index file.
        text_hashes: SHA-256 of the texts, hexadecimal.
        since_s: Vectors made since then that no text has go too.
        probes: Lines of the deleted texts, which no file may hold afterwards.
        wait_s: How long to wait for each process that uses the index.
    """
    if not os.path.exists(path):
        return VacuumResult()
    vectors = free_pages = 0
    problems: list[tuple[str, str]] = []
    try:
        with index_lock(path, wait_s=wait_s):
            connection = open_connection(path)
            try:
                with translated_errors(path):
                    connection.set_busy_timeout(int(wait_s * 1000))
                    connection.execute("PRAGMA secure_delete = ON")
                    sweep_unfinished(connection)
                    _link_cached(connection, path)
                    vectors = _drop_vectors(connection, text_hashes, since_s)
                    free_pages = int(connection.pragma("freelist_count"))
                    for _ in range(REWRITES):
                        if not _rewrite(connection):
                            problems = [(path, _STILL_READ)]
                            break
                        holding = _files_holding(connection, path, probes)
                        problems = [(file, _STILL_HELD) for file in holding]
                        if not holding:
                            break
            finally:
                connection.close()
    except IndexUnusableError as error:
        problems.append((path, str(error)))
    return VacuumResult(vectors, free_pages, problems=tuple(problems))


def set_aside_files(path: str, rebuild_file: str) -> list[str]:
    """Return the damaged indexes beside *path*, and what a killed rebuild left."""
    folder, name = os.path.split(path)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    half_built = {os.path.basename(rebuild_file) + end for end in ("", "-wal", "-shm")}
    return [
        os.path.join(folder, file)
        for file in names
        if file in half_built or file.startswith(f"{name}.damaged")
    ]


def remove_set_aside(path: str, rebuild_file: str) -> tuple[int, list[tuple[str, str]]]:
    """Remove such files; return how many, and (file, why) for those that stay."""
    removed, problems = 0, []
    for file in set_aside_files(path, rebuild_file):
        try:
            os.unlink(file)
            removed += 1
        except OSError as error:
            problems.append((file, reason_of(error)))
    return removed, problems


def _files_holding(
    connection: apsw.Connection, path: str, probes: Collection[str]
) -> list[str]:
    """Return the index file and its log, as far as they hold text that no chunk has."""
    wanted = [
        probe.encode()
        for probe in probes
        if not select_int(
            connection, "SELECT count(*) FROM chunks WHERE instr(text, ?)", probe
        )
    ]
    return [
        file
        for file in (path, f"{path}-wal")
        if wanted and _holds(file, wanted, connection.open_vfs)
    ]


def _holds(file: str, wanted: Collection[bytes], vfs: str) -> bool:
    """Return whether a file holds any of some bytes.

    It is read through SQLite. A process that opens and closes a database file by itself
    loses all POSIX locks that its connections hold on it, see section 2.2 of
    https://sqlite.org/howtocorrupt.html: another process may then delete the log that
    is still in use.
    """
    overlap = max(map(len, wanted)) - 1
    end = b""
    try:
        raw = apsw.VFSFile(vfs, file, [_READ_DATABASE, 0])
    except apsw.CantOpenError:
        return False  # there is no log
    try:
        for start in range(0, raw.xFileSize(), _BLOCK_BYTES):
            end += raw.xRead(_BLOCK_BYTES, start)
            if any(probe in end for probe in wanted):
                return True
            end = end[-overlap:] if overlap else b""
    finally:
        raw.xClose()
    return False


def _link_cached(connection: apsw.Connection, path: str) -> None:
    """Link every text to its cached vector, so that the vectors left belong to none."""
    from hivemind_memory.index.sqlite.vector_store import SqliteVectorStore

    store = SqliteVectorStore(connection, path, lambda: 0.0)
    for (fingerprint,) in list(connection.execute("SELECT fingerprint FROM spaces")):
        store.plan(fingerprint)


def _drop_vectors(
    connection: apsw.Connection, text_hashes: Collection[str], since_s: float
) -> int:
    """Delete vectors that no chunk has any more; return how many."""
    sql = """
    DELETE FROM embedding_cache WHERE {} AND NOT EXISTS (
      SELECT 1 FROM chunks_vec WHERE vector_id = embedding_cache.id
    )
    """
    with write_transaction(connection):
        before = connection.total_changes()
        for some, marks in _steps(text_hashes):
            connection.execute(sql.format(f"text_hash IN ({marks})"), some)
        connection.execute(sql.format("created >= ?"), (since_s,))
        count = connection.total_changes() - before
        clear_free_slots(connection)
        return count


def _rewrite(connection: apsw.Connection) -> bool:
    """Rewrite postings and pages, and empty the log; False: a reader prevents it.

    A deleted posting stays in its segment, with a mark of the deletion in the next.
    ``optimize`` does not always merge them away: where all segments are of one level it
    may keep the marks. So the postings are built again.
    """
    with write_transaction(connection):
        connection.execute("INSERT INTO chunks_fts(chunks_fts) VALUES ('rebuild')")
    connection.execute("VACUUM")
    row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return row is not None and not row[0]


def _steps(values: Collection[str]) -> Iterator[tuple[list[str], str]]:
    """Yield some values at a time, with as many marks."""
    ordered = sorted(values)
    for at in range(0, len(ordered), _AT_ONCE):
        some = ordered[at : at + _AT_ONCE]
        yield some, ",".join("?" * len(some))
