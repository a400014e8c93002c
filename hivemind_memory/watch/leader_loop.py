"""The loop of the leader: waits for changes, syncs, starts embedding."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.results import EmbedResult, SyncResult
from hivemind_memory.model.snapshot import SETTLED_NS
from hivemind_memory.watch.change_detector import ChangeDetector
from hivemind_memory.watch.debounce import MAX_WAIT_FACTOR, Debouncer
from hivemind_memory.watch.embed_worker import EmbedWorker
from hivemind_memory.watch.events import (
    Embedded,
    StateChanged,
    Synced,
    SyncFailed,
    WatchEvent,
    WatchState,
)
from hivemind_memory.watch.leader import Leadership

logger = logging.getLogger(__name__)

TICK_S = 0.5
"""Longest wait of any thread before it looks whether it should stop."""

LATE_EVENT_S = 1.0
"""How long after a rescan found a change its event may still arrive."""

SETTLE_S = SETTLED_NS / 1e9 + 0.5
"""How long after a change its files are settled: until then every search reads them to
be sure."""

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 30.0
"""When a failed sync is tried again, doubling from the first to the last."""


class SyncableMemory(Protocol):
    """What the watcher needs of the memory."""

    def sync(self) -> SyncResult:
        """Update the index from the folder.

        Broken off by an exception at any point, it leaves an index that the next sync
        puts right.
        """
        ...

    def embed_pending(self, *, should_stop: Callable[[], bool]) -> EmbedResult:
        """Embed what has no vector until done or *should_stop*; asked between batches.

        Called on another thread than ``sync`` and at the same time. Cheap when nothing
        is pending or there is no provider.
        """
        ...


class StopSignal(Protocol):
    """Tells when to end: an event, or what asks more than one."""

    def is_set(self) -> bool:
        """Return whether it is time to end."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """How long the leader waits, in seconds."""

    quiet_s: float = 0.5
    """Quiet time before a scan: ``debounce_ms`` of the configuration."""

    rescan_s: float = 60.0
    """Between two scans that nothing asked for."""


class LeaderLoop:
    """Watches, syncs and embeds until it is stopped or no longer leads.

    All but the marks that a source of events leaves happens on the thread of ``run``.
    """

    def __init__(
        self,
        memory: SyncableMemory,
        detector: ChangeDetector,
        *,
        leadership: Leadership,
        settings: WatchSettings,
        clock: Callable[[], float],
    ) -> None:
        """Do nothing before ``run``; *clock* is in seconds and never goes back."""
        self._memory = memory
        self._detector = detector
        self._leadership = leadership
        self._settings = settings
        self._clock = clock
        # SimpleQueue, for its put may be called from a signal handler.
        self._results: queue.SimpleQueue[EmbedResult | None] = queue.SimpleQueue()
        self._vectors = EmbedWorker(memory.embed_pending, self._results.put)
        # Guards the debouncer and the count, which the source's thread changes too.
        self._lock = threading.Lock()
        self._debouncer = Debouncer(
            quiet_s=settings.quiet_s, max_wait_s=settings.quiet_s * MAX_WAIT_FACTOR
        )
        self._hints = 0
        self._late_event_check: tuple[float, int] | None = None
        self._reported_state: WatchState | None = None
        self._problem = ""
        self._due_times: dict[str, float] = {}  # cause -> when, in seconds of the clock
        self._retry_s = FIRST_RETRY_S
        self._syncing_thread = 0

    def run(self, stop: StopSignal, on_event: Callable[[WatchEvent], None]) -> None:
        """Lead until *stop* is set or the lead is lost; no thread is left behind."""
        self._on_event = on_event
        self._vectors.start()
        try:
            # Watch first, then scan, so that no change is missed in between.
            self._detector.open(self._hint, self._clock())
            self._sync("start")
            while not stop.is_set() and self._leadership.still_leads():
                self._wait()
                if not stop.is_set():
                    self._act()
        finally:
            self._detector.close()
            self._vectors.close()

    def interrupt(self) -> None:
        """End a wait now; called from the very thread that syncs, end the sync too.

        Raises:
            KeyboardInterrupt: Called by a signal handler in the midst of a sync.
        """
        self._results.put(None)
        if self._syncing_thread == threading.get_ident():
            raise KeyboardInterrupt

    def _hint(self, *, is_complete: bool) -> None:
        """Mark a change; called by the source, on its thread, perhaps very often."""
        with self._lock:
            self._hints += 1
            before_s = self._debouncer.due_s()
            self._debouncer.add(self._clock(), is_complete=is_complete)
            now_due_s = self._debouncer.due_s()
        if before_s is None or (now_due_s is not None and now_due_s < before_s):
            # Later ones only move the date; the loop sees that when it wakes for it.
            self._results.put(None)

    def _wait(self) -> None:
        """Wait for an event or for the next due time, whichever is first."""
        wait_s = min(self._next_due_s() - self._clock(), TICK_S)
        try:
            result = self._results.get(timeout=max(wait_s, 0.0))
        except queue.Empty:
            return
        if result is not None:
            done = result.embedded + result.from_cache
            if done or result.problem != self._problem:
                self._on_event(Embedded(result=result))
            self._problem = result.problem

    def _next_due_s(self) -> float:
        """When something is to be done next."""
        dates: list[float | None] = [self._detector.due_s]
        if self._late_event_check is not None:
            dates.append(self._late_event_check[0])
        if "retry" in self._due_times:
            dates.append(self._due_times["retry"])
        else:
            with self._lock:
                dates += [*self._due_times.values(), self._debouncer.due_s()]
        return min(date for date in dates if date is not None)

    def _act(self) -> None:
        """Do what is due."""
        now_s = self._clock()
        self._end_late_event_check(now_s)
        is_time = now_s >= self._detector.due_s and self._detector.check(now_s)
        cause = self._cause(now_s, is_time=is_time)
        if cause:
            self._sync(cause)
        else:
            self._report_state()

    def _cause(self, now_s: float, *, is_time: bool) -> str:
        """Return why to sync now, or nothing."""
        due = [cause for cause, date_s in self._due_times.items() if now_s >= date_s]
        if "retry" in self._due_times:
            # After a failure everything waits for the retry; hints stay gathered.
            return "retry" if "retry" in due else ""
        with self._lock:
            if self._debouncer.take(now_s):
                return "hint"
        if due:
            return "rescan" if "rescan" in due else due[0]
        return "poll" if is_time else ""

    def _sync(self, cause: str) -> None:
        """Sync once, and report the result."""
        now_s = self._clock()
        hints = self._hints
        self._due_times.pop("settle", None)
        if cause in {"rescan", "start"}:
            self._due_times["rescan"] = now_s + self._settings.rescan_s
        self._detector.refresh(now_s, is_forced=cause == "rescan")
        self._report_state()
        if not self._detector.is_folder_there:
            self._due_times.pop("retry", None)  # the detector says when it is back
            return
        try:
            self._syncing_thread = threading.get_ident()
            result = self._memory.sync()
        except HivemindError as error:
            logger.warning("sync failed, it is tried again: %s", error)
            self._fail(error)
            return
        except Exception as error:
            # Whatever it was, the notes are as they were; a watcher that ends would
            # leave a stale index unnoticed. Retried, ever more rarely.
            logger.exception("sync failed, it is tried again")
            self._fail(error)
            return
        finally:
            self._syncing_thread = 0
        self._due_times.pop("retry", None)
        self._retry_s = FIRST_RETRY_S
        self._take_in(Synced(cause=cause, result=result), hints)

    def _take_in(self, done: Synced, hints_before: int) -> None:
        """Decide what follows from a sync."""
        if done.is_notable:
            self._due_times["settle"] = self._clock() + SETTLE_S
            if done.cause == "rescan":
                self._begin_late_event_check(hints_before)
        if done.cause != "poll" or done.is_notable:
            # Also without changes: others index what they write, and do not embed it.
            self._vectors.wake()
        self._on_event(done)

    def _fail(self, error: Exception) -> None:
        """Plan the next try."""
        retry_s = self._retry_s
        self._due_times["retry"] = self._clock() + retry_s
        self._retry_s = min(2 * retry_s, LAST_RETRY_S)
        self._on_event(SyncFailed(error=error, retry_in_s=retry_s))

    def _begin_late_event_check(self, hints_before: int) -> None:
        """Start waiting for the event of a change that a rescan found."""
        with self._lock:
            is_announced = self._debouncer.due_s() is not None
        if not is_announced and self._hints == hints_before:
            self._late_event_check = (self._clock() + LATE_EVENT_S, hints_before)

    def _end_late_event_check(self, now_s: float) -> None:
        """Poll from now on if no event came for what a rescan found."""
        if self._late_event_check is None or now_s < self._late_event_check[0]:
            return
        if self._hints == self._late_event_check[1]:
            self._detector.report_missed_event()
        self._late_event_check = None

    def _report_state(self) -> None:
        """Report how changes are detected, whenever that has changed."""
        state = self._detector.state
        if state == self._reported_state:
            return
        if state.mode == "polling":
            logger.warning("polling for changes: %s", state.reason)
        elif self._reported_state is not None:
            logger.info("file events arrive again")
        self._reported_state = state
        try:
            self._leadership.write_state(state)
        except OSError as error:
            logger.warning("cannot say how this leader watches: %s", error)
        self._on_event(StateChanged(state=state))
