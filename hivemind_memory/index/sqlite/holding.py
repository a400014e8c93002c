"""Keeps an index file the same one during work that takes several transactions.

A rebuild puts another index in the place of this one, with other numbers for the same
notes. Who stages a large note or keeps vectors that were paid for would write into it
by the old numbers, or into the one that goes away. They take turns by a kernel lock;
who does all in one transaction needs none.
"""

from __future__ import annotations

from hivemind_memory.errors import IndexBusyError, IndexUnusableError
from hivemind_memory.notes.os_locks import KernelLock

WAIT_S = 30.0
"""A rebuild of 10,000 chunks holds the lock for a second or two."""

IN_MEMORY = ":memory:"
"""Path of an index that no file holds and that ends with its process."""


class holding:  # noqa: N801 - a context manager reads like a word
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
