"""What one reading of transcripts works with, and what it has done so far."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.model.activity import ReadReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.files.places import Places
    from hivemind_memory.state.erased_messages import ErasedMessages
    from hivemind_memory.transcripts.store import TranscriptStore


def lock_of(places: Places) -> str:
    """Return the lock file of the process that reads transcripts."""
    name = os.path.basename(places.transcripts_file)
    return os.path.join(places.locks, f"{name}.lock")


@dataclass(slots=True)
class ReadTarget:
    """Where messages go, by which rules, and how many went there."""

    store: TranscriptStore
    lock_path: str
    erased: ErasedMessages
    find_scope: Callable[[str], str]
    """Folder -> scope of its project; empty: not known."""

    stopwatch: Callable[[], float]
    now_s: float
    days: int
    max_bytes: int
    floor_ms: int = 0
    """What is older is not kept."""

    files: int = 0
    messages: int = 0
    bytes_read: int = 0
    bytes_left: int = 0
    problems: list[str] = field(default_factory=list)
    _end_s: float = 0.0
    _scopes: dict[str, str] = field(default_factory=dict)

    def begin(self, budget_s: float) -> None:
        """Begin to count the time."""
        self._end_s = self.stopwatch() + budget_s

    def seconds_left(self) -> float:
        """Return how much time is left; at least 0."""
        return max(0.0, self._end_s - self.stopwatch())

    def is_over(self) -> bool:
        """Return whether the time is over."""
        return self.stopwatch() >= self._end_s

    def scope_of(self, folder: str) -> str:
        """Return the scope of a folder's project; empty: it is not known."""
        if folder not in self._scopes:
            self._scopes[folder] = self.find_scope(folder) if folder else ""
        return self._scopes[folder]

    def report(self) -> ReadReport:
        """Return what was done."""
        return ReadReport(
            files=self.files,
            messages=self.messages,
            bytes_read=self.bytes_read,
            bytes_left=self.bytes_left,
            problems=tuple(self.problems),
        )


def changed_while_read(path: str) -> IndexUnusableError:
    """Return the error for rows that another process took away meanwhile."""
    return IndexUnusableError(
        f"{path} was changed by another process while it was written.",
        hint="Try again.",
    )
