"""The thread that runs jobs while a process leads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from hivemind_memory.watch import job_worker
from hivemind_memory.watch.job_worker import JobWorker, working
from tests.watch.fakes import SOON_S


class Source:
    """Counts its runs; says what a test wants."""

    def __init__(self, wait_s: float | None = None) -> None:
        self.wait_s = wait_s
        self.runs = 0
        self.abandoned = 0
        self.error: Exception | None = None
        self.is_closed = threading.Event()
        self.due = 0
        self._ran = threading.Condition()

    def run(self, *, should_stop: Callable[[], bool]) -> float | None:
        assert not should_stop()
        with self._ran:
            self.runs += 1
            self._ran.notify_all()
        if self.error is not None:
            raise self.error
        return self.wait_s

    def is_due(self) -> bool:
        return self.runs < self.due

    def abandon(self) -> None:
        self.abandoned += 1

    def close(self) -> None:
        self.is_closed.set()

    def wait_for(self, runs: int) -> bool:
        with self._ran:
            return self._ran.wait_for(lambda: self.runs >= runs, SOON_S)


def test_jobs_are_run_at_the_start_and_when_woken() -> None:
    source = Source()
    with working(lambda: source) as wake:
        assert source.wait_for(1)
        wake()
        assert source.wait_for(2)

    assert source.is_closed.wait(SOON_S)
    assert source.runs == 2


def test_jobs_are_run_when_the_next_one_is_due() -> None:
    source = Source(wait_s=0.01)
    with working(lambda: source):
        assert source.wait_for(3)


@pytest.mark.parametrize("wait_s", [None, 3_600.0])
def test_jobs_are_run_when_another_process_says_so(
    monkeypatch: pytest.MonkeyPatch, wait_s: float | None
) -> None:
    """After ``hm jobs retry``, a failed job was run when a note changed."""
    monkeypatch.setattr(job_worker, "LOOK_S", 0.01)
    source = Source(wait_s)
    with working(lambda: source):
        assert source.wait_for(1)
        source.due = 2
        assert source.wait_for(2)

    assert source.runs == 2


def test_a_run_that_raises_does_not_end_the_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, "hivemind_memory.watch.job_worker")
    source = Source()
    source.error = ZeroDivisionError()
    with working(lambda: source) as wake:
        assert source.wait_for(1)
        wake()
        assert source.wait_for(2)


def test_a_request_under_way_does_not_hold_up_the_exit() -> None:
    source = Source()
    release = threading.Event()
    source.run = lambda **_: release.wait(SOON_S)  # type: ignore[method-assign]
    worker = JobWorker(source)
    worker.start()

    assert not worker.close(timeout_s=0.01)

    assert source.abandoned == 1
    release.set()
    assert source.is_closed.wait(SOON_S)


def test_without_jobs_there_is_no_thread() -> None:
    before = threading.active_count()
    with working(None) as wake:
        wake()
        assert threading.active_count() == before
