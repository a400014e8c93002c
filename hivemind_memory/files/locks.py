"""Locks between processes, which the kernel releases when their holder dies.

Kept apart from ``descriptors`` because a search locks nothing and should not load this.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager

from hivemind_memory.files import descriptors
from hivemind_memory.files.descriptors import FileIdentity, identity_of
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.own_files import open_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_WAIT_S = 10.0
"""How long a change waits for another writer before it gives up and says so. A lock is
held for milliseconds; this allows for a dozen slow disks."""

_FLAGS = os.O_RDWR | os.O_CREAT
_PAUSE_S = 0.004  # Windows only: where waiting has to be asking again
_WINDOWS_OFFSET = 1 << 30  # a locked byte cannot be read there, so it is not the text's


def exclusive(
    path: str, *, wait_s: float, refused: Callable[[str, str], Exception]
) -> AbstractContextManager[None]:
    """Hold the lock of a file in a private folder, which is created if missing.

    Args:
        path: The file.
        wait_s: How long to wait for another holder.
        refused: Returns the error to raise, from a sentence and a hint.
    """
    return _held(KernelLock(path), wait_s, refused)


def shared(
    path: str, *, wait_s: float, refused: Callable[[str, str], Exception]
) -> AbstractContextManager[None]:
    """Hold the lock of a file with others who share it; see ``exclusive``.

    On Windows there is one holder at a time.
    """
    return _held(KernelLock(path, is_shared=True), wait_s, refused)


@contextmanager
def _held(
    lock: KernelLock, wait_s: float, refused: Callable[[str, str], Exception]
) -> Iterator[None]:
    """Hold a lock; see ``exclusive``."""
    path = lock.path
    try:
        descriptors.make_private_folder(os.path.dirname(path))
        is_held = lock.acquire(wait_s=wait_s)
    except OSError as error:
        cause, hint = cause_of(error)
        raise refused(f"{path} cannot be locked: {cause}.", hint) from error
    if not is_held:
        holder = lock.holder() or "another process"
        message = f"{holder} has held the lock {path} for {wait_s:g} s."
        raise refused(message, "Try again.")
    try:
        yield
    finally:
        lock.release()


class KernelLock:
    """At most one holder in all processes and threads; a killed one lets go.

    The file stays when the lock is free. While a process holds it, it names the holder,
    for people.
    """

    __slots__ = ("_fd", "_is_shared", "path")

    def __init__(self, path: str, *, is_shared: bool = False) -> None:
        """Take nothing yet.

        Args:
            path: The file.
            is_shared: Others who share it may hold it too; the file names none of them.
        """
        self.path = path
        self._is_shared = is_shared
        self._fd: int | None = None

    def try_acquire(self) -> bool:
        """Take the lock if it is free; return whether it was taken.

        Raises:
            OSError: The file cannot be opened.
        """
        return self.acquire(wait_s=0)

    def acquire(self, *, wait_s: float) -> bool:
        """Take the lock, waiting up to *wait_s* seconds; return whether it was taken.

        Waiters are served in about the order in which they came.

        Raises:
            OSError: The file cannot be opened.
        """
        while True:
            fd = open_own(self.path, _FLAGS)
            is_taken = is_there = False
            try:
                descriptors.set_mode(fd, descriptors.PRIVATE_FILE)
                is_taken = _lock(fd, is_shared=self._is_shared) or (
                    wait_s > 0 and _lock_within(fd, wait_s, is_shared=self._is_shared)
                )
                # Its folder may have been deleted meanwhile: then others lock another
                # file of the same name.
                is_there = is_taken and _is_at(fd, self.path)
            finally:
                if not is_there:
                    os.close(fd)
            if is_there or not is_taken:
                break
        if is_taken:
            self._fd = fd
            if not self._is_shared:
                _write_text(fd, f"pid {os.getpid()}\n")
        return is_taken

    def release(self) -> None:
        """Let go; nothing happens if this object does not hold the lock."""
        if self._fd is not None:
            # Forgotten first: once it is closed another thread may hold the lock.
            fd, self._fd = self._fd, None
            if not self._is_shared:
                _write_text(fd, "")
            os.close(fd)

    def add(self, text: str) -> None:
        """Say more in the file than who holds the lock, if this object holds it.

        Args:
            text: One line.
        """
        if self._fd is not None:
            _write_text(self._fd, f"pid {os.getpid()}\n{text}\n")

    @property
    def is_held(self) -> bool:
        """This object holds the lock."""
        return self._fd is not None

    @property
    def identity(self) -> FileIdentity | None:
        """The identity of the file that is locked; None: this object holds no lock."""
        return None if self._fd is None else identity_of(os.fstat(self._fd))

    def holder(self) -> str:
        """Return who holds the lock, like ``pid 123``; empty when it is free.

        What the holder has added is on a second line.

        It has to touch the lock for a moment, and only reads: a dead holder's name in
        the file is not believed.
        """
        try:
            fd = open_own(self.path, os.O_RDONLY)
        except OSError:
            return ""
        try:
            if _is_free(fd):
                return ""
            text = descriptors.read_at(fd, 0, 100).decode("utf-8", "replace")
            return text.strip() or "another process"
        finally:
            os.close(fd)


def _is_at(fd: int, path: str) -> bool:
    """Return whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except FileNotFoundError:
        return False


def _write_text(fd: int, text: str) -> None:
    """Put *text* into the lock's file, for people; a full disk must not matter."""
    try:
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
        os.write(fd, text.encode())
    except OSError:
        return


if sys.platform == "win32":

    def _lock(fd: int, *, is_shared: bool = False) -> bool:  # noqa: ARG001
        """Take the lock of an open file if it is free."""
        os.lseek(fd, _WINDOWS_OFFSET, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _lock_within(fd: int, wait_s: float, *, is_shared: bool) -> bool:  # noqa: ARG001
        """Ask for the lock again and again."""
        for _ in range(int(wait_s / _PAUSE_S) + 1):
            time.sleep(_PAUSE_S)
            if _lock(fd):
                return True
        return False

    def _is_free(fd: int) -> bool:
        """Return whether the lock is free."""
        if not _lock(fd):
            return False
        os.lseek(fd, _WINDOWS_OFFSET, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
        return True

else:

    def _lock(fd: int, *, is_shared: bool = False) -> bool:
        """Take the lock of an open file if it is free."""
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _lock_within(fd: int, wait_s: float, *, is_shared: bool) -> bool:
        """Stand in the kernel's queue for the lock, no longer than *wait_s*.

        ``flock`` has no time limit of its own, and asking again and again lets a busy
        writer starve the others. So a separate thread waits in the queue. If we give
        up, the caller closes the file, and the kernel drops a lock that comes too late.
        """
        taken = threading.Event()
        # One open file by two descriptors: it holds the lock until both are closed.
        own_fd = os.dup(fd)

        def stand_in_queue() -> None:
            try:
                fcntl.flock(own_fd, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
                taken.set()
            except OSError:
                return  # no lock: then the wait runs out
            finally:
                os.close(own_fd)

        try:
            threading.Thread(target=stand_in_queue, daemon=True).start()
        except RuntimeError:  # the system gives no more threads
            os.close(own_fd)
            return False
        return taken.wait(wait_s)

    def _is_free(fd: int) -> bool:
        """Return whether the lock is free."""
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
