"""What changing typed memories needs, in one value, and the locks that guard a key.

``Memory`` makes a context for one caller; the other modules of this package take it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from hivemind_memory.access.rules import may_write
from hivemind_memory.curation.lookup import not_found
from hivemind_memory.errors import HivemindError, NoteNotFoundError, NotSavedError
from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.model.curation import AffectedItem, FailedItem
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.memory_file import read_memory_file
from hivemind_memory.notes.slug import hash_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.memory.clocks import Clocks
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.notes.journal import Journal
    from hivemind_memory.notes.memory_file import MemoryFile


WAIT_S = 10.0
"""A save holds its lock for some milliseconds; this is twelve slow disks."""

_HASH_CHARS = 3
"""4,096 locks are enough for keys to run side by side, and few enough as files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationContext:
    """All that a change to typed memories works with, for one caller."""

    folder: NotesFolder
    locks: str
    """Folder of the kernel locks, ``locks`` in the home; made when it is missing."""

    clocks: Clocks
    caller: Caller
    fresh_index: Callable[[], MemoryIndex]
    """Brings the index in step with the folder and returns it; raises a
    ``HivemindError`` when that cannot be. Called while a lock is held."""

    types: Mapping[str, MemoryType] = field(default_factory=dict)
    """Types of a person's own."""

    limit_chars: int = 4_000
    """Characters that a memory may hold: the setting ``memory_chars``."""

    def now_iso(self) -> str:
        """Return the moment as ISO 8601 in the person's time zone."""
        return self.clocks.local_iso(self.clocks.now())

    def may_write(self, path: str) -> bool:
        """Return whether the caller may change a note at *path*."""
        return may_write(self.caller, path)

    def key_lock(self, scope: str, key: str) -> _NamedLock:
        """Return a context in which nobody else changes the memories of a key.

        One at a time: who holds a turn takes no second one. Different keys may share
        a lock, which only makes one of them wait.
        """
        return self._named_lock(hash_of(f"{scope}\0{key}")[:_HASH_CHARS])

    def updates_lock(self) -> _NamedLock:
        """Return a context in which nobody else says that one memory updates another.

        Else two at once could close a circle. Taken before the turn of a key.
        """
        return self._named_lock("updates")

    def _named_lock(self, name: str) -> _NamedLock:
        """Return the turn of a lock's name."""
        return _NamedLock(self.locks, f"memory-{name}.lock")


class _NamedLock:
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


_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetContext:
    """All that forgetting works with, for one caller."""

    context: CurationContext
    journal: Journal
    index_note: Callable[[NotePath], bool]
    """Brings the index in step with one note; returns whether that worked."""

    def index(self, paths: Iterable[str]) -> bool:
        """Bring the index in step with notes; return whether all of that worked."""
        done = [self.index_note(NotePath(path)) for path in paths]
        return all(done)


@dataclass(slots=True)
class BatchResult:
    """What was done so far, and what failed."""

    done: list[AffectedItem] = field(default_factory=list)
    failed: list[FailedItem] = field(default_factory=list)
    errors: list[HivemindError] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    """Notes that are different now."""

    def fail(self, what: str, error: HivemindError) -> None:
        """Note that something was not done."""
        self.failed.append(FailedItem(what=what, why=str(error)))
        self.errors.append(error)

    def check(self) -> None:
        """Raise the first error if nothing was done at all."""
        if self.errors and not self.paths:
            raise self.errors[0]


def change_memory(
    forget_context: ForgetContext,
    target: CurationTarget,
    change: Callable[[MemoryFile], bytes | None],
) -> str:
    """Rewrite the file of a typed memory; return where it lies, empty: as it was.

    The caller holds the turn of its key. A file that a save has moved meanwhile is
    looked for by its id.

    Args:
        forget_context: Of the caller.
        target: The memory as it was found.
        change: The file -> its new bytes; None: nothing is to be changed.

    Raises:
        MemoryNotFoundError: It is gone.
        NotSavedError: It is as it was, and why.
    """
    folder, path = forget_context.context.folder, target.path
    for _ in range(_ATTEMPTS):
        try:
            file = read_memory_file(folder, path)
        except NoteNotFoundError:
            path = current_path(forget_context, target)
            continue
        if target.id and file.front.values.get("id") not in (target.id, None):
            path = current_path(forget_context, target)
            continue
        data = change(file)
        if data is None:
            return ""
        try:
            folder.replace(path, data, expected=file.stamp)
        except NotSavedError:
            if folder.stamp(path) == file.stamp:
                raise
        else:
            return path
    message = f"{path} was not changed: another program keeps saving it."
    raise NotSavedError(message, hint="See which program that is, and try again.")


def current_path(forget_context: ForgetContext, target: CurationTarget) -> NotePath:
    """Return where a memory lies now.

    Raises:
        MemoryNotFoundError: Nowhere.
    """
    if target.id:
        for row in forget_context.context.fresh_index().memories(
            memory_id=target.id, scopes=frozenset({target.scope})
        ):
            return NotePath(row.path)
    raise not_found(target.id or target.key or target.path)
