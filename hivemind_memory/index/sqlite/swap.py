"""Copies one index over another, page by page, in one transaction.

Processes that have the file open keep reading the old pages until the new ones are
whole. Who replaces the file holds ``index_lock``.
"""

from __future__ import annotations

import os

import apsw

from hivemind_memory.errors import IndexDamagedError
from hivemind_memory.index.sqlite.schema import refuse_newer
from hivemind_memory.sqlite.connection import (
    hold_writer_lock,
    make_file,
    open_connection,
    select_int,
    translated_errors,
    write_transaction,
)
from hivemind_memory.sqlite.move_aside import move_aside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.index.sqlite.index import SqliteIndex


_HAS_TABLES = """
SELECT count(*) FROM old.sqlite_schema
WHERE name IN ('spaces', 'embedding_cache', 'meta')
"""
_COPY = (
    """
    INSERT INTO spaces(fingerprint, dimensions)
    SELECT fingerprint, dimensions FROM old.spaces WHERE true
    ON CONFLICT DO UPDATE SET dimensions = excluded.dimensions
    """,
    """
    INSERT INTO embedding_cache(space_id, text_hash, embedding, created)
    SELECT spaces.id, text_hash, embedding, created
    FROM old.embedding_cache AS cached
    JOIN old.spaces AS theirs ON theirs.id = cached.space_id
    JOIN spaces ON spaces.fingerprint = theirs.fingerprint
    WHERE length(embedding) = 4 * theirs.dimensions
    ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO meta(key, value)
    SELECT key, value FROM old.meta
    WHERE key NOT IN ('chunking', 'made', 'scan', 'serial')
    ON CONFLICT DO NOTHING
    """,
)


def copy_vectors(old_path: str, new: SqliteIndex) -> None:
    """Copy vectors and what was learned of models from the old index into *new*.

    What cannot be read of a damaged index is computed again.
    """
    if not os.path.exists(old_path):
        return
    connection = new.connection
    try:
        with translated_errors(old_path):
            connection.execute("ATTACH ? AS old", (old_path,))
            try:
                if select_int(connection, _HAS_TABLES) < 3:
                    return  # created a moment ago, or emptied by hand
                with write_transaction(connection):
                    for sql in _COPY:
                        connection.execute(sql)
            finally:
                connection.execute("DETACH old")
    except IndexDamagedError:
        return
    store = new.vector_store()
    for fingerprint in new.fingerprints():
        store.plan(fingerprint)


def replace_index(new: SqliteIndex, path: str) -> None:
    """Make the index at *path* equal to *new*, in one transaction.

    An index too damaged to be written to is renamed and left beside the new one.
    """
    with translated_errors(new.path):
        new.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try:
        _copy_pages(new.connection, path)
    except IndexDamagedError:
        move_aside(path, f"{path}.damaged")
        _copy_pages(new.connection, path)


def _copy_pages(source: apsw.Connection, path: str) -> None:
    """Copy every page of *source* over the database at *path*.

    Raises:
        IndexTooNewError: A newer version of the program made it.
    """
    make_file(path)
    target = open_connection(path)
    try:
        refuse_newer(target)
        with (
            translated_errors(path),
            # With many writers, some would wait too long for SQLite's own lock.
            hold_writer_lock(target),
            target.backup("main", source, "main") as backup,
        ):
            while not backup.done:
                backup.step(-1)
    finally:
        target.close()


def copy_to_memory(path: str, copy: SqliteIndex) -> None:
    """Make an index in memory equal to what readers of the file at *path* see."""
    source = open_connection(path)
    try:
        with (
            translated_errors(path),
            copy.connection.backup("main", source, "main") as backup,
        ):
            while not backup.done:
                backup.step(-1)
    finally:
        source.close()
