"""Writes the rows of a note to the tables ``files``, ``edges`` and ``chunks``."""

from __future__ import annotations

from hivemind_memory.model.trust import shown_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from hivemind_memory.index.port import FileRecord
    from hivemind_memory.index.sqlite.rows import PlacedRow
    from hivemind_memory.model.note_path import NotePath

    ChunkValues = tuple[object, ...]

LIVE = 0
"""State of a note that is found."""

_CHUNK_COLUMNS = """
  file_id, start_line, end_line,
  day, entry_id, headings, text, body, extra, breadcrumbs, subchunks, source, reason,
  source_ref, tags
"""
_ROWS_AT_ONCE = 500
_COLUMNS = (
    *("mtime", "ctime", "size", "inode", "is_settled", "hash", "day", "chunk_count"),
    *("scope", "status", "ages", "importance", "type", "key", "memory_id"),
    *("visibility", "source", "session", "created", "expires_day", "done_day"),
    *("is_pinned", "source_ref", "claim", "tags", "is_utf8"),
)
"""Of the table ``files``, without its path and state."""

_UPDATE_FILE = f"""
UPDATE files SET {", ".join(f"{column} = ?" for column in _COLUMNS)} WHERE id = ?
"""
_INSERT_FILE = f"""
INSERT INTO files(path, {", ".join(_COLUMNS)}, state)
VALUES (?, {", ".join("?" * len(_COLUMNS))}, ?)
"""


def _values(file: FileRecord, chunk_count: int) -> tuple[object, ...]:
    """Return the columns of a note in the order of ``_COLUMNS``."""
    header = file.header
    if header is None:
        from hivemind_memory.model.memories import MemoryHeader

        header = MemoryHeader()
    return (
        *file.signature,
        int(file.is_settled),
        file.digest,
        file.day,
        chunk_count,
        file.scope,
        header.status,
        int(header.does_age),
        header.importance,
        header.type or None,
        header.key or None,
        header.memory_id or None,
        header.visibility or None,
        shown_source(header.source) or None,
        header.session or None,
        header.created or None,
        header.expires_day,
        header.done_day,
        int(header.is_pinned),
        header.source_ref or None,
        header.claim or None,
        header.tags or None,
        int(file.is_utf8),
    )


def update_file(
    connection: apsw.Connection, file_id: int, file: FileRecord, chunk_count: int
) -> None:
    """Set what the index records of a note that it has."""
    connection.execute(_UPDATE_FILE, (*_values(file, chunk_count), file_id))


def insert_file(
    connection: apsw.Connection,
    path: NotePath,
    file: FileRecord,
    chunk_count: int,
    state: int,
) -> int:
    """Insert the row of a note and return its number.

    A note being written has a name that no note can have, until it is whole.
    """
    connection.execute(
        _INSERT_FILE,
        (path if state == LIVE else "//new", *_values(file, chunk_count), state),
    )
    file_id = connection.last_insert_rowid()
    if state != LIVE:
        connection.execute("UPDATE files SET path = '/' || id WHERE id = ?", (file_id,))
    return file_id


def insert_edges(connection: apsw.Connection, file_id: int, file: FileRecord) -> None:
    """Insert the edges that begin at a note."""
    edges = file.header.edges if file.header else ()
    if edges:
        connection.executemany(
            "INSERT INTO edges(file_id, kind, target, weight) VALUES (?, ?, ?, ?)",
            [(file_id, *edge) for edge in edges],
        )


def add_edges(connection: apsw.Connection, file_id: int, file: FileRecord) -> None:
    """Insert those edges of a note that has grown that it did not have before."""
    edges = file.header.edges if file.header else ()
    if not edges:
        return
    from hivemind_memory.notes.edge import MAX_EDGES

    rows = connection.execute(
        "SELECT kind, target FROM edges WHERE file_id = ?", (file_id,)
    )
    had = set(rows)
    new = [edge for edge in edges if (edge[0], edge[1]) not in had]
    connection.executemany(
        "INSERT INTO edges(file_id, kind, target, weight) VALUES (?, ?, ?, ?)",
        [(file_id, *edge) for edge in new[: max(0, MAX_EDGES - len(had))]],
    )


def chunk_values(file_id: int, rows: Sequence[PlacedRow]) -> list[ChunkValues]:
    """Return chunks as the table has them."""
    return [(file_id, start, end, *row) for start, end, row in rows]


def insert_chunks(connection: apsw.Connection, chunks: Sequence[ChunkValues]) -> None:
    """Insert chunks; the triggers write their postings.

    Many rows a statement: at the start of each, the full-text table writes what it has
    gathered as a segment of its own. Merging those takes half the time of single rows.
    """
    for at in range(0, len(chunks), _ROWS_AT_ONCE):
        rows = chunks[at : at + _ROWS_AT_ONCE]
        marks = ",".join([f"({','.join('?' * len(rows[0]))})"] * len(rows))
        connection.execute(
            f"INSERT INTO chunks({_CHUNK_COLUMNS}) VALUES {marks}",
            [value for row in rows for value in row],
        )
