"""The events that a watcher reports while it runs; the CLI prints them."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.results import EmbedResult, SyncResult


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """How the leader detects changes."""

    mode: str
    """native: the system reports changes; polling: the folder is scanned every few
    seconds."""

    reason: str = ""
    """Why it polls; empty when native."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """Another process leads; this one waits to take over."""

    leader: str
    """``pid 123``, or empty if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """This process watches and indexes from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChanged:
    """The leader detects changes in another way than before."""

    state: WatchState


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """The index was updated from the folder."""

    cause: str
    """start, hint, poll, settle, rescan or retry."""

    result: SyncResult

    @property
    def is_notable(self) -> bool:
        """Something was done, or it is the first scan: worth a line."""
        done = self.result
        changes = done.added + done.updated + done.removed + done.recovered
        return changes > 0 or self.cause == "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncFailed:
    """A sync ended with an error; nothing is lost, it is tried again."""

    error: Exception
    retry_in_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A run of the vectors' queue ended."""

    result: EmbedResult


WatchEvent = Following | Leading | StateChanged | Synced | SyncFailed | Embedded
