"""The context of every change to memories, and the locks that serialize changes.

``Memory`` makes one ``CurationContext`` for its caller; the modules of this package
take it as their first argument and know nothing of ``Memory`` itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import contextmanager

from hivemind_memory.access.read_only import check_not_read_only
from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.model.curation import AffectedItem, FailedItem
from hivemind_memory.model.keys import folded_key
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.value import NO_ITEMS, value
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.slug import hash_of
from hivemind_memory.projects.move_lock import no_moves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.curation.worktrees import Worktrees
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.files.places import Places
    from hivemind_memory.memory.note_indexer import ChunkSettings
    from hivemind_memory.memory.open_index import IndexHandle
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.ports import InjectionRecords
    from hivemind_memory.state.state_file import StateFile


_HASH_CHARS = 3
"""4,096 lock files: enough for keys to be saved in parallel, few enough to keep."""


@value
class CurationContext:
    """What every change to memories needs, for one caller."""

    places: Places
    folder: NotesFolder
    clocks: Clocks
    caller: Caller
    chunking: ChunkSettings
    index: IndexHandle
    """The index of the memory; its ``lock`` is held during a change."""

    find_scope: Callable[[str], str]
    """Returns the scope that a name means to the caller; for an empty name, that of a
    write that names none."""

    state: Callable[[], StateFile]
    """Returns ``state.db``, opened when it is first used."""

    types: Mapping[str, MemoryType] = NO_ITEMS
    """Types defined in config.json."""

    limit_chars: int = 4_000
    """Characters that a memory may have: the option ``memory_chars``."""

    projects: Mapping[str, object] = NO_ITEMS
    """What config.json says of projects."""

    is_enabled: bool = True
    """The option ``enabled``: nothing is saved while it is off."""

    why_read_only: str = ""
    """See ``Settings.why_read_only``."""

    actor: str = ""
    """Whose changes ``undo`` reverses unasked; see ``change_recording.actor_of``."""

    find_terminal: Callable[[], str] = str
    """Returns the terminal session that the caller is in; empty: none."""

    find_worktrees: Callable[[], Worktrees | None] = lambda: None
    """Returns the worktrees in which agents are shown memories; None: no one knows."""

    def injected(self) -> InjectionRecords | None:
        """Return what was injected into worktrees, for whatever hides or purges."""
        worktrees = self.find_worktrees()
        return None if worktrees is None else worktrees.injected

    @contextmanager
    def changing(self, effect: str = "Nothing was changed") -> Iterator[None]:
        """Hold the lock of the memory, while no project gets another name.

        Args:
            effect: What is not done if a project is being moved, for the error.

        Raises:
            ScopeError: The caller may change nothing.
        """
        check_not_read_only(self.caller, effect)
        with no_moves(self.places.shared_locks, effect), self.index.lock:
            yield

    def now_iso(self) -> str:
        """Return the current time as ISO 8601 in the local time zone."""
        return self.clocks.local_iso(self.clocks.now())

    def notes_left(self) -> tuple[str, ...]:
        """Return the large notes, of those the caller may read, not indexed yet."""
        return tuple(path for path in self.index.left if may_read(self.caller, path))

    def journal(self) -> Journal:
        """Return the journal of acknowledged entries."""
        return Journal(self.places.journal, self.places.notes)

    def update_index(self, paths: Iterable[str]) -> bool:
        """Update the index for some notes; return whether all of that succeeded."""
        done = [self.index.index_note(NotePath(path)) for path in paths]
        return all(done)

    def key_lock(
        self, scope: str, key: str, effect: str
    ) -> AbstractContextManager[None]:
        """Return the lock under which the memories of a key are changed.

        A thread holds one key lock at a time. Different keys may share a lock file,
        which only makes one of them wait.

        Args:
            scope: Of the memories.
            key: Of the memories.
            effect: What is not done if the lock is not free, for the error.
        """
        # Equal keys have one lock, however they are spelled.
        name = hash_of(f"{scope}\0{folded_key(key)}")
        return self._lock(name[:_HASH_CHARS], effect)

    def id_lock(self, key: str) -> AbstractContextManager[None]:
        """Return the lock under which a key that is in one scope only gets its scope.

        Taken before the key lock.
        """
        return self._lock(f"id-{hash_of(key)[:_HASH_CHARS]}", "Nothing was saved")

    def namespaces_lock(self) -> AbstractContextManager[None]:
        """Return the lock under which namespaces are made and deleted.

        Taken before any other lock.
        """
        return self._lock("namespaces", "Nothing was changed")

    def updates_lock(self, effect: str) -> AbstractContextManager[None]:
        """Return the lock under which ``updates`` edges are added and removed.

        Without it two processes could close a circle. Taken before a key lock.
        """
        return self._lock("updates", effect)

    def undo_lock(self) -> AbstractContextManager[None]:
        """Return the lock under which changes are undone, one after the other.

        Taken before a key lock. A restore takes it too.
        """
        return self._lock("undo", "Nothing was undone")

    def _lock(self, name: str, effect: str) -> AbstractContextManager[None]:
        """Return the lock of a name; entering it raises a ``NotSavedError``."""
        return exclusive(
            os.path.join(
                self.places.shared_locks,
                f"memory-{name}.lock",
            ),
            wait_s=LOCK_WAIT_S,
            refused=lambda why, hint: NotSavedError(why, hint=hint, effect=effect),
        )


class BatchResult:
    """What was changed so far, and what failed.

    Attributes:
        paths: Notes that changed.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.done: list[AffectedItem] = []
        self.failed: list[FailedItem] = []
        self.errors: list[HivemindError] = []
        self.paths: set[NotePath] = set()

    def fail(self, what: str, error: HivemindError) -> None:
        """Record that something was not changed."""
        self.failed.append(FailedItem(what=what, why=str(error)))
        self.errors.append(error)

    def check(self) -> None:
        """Raise the first error if nothing was changed."""
        if self.errors and not self.paths:
            raise self.errors[0]
