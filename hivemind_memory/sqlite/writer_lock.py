"""Has the processes that write to one SQLite file wait in the order they came.

SQLite has a process that finds the file locked sleep and ask again. Of many, some ask
at the wrong moment for longer than its busy timeout. So a writer waits in the kernel's
queue for another lock first, and finds SQLite's free. Without that lock it writes all
the same: a process may have been stopped with it, and SQLite's keeps the file sound.
"""

from __future__ import annotations

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.files.locks import KernelLock


class WriterConnection(apsw.Connection):
    """A connection whose write transactions hold a lock beside the file."""

    def __init__(self, path: str, *, lock_file: str, flags: int) -> None:
        """Open a file that exists.

        Args:
            path: The file.
            lock_file: File of the lock; empty: no other connection writes.
            flags: As for ``apsw.Connection``.
        """
        super().__init__(path, flags=flags)
        self.writer_lock = WriterLock(lock_file)

    def set_busy_timeout(self, milliseconds: int) -> None:
        """Set how long to wait for the lock beside the file, and then for SQLite's."""
        super().set_busy_timeout(milliseconds)
        self.writer_lock.wait_s = milliseconds / 1000


class WriterLock:
    """The lock as one connection holds it, which one thread uses at a time."""

    __slots__ = ("_has_given_up", "_lock", "_path", "wait_s")

    def __init__(self, path: str) -> None:
        """Take nothing yet.

        Args:
            path: File of the lock; empty: there is nothing to take.
        """
        self.wait_s = 0.0
        self._path = path
        self._lock: KernelLock | None = None
        self._has_given_up = False

    def acquire(self) -> bool:
        """Wait for the lock, at most the busy timeout; return whether it was taken now.

        Not when it was held before, nor when others held it all the time. Then its
        holder may have been stopped, so it is not waited for again until it is free.
        """
        if not self._path:
            return False
        if self._lock is None:
            # A search writes nothing and need not load this.
            from hivemind_memory.files.locks import KernelLock

            self._lock = KernelLock(self._path)
        if self._lock.is_held:
            return False
        wait_s = 0.0 if self._has_given_up else self.wait_s
        try:
            is_taken = self._lock.acquire(wait_s=wait_s)
        except OSError:
            return False  # SQLite says better what is wrong with the folder
        if is_taken or wait_s:
            self._has_given_up = not is_taken
        return is_taken

    def release(self) -> None:
        """Let the next one write; nothing happens if the lock is not held."""
        if self._lock is not None:
            self._lock.release()
