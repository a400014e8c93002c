"""Leaves nothing of what was deleted in the index file, not even in free pages.

SQLite only unlinks what is deleted: the bytes stay in free pages, in the gaps of pages
in use, in the segments of the postings, and in the log beside the file. Here the file
is written anew.
"""

from __future__ import annotations

import os
from math import inf
from typing import NamedTuple

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.index.sqlite.notes import sweep_unfinished
from hivemind_memory.index.sqlite.swap import index_lock
from hivemind_memory.sqlite.connection import (
    open_connection,
    select_int,
    translated_errors,
    write_transaction,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import apsw


WAIT_S = 10.0
"""So long somebody may write to the index, or read an old state of it."""

_AT_ONCE = 500
"""Values that one statement takes."""

_STILL_READ = (
    "another process still reads an old state of the index, so old pages of it lie in "
    "the file and beside it"
)


class IndexCounts(NamedTuple):
    """What of some memories is in the index."""

    chunks: int = 0
    """Each with its postings."""

    vectors: int = 0
    """Vectors in the cache, in all spaces."""

    free_pages: int = 0
    """Pages of the file that hold nothing but leavings."""


class VacuumResult(NamedTuple):
    """What a scouring did."""

    vectors: int = 0
    """Vectors that went from the cache."""

    free_pages: int = 0
    problem: str = ""
    """Why leavings may still be in the file; empty: none are."""


def count_in_index(
    path: str,
    *,
    paths: Collection[str],
    entry_ids: Collection[str],
    text_hashes: Collection[str],
) -> IndexCounts:
    """Return what the index at *path* holds of some notes, entries and texts.

    Raises:
        IndexUnusableError: It cannot be read now.
    """
    if not os.path.exists(path):
        return IndexCounts()
    connection = open_connection(path)
    try:
        with translated_errors(path):
            chunks = 0
            for column, values in (("path", paths), ("entry_id", entry_ids)):
                for some, marks in _steps(values):
                    also = " AND path NOT IN (SELECT value FROM json_each(?))"
                    known = (_json(paths),) if column == "entry_id" else ()
                    chunks += select_int(
                        connection,
                        f"""
                        SELECT count(*) FROM chunks JOIN files ON files.id = file_id
                        WHERE {column} IN ({marks}){also if known else ""}
                        """,
                        *some,
                        *known,
                    )
            return IndexCounts(
                chunks=chunks,
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
    since_s: float = inf,
    wait_s: float = WAIT_S,
) -> VacuumResult:
    """Take the vectors of some texts out of the index at *path*, and all leavings.

    The chunks themselves are taken out before, by the sync of their notes. A text that
    another chunk still has keeps its vector. On a connection of its own, for nothing
    may be going on in it; no other connection has to be closed.

    Args:
        path: The index file.
        text_hashes: SHA-256 of the texts, hexadecimal.
        since_s: Vectors that were made since then and belong to no text any more go
            too: one may be of an earlier version of these texts, that nobody knows.
        wait_s: How long to wait for each of those who use the index.
    """
    if not os.path.exists(path):
        return VacuumResult()
    vectors = free_pages = 0
    try:
        with index_lock(path, wait_s=wait_s):
            connection = open_connection(path)
            try:
                with translated_errors(path):
                    connection.set_busy_timeout(int(wait_s * 1000))
                    connection.execute("PRAGMA secure_delete = ON")
                    sweep_unfinished(connection)
                    _link_known(connection, path)
                    vectors = _drop_vectors(connection, text_hashes, since_s)
                    free_pages = int(connection.pragma("freelist_count"))
                    is_clean = _rewrite(connection)
            finally:
                connection.close()
    except IndexUnusableError as error:
        return VacuumResult(vectors, free_pages, str(error))
    return VacuumResult(vectors, free_pages, "" if is_clean else _STILL_READ)


def _link_known(connection: apsw.Connection, path: str) -> None:
    """Link every text to the vector that was paid for: what is left belongs to none."""
    from hivemind_memory.index.sqlite.vector_store import SqliteVectorStore

    store = SqliteVectorStore(connection, path, lambda: 0.0)
    for (fingerprint,) in list(connection.execute("SELECT fingerprint FROM spaces")):
        store.plan(fingerprint)


def _drop_vectors(
    connection: apsw.Connection, text_hashes: Collection[str], since_s: float
) -> int:
    """Delete vectors that belong to no chunk any more; return how many went."""
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
        return connection.total_changes() - before


def _rewrite(connection: apsw.Connection) -> bool:
    """Write postings and pages anew, and empty the log; False: a reader is in the way.

    A posting that is deleted stays in its segment, and a mark of the deletion in the
    next, with the word. ``optimize`` does not always merge them away: where all
    segments are of one level it may keep the marks. So the postings are made anew.
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


def _json(values: Collection[str]) -> str:
    """Return values as SQLite's ``json_each`` takes them."""
    import json

    return json.dumps(sorted(values))
