"""Looks for damage: the file, the links between tables, the postings."""

from __future__ import annotations

import apsw

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.sqlite.connection import select_int, translated_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.index.sqlite.index import SqliteIndex


MAX_PROBLEMS = 3


def check_index(index: SqliteIndex) -> Iterator[tuple[str, str]]:
    """Return (what was checked, what is wrong; empty when it is sound)."""
    for name, check in (
        ("index file", _file_problem),
        ("index links", _links_problem),
        ("full-text index", postings_problem),
    ):
        try:
            with translated_errors(index.path):
                problem = check(index.connection)
        except IndexUnusableError as error:
            # Damage can stop a check half-way, and a busy process too; they differ.
            problem = str(error)
        yield name, problem


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


def _file_problem(connection: apsw.Connection) -> str:
    """Return what SQLite complains of in the file."""
    checked = connection.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})")
    lines = [str(row[0]) for row in checked]
    return "" if lines == ["ok"] else "; ".join(lines)


def _links_problem(connection: apsw.Connection) -> str:
    """Return rows that point at nothing, and counts that are wrong."""
    broken = list(connection.execute("PRAGMA foreign_key_check"))
    if broken:
        return f"{len(broken)} rows point at nothing"
    wrong = select_int(
        connection,
        """
        SELECT count(*) FROM files
        WHERE state = 0 AND chunk_count <> (
          SELECT count(*) FROM chunks WHERE file_id = files.id
        )
        """,
    )
    return f"{wrong} notes have another number of chunks than recorded" if wrong else ""
