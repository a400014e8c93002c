"""Looks for damage: the file, the links between tables, the postings."""

from __future__ import annotations

import apsw

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.index.sqlite.connection import one_number, translated_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.index.sqlite.index import SqliteIndex

MAX_PROBLEMS = 3


def check_index(index: SqliteIndex) -> Iterator[tuple[str, str]]:
    """Return (what was checked, what is wrong; empty when it is sound)."""
    connection = index.connection
    yield "index file", _said(connection, f"PRAGMA integrity_check({MAX_PROBLEMS})")
    yield "index links", _links(connection)
    yield "full-text index", postings_problem(connection)


def postings_problem(connection: apsw.Connection) -> str:
    """Return how the full-text index differs from the chunks; empty: it does not.

    Rank 1 compares with the content; without it only the inner structure is checked,
    and postings of text that changed behind its back go unnoticed.
    """
    try:
        connection.execute(
            "INSERT INTO chunks_fts(chunks_fts, rank) VALUES ('integrity-check', 1)"
        )
    except apsw.CorruptError as error:
        return f"the postings do not fit the chunks: {error}"
    return ""


def _said(connection: apsw.Connection, pragma: str) -> str:
    """Return what a checking pragma complains of."""
    try:
        with translated_errors(""):
            lines = [str(row[0]) for row in connection.execute(pragma)]
    except IndexUnusableError as error:
        return str(error)
    return "" if lines == ["ok"] else "; ".join(lines)


def _links(connection: apsw.Connection) -> str:
    """Return rows that point at nothing, and counts that are wrong."""
    broken = list(connection.execute("PRAGMA foreign_key_check"))
    if broken:
        return f"{len(broken)} rows point at nothing"
    wrong = one_number(
        connection,
        """
        SELECT count(*) FROM files
        WHERE state = 0 AND chunk_count <> (
          SELECT count(*) FROM chunks WHERE file_id = files.id
        )
        """,
    )
    return f"{wrong} notes have another number of chunks than recorded" if wrong else ""
