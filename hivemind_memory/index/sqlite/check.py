"""Checks an index for damage: the file, the links between tables, the postings."""

from __future__ import annotations

import apsw

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.index.sqlite.vector_blocks import blocks_problem
from hivemind_memory.model.display import count_text
from hivemind_memory.sqlite.connection import select_int, translated_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PROBLEMS = 3


def check_index(connection: apsw.Connection, path: str) -> Iterator[tuple[str, str]]:
    """Yield (what was checked, what is wrong; empty when it is sound)."""
    for name, check in (
        ("index file", _file_problem),
        ("index links", _links_problem),
        ("full-text index", postings_problem),
    ):
        try:
            with translated_errors(path):
                problem = check(connection)
        except IndexUnusableError as error:
            # Damage can stop a check half-way; so can a lock, which is no damage.
            problem = str(error)
        yield name, problem


def postings_problem(connection: apsw.Connection) -> str:
    """Return how the postings differ from the chunks; empty: they do not.

    Rank 1 compares them with the content. Without it only the inner structure is
    checked, and postings of text that was changed by another program go unnoticed.
    """
    try:
        connection.execute(
            "INSERT INTO chunks_fts(chunks_fts, rank) VALUES ('integrity-check', 1)"
        )
    except apsw.CorruptError as error:
        return f"the postings do not match the chunks: {error}"
    return ""


def _file_problem(connection: apsw.Connection) -> str:
    """Return what SQLite reports about the file."""
    checked = connection.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})")
    lines = [str(row[0]) for row in checked]
    return "" if lines == ["ok"] else "; ".join(lines)


def _links_problem(connection: apsw.Connection) -> str:
    """Return links that lead nowhere, and counts that are wrong."""
    broken = list(connection.execute("PRAGMA foreign_key_check"))
    if broken:
        return f"{count_text(len(broken), 'row points', 'rows point')} at nothing"
    wrong = select_int(
        connection,
        """
        SELECT count(*) FROM files
        WHERE state = 0 AND chunk_count <> (
          SELECT count(*) FROM chunks WHERE file_id = files.id
        )
        """,
    )
    if wrong:
        return f"{wrong} notes have another number of chunks than recorded"
    return blocks_problem(connection)
