"""The index of one memory, held open and opened anew as its file demands."""

from __future__ import annotations

from threading import RLock

from hivemind_memory.errors import (
    HivemindError,
    IndexTooNewError,
    IndexUnusableError,
)
from hivemind_memory.memory.opening import open_again, open_index, stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from hivemind_memory.memory.clocks import Clocks
    from hivemind_memory.memory.freshening import Freshener
    from hivemind_memory.memory.opening import OpenIndex
    from hivemind_memory.memory.places import Places
    from hivemind_memory.memory.syncing import Syncer
    from hivemind_memory.model.note_path import NotePath

    T = TypeVar("T")


class HeldIndex:
    """The open index; whoever uses it holds ``lock``."""

    def __init__(self, places: Places, syncer: Syncer, clocks: Clocks) -> None:
        self.lock = RLock()
        self._places = places
        self._syncer = syncer
        self._clocks = clocks
        self._open: OpenIndex | None = None
        self._fresh: Freshener | None = None

    def close(self) -> None:
        """Close the index, to open it anew when it is wanted."""
        if self._fresh is not None:
            self._fresh.close()
            self._fresh = None
        if self._open is not None:
            self._open.index.close()
            self._open = None

    def opened(self) -> OpenIndex:
        """Return the open index, opened anew if its file is another one now."""
        if self._open is not None and not self._open.index.is_still_there():
            self.close()
        if self._open is None:
            self._open = open_index(self._places, self._clocks.now)
        elif self._open.warning:
            self._open = open_again(self._places, self._clocks.now, self._open)
        return self._open

    def answered(self, answer: Callable[[OpenIndex], T]) -> T:
        """Return an answer of the index, or of a stand-in if it cannot give one."""
        try:
            return answer(self.opened())
        except IndexTooNewError:
            raise
        except IndexUnusableError as error:
            # What is damaged within shows when it is read, and not before.
            self.close()
            self._open = stand_in(self._places, self._clocks.now, error)
            return answer(self._open)

    def freshener(self) -> Freshener:
        """Return what brings the index in step before an answer."""
        from hivemind_memory.memory.freshening import Freshener

        if self._fresh is None:
            stopwatch = self._clocks.stopwatch
            self._fresh = Freshener(self._syncer, self._places, stopwatch)
        return self._fresh

    def index_one(self, path: NotePath) -> bool:
        """Index one note right after a write; return whether that worked."""
        try:
            return self._syncer.apply_one(self.opened().index, path)
        except HivemindError:
            return False  # it is saved all the same, and the next look indexes it
