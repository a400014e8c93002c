"""A bound for calls that have none of their own."""

from __future__ import annotations

import threading

import pytest

from hivemind_memory.providers.remote import run_within
from tests.support.waiting import HANG_S


def test_a_call_in_time_returns_its_answer() -> None:
    """The usual case costs a thread, 0.1 ms."""
    assert run_within(5.0, lambda: 42) == 42


def test_a_call_out_of_time_is_left_behind() -> None:
    """A name server that keeps silent holds a thread, not the person."""
    release, ended = threading.Event(), threading.Event()

    def keep_silent() -> None:
        release.wait(HANG_S)
        ended.set()

    with pytest.raises(TimeoutError):
        run_within(0.05, keep_silent)

    assert not ended.is_set()
    release.set()


def test_the_error_of_the_call_is_the_callers() -> None:
    """Also a timeout of its own, with its own words."""
    with pytest.raises(KeyError, match="mine"):
        run_within(5.0, lambda: {}["mine"])

    def run_out() -> None:
        message = "my own"
        raise TimeoutError(message)

    with pytest.raises(TimeoutError, match="my own"):
        run_within(5.0, run_out)


def test_what_is_left_behind_does_not_keep_the_process_alive() -> None:
    """`hm search` has to end when its answer is printed."""
    release = threading.Event()
    with pytest.raises(TimeoutError):
        run_within(0.01, lambda: release.wait(HANG_S))

    left = [t for t in threading.enumerate() if t.name == "hm-embed" and t.is_alive()]

    assert left
    assert all(thread.daemon for thread in left)
    release.set()
