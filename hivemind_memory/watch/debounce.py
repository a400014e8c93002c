"""Debouncing: decides when the folder has been quiet for long enough to look at it.

Pure: it holds no thread, reads no clock and keeps no paths. A change is only a hint
that something happened; ``sync`` compares folder and index and finds out what.
"""

from __future__ import annotations

from dataclasses import dataclass

EAGER_SHARE = 0.1
"""Share of the quiet time that is enough after a long calm: 50 ms of 500 ms. Editors
finish the steps of one save within a few milliseconds of each other."""

MAX_WAIT_FACTOR = 4
"""A folder that is never quiet is scanned after this many quiet times: 2 s."""


@dataclass(slots=True)
class Debouncer:
    """Gathers hints until the folder is quiet, yet never longer than a bound.

    The first change after a calm of ``max_wait_s`` need not wait for the whole quiet
    time if it is known to be complete (a file was closed or renamed into place): then a
    tenth is enough. All times are seconds of one clock that never goes back.
    """

    quiet_s: float
    """Seconds without a hint after which the gathered ones are due; 0 or more."""

    max_wait_s: float
    """Seconds after the first gathered hint when they are due in any case."""

    _first_s: float | None = None
    _last_s: float = float("-inf")
    _follows_calm: bool = False
    _is_eager: bool = False

    def add(self, now_s: float, *, is_complete: bool = False) -> None:
        """Gather one hint; *is_complete*: its change is not half done."""
        if self._first_s is None:
            self._first_s = now_s
            self._follows_calm = now_s - self._last_s >= self.max_wait_s
        self._last_s = now_s
        # Judged by the newest hint alone: when another file has begun to change
        # meanwhile, it gets the full quiet time to be finished.
        self._is_eager = self._follows_calm and is_complete

    def due_s(self) -> float | None:
        """Return when the gathered hints are due, or None when there are none."""
        if self._first_s is None:
            return None
        quiet_s = self.quiet_s * EAGER_SHARE if self._is_eager else self.quiet_s
        return min(self._last_s + quiet_s, self._first_s + self.max_wait_s)

    def take(self, now_s: float) -> bool:
        """Forget the gathered hints if they are due; return whether they were."""
        due_s = self.due_s()
        if due_s is None or now_s < due_s:
            return False
        self._first_s = None
        return True
