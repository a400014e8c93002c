"""What changing typed memories takes, in one value, and whose turn it is.

A desk is made by ``Memory`` for one caller; the functions of ``saving``, ``relating``,
``recounting`` and ``learning`` work at it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from hivemind_memory.errors import NotSavedError
from hivemind_memory.model.access import may_write
from hivemind_memory.notes.os_files import make_private_folder
from hivemind_memory.notes.os_locks import KernelLock
from hivemind_memory.notes.refusals import cause_of
from hivemind_memory.notes.slugs import hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hivemind_memory.memory.clocks import Clocks
    from hivemind_memory.model.access import Caller
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.notes.folder import NotesFolder

WAIT_S = 10.0
"""A save holds its lock for some milliseconds; this is twelve slow disks."""

_HASH_CHARS = 3
"""4,096 locks are enough for keys to run side by side, and few enough as files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """All that a change to typed memories works with, for one caller."""

    folder: NotesFolder
    locks: str
    """Folder of the kernel locks, ``locks`` in the home; made when it is missing."""

    clocks: Clocks
    caller: Caller
    look: Callable[[], MemoryIndex]
    """Brings the index in step with the folder and returns it; raises a
    ``HivemindError`` when that cannot be. Called while a lock is held."""

    types: Mapping[str, MemoryType] = field(default_factory=dict)
    """Types of a person's own."""

    limit_chars: int = 4_000
    """Characters that a memory may hold: the setting ``memory_chars``."""

    def now_iso(self) -> str:
        """Return the moment as ISO 8601 in the person's time zone."""
        return self.clocks.local_iso(self.clocks.now())

    def writes(self, path: str) -> bool:
        """Return whether the caller may change a note at *path*."""
        return may_write(self.caller, path)

    def turn(self, scope: str, key: str) -> _Turn:
        """Return a context in which nobody else changes the memories of a key.

        One at a time: who holds a turn takes no second one. Different keys may share
        a lock, which only makes one of them wait.
        """
        return self._turn(hash_of(f"{scope}\0{key}")[:_HASH_CHARS])

    def turn_of_updates(self) -> _Turn:
        """Return a context in which nobody else says that one memory updates another.

        Else two at once could close a circle. Taken before the turn of a key.
        """
        return self._turn("updates")

    def _turn(self, name: str) -> _Turn:
        """Return the turn of a lock's name."""
        return _Turn(self.locks, f"memory-{name}.lock")


class _Turn:
    """A kernel lock as a context. A killed holder gives it back.

    Raises:
        NotSavedError: Another process held it for longer than ``WAIT_S``.
    """

    __slots__ = ("_folder", "_lock")

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self._lock = KernelLock(os.path.join(folder, name))

    def __enter__(self) -> None:
        """Wait for the turn."""
        try:
            make_private_folder(self._folder)
            is_ours = self._lock.acquire(wait_s=WAIT_S)
        except OSError as error:
            cause, hint = cause_of(error)
            raise NotSavedError(
                f"Nothing was saved: the lock {self._lock.path} cannot be taken:"
                f" {cause}.",
                hint=hint,
            ) from error
        if not is_ours:
            holder = self._lock.holder() or "another process"
            raise NotSavedError(
                f"Nothing was saved: {holder} has been changing this memory for"
                f" {WAIT_S:g} s.",
                hint="Try again.",
            )

    def __exit__(self, *_: object) -> None:
        """Let the next one in."""
        self._lock.release()
