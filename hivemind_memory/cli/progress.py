"""Shows progress on standard error for what takes longer than a second."""

from __future__ import annotations

import os
import sys
import threading
import time

from hivemind_memory.cli.output import is_terminal, write_stderr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

QUIET_S = 1.0
"""Nothing is shown before: what is done by then needs no progress."""

_REDRAW_S = 0.1
_DUMB_REDRAW_S = 5.0
"""A terminal that cannot go back to the start of a line gets a new line instead."""


class ProgressDisplay:
    """Call it with phase, number done, and number in all; silent without a terminal."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._is_on = is_terminal(sys.stderr)
        self._is_dumb = os.environ.get("TERM", "dumb") in ("", "dumb")
        self._phase = ""
        self._began_s = self._phase_began_s = clock()
        self._drawn_s = float("-inf")
        self._is_drawn = False
        self._last = ("", 0, 0)
        self._lock = threading.Lock()
        self._first = threading.Timer(QUIET_S, self._show_first)
        self._first.daemon = True

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Show the state if it is time to."""
        with self._lock:
            self._last = (phase, done, total)
            self._show(phase, done, total)

    def _show_first(self) -> None:
        """Show the state though nothing was reported: one step takes that long."""
        with self._lock:
            if self._last[0] and not self._is_drawn:
                self._draw(*self._last, self._clock())

    def _show(self, phase: str, done: int, total: int) -> None:
        """Show a state if it is time to."""
        now_s = self._clock()
        if phase != self._phase:
            self._phase, self._phase_began_s = phase, now_s
        redraw_s = _DUMB_REDRAW_S if self._is_dumb else _REDRAW_S
        is_due = now_s - self._drawn_s >= redraw_s or done >= total
        if not self._is_on or now_s - self._began_s < QUIET_S or not is_due:
            return
        self._draw(phase, done, total, now_s)

    def _draw(self, phase: str, done: int, total: int, now_s: float) -> None:
        """Write a state over the one before."""
        line = progress_text(phase, done, total, now_s - self._phase_began_s)
        write_stderr(f"{line}\n" if self._is_dumb else f"\r\x1b[K{line}")
        self._drawn_s, self._is_drawn = now_s, not self._is_dumb

    def __enter__(self) -> Self:
        """Return itself; from now on it shows something once it takes a second."""
        if self._is_on and not self._is_dumb:
            self._first.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the line away."""
        self._first.cancel()
        with self._lock:
            self._last = ("", 0, 0)
            if self._is_drawn:
                write_stderr("\r\x1b[K")


def progress_text(phase: str, done: int, total: int, took_s: float) -> str:
    """Return one line: phase, how far, how fast, and how long it will still last.

    >>> progress_text("reading", 250, 1000, 2.0)
    'reading 250/1,000 (25 %), 125/s, 6 s left'
    """
    share = f" ({100 * done // total} %)" if total else ""
    line = f"{phase} {done:,}/{total:,}{share}"
    if done <= 0 or took_s <= 0:
        return line
    rate = done / took_s
    speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
    left_s = max(total - done, 0) / rate
    return f"{line}, {speed}/s, {duration_text(left_s)} left"


def duration_text(seconds: float) -> str:
    """Return a span of time as a person reads it.

    >>> duration_text(6.4), duration_text(200), duration_text(7300)
    ('6 s', '3 min 20 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
