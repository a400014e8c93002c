"""Keeps the index up to date: waits to become the leader, then watches and syncs.

Any number of processes may run this over one index. One leads; the others check twice a
second whether the leader has gone. A killed leader loses its lock at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hivemind_memory.watch.change_detector import ChangeDetector
from hivemind_memory.watch.events import Following, Leading, Synced, WatchEvent
from hivemind_memory.watch.helper_process import helping
from hivemind_memory.watch.job_worker import JobSource, working
from hivemind_memory.watch.leader import Leadership
from hivemind_memory.watch.leader_loop import (
    TICK_S,
    LeaderLoop,
    SyncableMemory,
    WatchSettings,
)


class Watcher:
    """Leads when it can, follows while it cannot."""

    def __init__(
        self,
        memory: SyncableMemory,
        detector: ChangeDetector,
        *,
        leadership: Leadership,
        settings: WatchSettings | None = None,
        clock: Callable[[], float],
        is_moved: Callable[[], bool] = lambda: False,
        helped_home: str = "",
        open_jobs: Callable[[], JobSource] | None = None,
    ) -> None:
        """Nothing is locked, watched or read before ``run``.

        Args:
            memory: Whose ``sync`` and ``embed_pending`` are called.
            detector: Watches the notes folder; belongs to this watcher.
            leadership: The lock of the index; belongs to this watcher.
            settings: None: as the class says.
            clock: Seconds, never going back: ``time.monotonic``.
            is_moved: Returns whether the notes folder is another one by now, of which
                this watcher knows nothing.
            helped_home: The home whose commands get a helper while it leads; empty:
                there is none.
            open_jobs: Returns the jobs that it runs while it leads; None: none.
        """
        self._memory = memory
        self._detector = detector
        self._leadership = leadership
        self._settings = settings or WatchSettings()
        self._clock = clock
        self._is_moved = is_moved
        self._helped_home = helped_home
        self._open_jobs = open_jobs
        self._leader_loop: LeaderLoop | None = None

    def run(
        self, stop: threading.Event, on_event: Callable[[WatchEvent], None]
    ) -> None:
        """Follow and lead until *stop* is set, then leave no thread, watch or lock.

        Returns as well once the notes folder is another one.

        Args:
            stop: Checked twice a second; at once after ``interrupt``.
            on_event: Called with every event, on the calling thread. What it raises
                ends the run.

        Raises:
            KeyboardInterrupt: The person did, and *stop* was not set by a handler.
        """
        until = _StopOrMove(stop, self._is_moved)
        try:
            while self._wait_for_lead(until, on_event):
                self._lead(until, on_event)
        except KeyboardInterrupt:
            if not stop.is_set():
                raise

    def interrupt(self) -> None:
        """Make ``run`` look at its stop event now. To be called after setting it.

        From a signal handler, which runs on the main thread, this also breaks off a
        sync that the main thread is in; from any other thread a sync is left to end.

        Raises:
            KeyboardInterrupt: It broke off a sync; ``run`` catches it.
        """
        leader_loop = self._leader_loop
        if leader_loop is not None:
            leader_loop.interrupt()

    def _wait_for_lead(
        self, stop: _StopOrMove, on_event: Callable[[WatchEvent], None]
    ) -> bool:
        """Return True once this process leads, False when it is to stop."""
        leader: str | None = None
        while not stop.is_set():
            if self._leadership.try_acquire():
                return True
            if leader != (leader := self._leadership.holder()):
                on_event(Following(leader=leader))
            stop.wait(TICK_S)
        return False

    def _lead(self, stop: _StopOrMove, on_event: Callable[[WatchEvent], None]) -> None:
        """Lead until the lock is lost or *stop* is set."""
        try:
            on_event(Leading())
            self._leader_loop = LeaderLoop(
                self._memory,
                self._detector,
                leadership=self._leadership,
                settings=self._settings,
                clock=self._clock,
            )
            with helping(self._helped_home), working(self._open_jobs) as wake:

                def tell(event: WatchEvent) -> None:
                    if isinstance(event, Synced):
                        wake()
                    on_event(event)

                self._leader_loop.run(stop, tell)
        finally:
            self._leader_loop = None
            self._leadership.release()


class _StopOrMove:
    """Set once a watcher is told to stop, or its notes folder is another one."""

    def __init__(self, stop: threading.Event, is_moved: Callable[[], bool]) -> None:
        self._stop = stop
        self._is_moved = is_moved

    def is_set(self) -> bool:
        """Return whether it is time to end."""
        return self._stop.is_set() or self._is_moved()

    def wait(self, timeout_s: float) -> None:
        """Wait until the watcher is told to stop, no longer than *timeout_s*."""
        self._stop.wait(timeout_s)
