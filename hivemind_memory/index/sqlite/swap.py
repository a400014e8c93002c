"""Puts one index in the place of another, as a whole, under everybody's eyes.

Keeps an index file the same one during work that takes several transactions.

A rebuild puts another index in the place of this one, with other numbers for the same
notes. Who stages a large note or keeps vectors that were paid for would write into it
by the old numbers, or into the one that goes away. They take turns by a kernel lock;
who does all in one transaction needs none.
"""

from __future__ import annotations

import os

import apsw

from hivemind_memory.errors import IndexBusyError, IndexDamagedError, IndexUnusableError
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.sqlite.connection import (
    make_file,
    open_connection,
    select_int,
    translated_errors,
    write_transaction,
)

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
    FROM old.embedding_cache AS paid
    JOIN old.spaces AS theirs ON theirs.id = paid.space_id
    JOIN spaces ON spaces.fingerprint = theirs.fingerprint
    WHERE true
    ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO meta(key, value)
    SELECT key, value FROM old.meta WHERE key NOT IN ('chunking', 'made', 'serial')
    ON CONFLICT DO NOTHING
    """,
)


def copy_vectors(old_path: str, new: SqliteIndex) -> None:
    """Copy vectors and what was learned of models from the old index into *new*.

    What a damaged old index does not give is made again; nothing else is lost by it.
    """
    if not os.path.exists(old_path):
        return
    connection = new.connection
    try:
        with translated_errors(old_path):
            connection.execute("ATTACH ? AS old", (old_path,))
            try:
                if select_int(connection, _HAS_TABLES) < 3:
                    return  # made a moment ago, or emptied by somebody
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

    An index too damaged to be written to is set aside. The caller holds the index file:
    see ``index_lock``.
    """
    with translated_errors(new.path):
        new.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try:
        _copy_pages(new.connection, path)
    except IndexDamagedError:
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.replace(path + suffix, f"{path}.damaged{suffix}")
        _copy_pages(new.connection, path)


def _copy_pages(source: apsw.Connection, path: str) -> None:
    """Copy every page of *source* over the database at *path*."""
    make_file(path)
    target = open_connection(path)
    try:
        with (
            translated_errors(path),
            target.backup("main", source, "main") as backup,
        ):
            while not backup.done:
                backup.step(-1)
    finally:
        target.close()


WAIT_S = 30.0
"""A rebuild of 10,000 chunks holds the lock for a second or two."""

IN_MEMORY = ":memory:"
"""Path of an index that no file holds and that ends with its process."""


class index_lock:  # noqa: N801 - a context manager reads like a word
    """Hold the index file at *path*; one in memory belongs to its process anyway.

    Raises:
        IndexBusyError: Another process held it for longer than *wait_s*.
        IndexUnusableError: The folder of the index cannot be written.
    """

    __slots__ = ("_lock", "_wait_s")

    def __init__(self, path: str, *, wait_s: float = WAIT_S) -> None:
        self._lock = None if path == IN_MEMORY else KernelLock(f"{path}.hold")
        self._wait_s = wait_s

    def __enter__(self) -> None:
        """Take the lock."""
        if self._lock is None:
            return
        try:
            is_ours = self._lock.acquire(wait_s=self._wait_s)
        except OSError as error:
            raise IndexUnusableError(
                f"the lock {self._lock.path} cannot be taken: {error.strerror}",
                hint="the option index_dir puts the index elsewhere",
            ) from error
        if not is_ours:
            raise IndexBusyError(
                f"{self._lock.holder() or 'another process'} kept the index for "
                f"{self._wait_s:g} s; the notes are untouched",
                hint="try again; `hm status` names the process that leads",
            )

    def __exit__(self, *_: object) -> None:
        """Let go."""
        if self._lock is not None:
            self._lock.release()
