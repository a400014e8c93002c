"""Keeps the index of a memory open: reopens, updates and repairs it.

When the index cannot be opened, one in memory takes its place, so that a query is
answered all the same. So does a copy while another process has it locked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from hivemind_memory.errors import (
    HivemindError,
    IndexBusyError,
    IndexDamagedError,
    IndexTooNewError,
    IndexUnusableError,
)
from hivemind_memory.index.choose_engine import index_engine
from hivemind_memory.memory.background_notes import leave_all
from hivemind_memory.memory.freshness import FreshnessCheck
from hivemind_memory.memory.index_fallback import (
    OpenIndex,
    copy_of_locked,
    memory_fallback,
    open_index,
    reopen_index,
    without_copy,
)
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from hivemind_memory.files.places import Places
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.background_notes import LargeNoteRule
    from hivemind_memory.memory.freshness_result import Freshness
    from hivemind_memory.memory.sync import Syncer
    from hivemind_memory.model.clocks import Clocks

    T = TypeVar("T")


class KeptIndex(ABC):
    """The open index of one memory. Not for several threads at once."""

    def __init__(self, places: Places, syncer: Syncer, clocks: Clocks) -> None:
        self.syncer = syncer
        self._places = places
        self._clocks = clocks
        self._open: OpenIndex | None = None
        self._fresh: FreshnessCheck | None = None
        self._beyond_repair: tuple[tuple[int, ...], ...] | None = None

    def close(self) -> None:
        """Close the index; the next use opens it again."""
        if self._fresh is not None:
            self._fresh.close()
            self._fresh = None
        if self._open is not None:
            self._open.index.close()
            if self._open.file is not None:
                self._open.file.close()
            self._open = None

    def opened(self) -> OpenIndex:
        """Return the open index, reopened if its file is another one now.

        A copy stays what it is until the next answer, see ``_opened_for_answer``: what
        a change has looked up in it and what it indexes next belong together.
        """
        if self._open is not None and not self._open.index.is_still_there():
            self.close()
        if self._open is None:
            self._open = open_index(self._places, self._clocks.now)
        elif self._open.warning:
            self._open = reopen_index(self._places, self._clocks.now, self._open)
        return self._open

    def _opened_for_answer(self) -> OpenIndex:
        """Return the open index; instead of a copy its file, once that is free."""
        if self._open is not None and self._open.file is not None:
            copy = self._open
            self._open = without_copy(self._places, self._clocks.now, copy)
            if self._open is not copy:
                copy.index.close()
        return self.opened()

    def _opened_file(self) -> OpenIndex:
        """Return the open index, not a copy: other processes have to see a change."""
        opened = self._opened_for_answer()
        self._refuse_copy()
        return opened

    def expect_more(self) -> None:
        """Prepare for many answers in a row; see ``FreshnessCheck.expect_more``."""
        self.freshness_check().expect_more()

    def ensure_fresh(
        self,
        opened: OpenIndex,
        *,
        may_take_large: LargeNoteRule | None = leave_all,
        leaves_outdated: bool = False,
        waits_again: bool = True,
    ) -> tuple[OpenIndex, Freshness]:
        """Return the index that answers, updated, and how far that went.

        It is a copy if another process keeps *opened* locked. The lock is held; for the
        options see ``FreshnessCheck.ensure_fresh``.
        """
        check = self.freshness_check()

        def updated(index: Index) -> Freshness:
            return check.ensure_fresh(
                index,
                may_take_large=may_take_large,
                leaves_outdated=leaves_outdated,
                waits_again=waits_again,
            )

        freshness = updated(opened.index)
        if not freshness.is_locked:
            return opened, freshness
        places, now = self._places, self._clocks.now
        copy = copy_of_locked(places, now, opened, freshness.warning)
        if copy is None:
            return opened, freshness
        self._open = copy
        check.record_refusal(None)
        return copy, updated(copy.index)

    def run_with_fallback(
        self, answer: Callable[[OpenIndex], T], *, may_repair: bool = True
    ) -> T:
        """Return an answer of the index, or of a substitute if it cannot give one.

        Args:
            answer: Asks the index.
            may_repair: Make a damaged index again from the notes first.
        """
        opened = self._opened_for_answer()
        if may_repair and isinstance(opened.error, IndexDamagedError):
            opened = self._repaired(opened)
        try:
            return answer(opened)
        except IndexTooNewError:
            raise
        except IndexUnusableError as error:
            # What is damaged within shows when it is read, and not before.
            self.close()
            opened = memory_fallback(self._places, self._clocks.now, error)
            self._open = opened
            if may_repair and isinstance(error, IndexDamagedError):
                opened = self._repaired(opened)
            return answer(opened)

    def clear_notice(self) -> None:
        """Drop the notice that an answer has shown; the lock is held."""
        if self._open is not None and self._open.notice:
            self._open = replaced(self._open, notice="")

    def _repaired(self, damaged: OpenIndex) -> OpenIndex:
        """Return the index made again from the notes; *damaged* if that is impossible.

        It costs what filling a substitute in memory costs. Large notes are left to the
        background, and no search waits for another process that does the same. What
        failed once is not tried again on the same file.
        """
        if damaged.broken == self._beyond_repair:
            return damaged
        engine = index_engine(self._places, self._clocks.now)
        try:
            engine.rebuild(
                lambda index: self.syncer.sync(index, may_take_large=leave_all),
                wait_s=0,
            )
            index = engine.open()
        except IndexBusyError:
            return damaged
        except HivemindError:
            self._beyond_repair = damaged.broken
            return damaged
        self.close()
        notice = "the index was damaged and has been rebuilt from the notes"
        self._open = OpenIndex(index=index, notice=notice)
        return self._open

    def freshness_check(self) -> FreshnessCheck:
        """Return what updates the index before an answer."""
        if self._fresh is None:
            self._fresh = FreshnessCheck(
                self.syncer,
                self._places,
                self._clocks.stopwatch,
                index_rest=self._index_rest,
            )
        return self._fresh

    @abstractmethod
    def _index_rest(self) -> None:
        """Index what an answer has left for later."""

    def _refuse_copy(self) -> None:
        """Raise if a copy answers: what must be in the file is not.

        Raises:
            IndexBusyError: Another process keeps the file locked.
        """
        if self._open is not None and self._open.file is not None:
            raise IndexBusyError(self._open.why_copied)
