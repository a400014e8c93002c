"""What forgetting and purging work with, and a memory's file rewritten in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    NotSavedError,
)
from hivemind_memory.memory.curation.recalling import not_found
from hivemind_memory.model.erasing import Affected, Failed
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.memory_file import read_memory_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.memory.curation.desk import Desk
    from hivemind_memory.memory.curation.targets import Target
    from hivemind_memory.notes.journal import Journal
    from hivemind_memory.notes.memory_file import MemoryFile

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Eraser:
    """All that forgetting works with, for one caller."""

    desk: Desk
    journal: Journal
    index_one: Callable[[NotePath], bool]
    """Brings the index in step with one note; returns whether that worked."""

    def index(self, paths: Iterable[str]) -> bool:
        """Bring the index in step with notes; return whether all of that worked."""
        done = [self.index_one(NotePath(path)) for path in paths]
        return all(done)


@dataclass(slots=True)
class Tally:
    """What was done so far, and what failed."""

    done: list[Affected] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    errors: list[HivemindError] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    """Notes that are different now."""

    def fail(self, what: str, error: HivemindError) -> None:
        """Note that something was not done."""
        self.failed.append(Failed(what=what, why=str(error)))
        self.errors.append(error)

    def check(self) -> None:
        """Raise the first error if nothing was done at all."""
        if self.errors and not self.paths:
            raise self.errors[0]


def change_memory(
    eraser: Eraser, target: Target, change: Callable[[MemoryFile], bytes | None]
) -> str:
    """Rewrite the file of a typed memory; return where it lies, empty: as it was.

    The caller holds the turn of its key. A file that a save has moved meanwhile is
    looked for by its id.

    Args:
        eraser: Of the caller.
        target: The memory as it was found.
        change: The file -> its new bytes; None: nothing is to be changed.

    Raises:
        MemoryNotFoundError: It is gone.
        NotSavedError: It is as it was, and why.
    """
    folder, path = eraser.desk.folder, target.path
    for _ in range(_ATTEMPTS):
        try:
            file = read_memory_file(folder, path)
        except NoteNotFoundError:
            path = moved_to(eraser, target)
            continue
        if target.id and file.front.values.get("id") not in (target.id, None):
            path = moved_to(eraser, target)
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


def moved_to(eraser: Eraser, target: Target) -> NotePath:
    """Return where a memory lies now.

    Raises:
        MemoryNotFoundError: Nowhere.
    """
    if target.id:
        for row in eraser.desk.look().memories(
            memory_id=target.id, scopes=frozenset({target.scope})
        ):
            return NotePath(row.path)
    raise not_found(target.id or target.key or target.path)
