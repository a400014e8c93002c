"""Runs jobs on a thread while this process leads, so that indexing does not wait."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from math import inf
from typing import Protocol

from hivemind_memory.errors import HivemindError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

logger = logging.getLogger(__name__)

LOOK_S = 30.0
"""How often jobs are looked at while they wait: a person who wants one run at once says
so in another process, which wakes no thread here."""

RETRY_S = 60.0
"""How long the worker rests after a run that raised."""


class JobSource(Protocol):
    """Has jobs to run."""

    def run(self, *, should_stop: Callable[[], bool]) -> float | None:
        """Run what is due; return in how many seconds there is more; None: unknown."""
        ...

    def is_due(self) -> bool:
        """Return whether something is to be run, at little cost."""
        ...

    def abandon(self) -> None:
        """Give up the job under way: the process ends. Called on another thread."""
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...


class JobWorker:
    """One thread that runs jobs when it is woken, and when the next one is due."""

    def __init__(self, source: JobSource) -> None:
        """Start nothing yet."""
        self._source = source
        self._work = threading.Event()
        self._is_closed = threading.Event()
        # A request to a model cannot be broken off; it must not hold up the exit.
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)

    def start(self) -> None:
        """Start the thread, which looks for jobs at once."""
        self._work.set()
        self._thread.start()

    def wake(self) -> None:
        """Notes may have changed."""
        self._work.set()

    def close(self, timeout_s: float = 0.5) -> bool:
        """Ask the thread to end; return whether it did within *timeout_s* seconds.

        If it did not, its job is given up.
        """
        self._is_closed.set()
        self._work.set()
        self._thread.join(timeout_s)
        if not self._thread.is_alive():
            return True
        try:
            self._source.abandon()
        except HivemindError as error:
            logger.warning("a job is left as interrupted: %s", error)
        return False

    def _run(self) -> None:
        """Work and wait, until it is closed."""
        wait_s: float | None = None
        while not self._is_closed.is_set():
            self._wait(wait_s)
            self._work.clear()
            if not self._is_closed.is_set():
                wait_s = self._run_once()
        self._source.close()

    def _wait(self, wait_s: float | None) -> None:
        """Wait until it is woken, its time is up, or something is due before that."""
        left_s = inf if wait_s is None else wait_s
        while left_s > 0 and not self._work.wait(min(left_s, LOOK_S)):
            left_s -= LOOK_S
            if self._is_due():
                return

    def _is_due(self) -> bool:
        """Return whether something is to be run; not if that cannot be read now."""
        try:
            return self._source.is_due()
        except HivemindError:
            return False
        except Exception:
            logger.exception("jobs cannot be looked at now")
            return False

    def _run_once(self) -> float | None:
        """Run the jobs once; return how long to wait for the next."""
        try:
            return self._source.run(should_stop=self._is_closed.is_set)
        except HivemindError as error:
            logger.warning("jobs cannot be run now, it is tried again: %s", error)
            return RETRY_S
        except Exception:
            # The thread must live on; what was due still is.
            logger.exception("jobs cannot be run now; it is tried again")
            return RETRY_S


@contextmanager
def working(
    open_source: Callable[[], JobSource] | None,
) -> Iterator[Callable[[], None]]:
    """Run jobs on a thread meanwhile; yield what wakes it. None: there are no jobs."""
    if open_source is None:
        yield lambda: None
        return
    worker = JobWorker(open_source())
    worker.start()
    try:
        yield worker.wake
    finally:
        worker.close()
