"""A lock that keeps the index file from being replaced between transactions.

A rebuild copies another index over the file, with other numbers for the same notes.
A process that stages a large note, or stores vectors, would then write by the old
numbers. Such work and the rebuild exclude each other by a kernel lock; work that is one
transaction needs none.
"""

from __future__ import annotations

import apsw

from hivemind_memory.errors import IndexBusyError
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.sqlite.connection import (
    IN_MEMORY,
    make_file,
    open_connection,
    translated_errors,
    unwritable,
)

WAIT_S = 30.0
"""A rebuild of 10,000 chunks holds the lock for a second or two."""


def create_file(path: str) -> None:
    """Make an empty index file, unless another process has made it meanwhile."""
    with index_lock(path):
        make_file(path)


def is_locked(path: str) -> bool:
    """Return whether another process is writing to the index file at *path*."""
    connection = open_connection(path)
    try:
        connection.set_busy_timeout(0)
        with translated_errors(path):
            try:
                connection.execute("BEGIN IMMEDIATE; ROLLBACK")
            except apsw.BusyError:
                return True
            return False
    finally:
        connection.close()


class index_lock:  # noqa: N801 - a context manager reads like a word
    """Hold the index file at *path*; an index in memory needs no lock.

    Raises:
        IndexBusyError: Another process held it for longer than *wait_s*.
        IndexUnusableError: The folder of the index cannot be written.
    """

    __slots__ = ("_lock", "_wait_s")

    def __init__(self, path: str, *, wait_s: float = WAIT_S) -> None:
        self._lock = None if path == IN_MEMORY else KernelLock(f"{path}.hold")
        self._wait_s = wait_s

    def __enter__(self) -> None:
        """Acquire the lock."""
        if self._lock is None:
            return
        try:
            is_held = self._lock.acquire(wait_s=self._wait_s)
        except OSError as error:
            raise unwritable(self._lock.path, error) from error
        if not is_held:
            raise IndexBusyError(
                f"{self._lock.holder() or 'another process'} kept the index for "
                f"{self._wait_s:g} s; the notes are untouched",
                hint="try again; `hm status` names the process that leads",
            )

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.release()
