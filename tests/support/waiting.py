"""Waiting for a condition, with a limit that only stops a hang.

The one place where tests read a clock to give up. How fast something is, tests do not
measure: the machine may be busy. That is what ``benchmarks/`` is for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

HANG_S = 120.0
"""Nothing that a test waits for takes so long, however busy the machine is."""

_PAUSE_S = 0.01

T = TypeVar("T")


def wait_until(is_so: Callable[[], T], otherwise: str = "it never was") -> T:
    """Wait until something is so, and return it.

    Args:
        is_so: What is waited for: a true value.
        otherwise: What the failed test says.
    """
    pause = threading.Event()  # some tests replace ``time.sleep``
    end_s = time.monotonic() + HANG_S
    while not (found := is_so()):
        assert time.monotonic() < end_s, f"{otherwise} within {HANG_S:g} s"
        pause.wait(_PAUSE_S)
    return found


def without_hanging(call: Callable[[], T]) -> T:
    """Return what a call returns; a call that hangs fails the test instead."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(HANG_S)
    assert not thread.is_alive(), f"it did not end within {HANG_S:g} s"
    if errors:
        raise errors[0]
    return results[0]
