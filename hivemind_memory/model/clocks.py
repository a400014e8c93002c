"""The clocks that a memory is given: time, time zone, randomness. Reads none itself."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS_PER_DAY = 86_400


class Clocks:
    """Where the time comes from; tests bring their own."""

    __slots__ = ("local_iso", "local_offset_s", "now", "randomness", "stopwatch")

    def __init__(
        self,
        *,
        now: Callable[[], float],
        stopwatch: Callable[[], float],
        local_iso: Callable[[float], str],
        local_offset_s: Callable[[float], int],
        randomness: Callable[[], bytes],
    ) -> None:
        self.now = now
        """Seconds since the epoch, UTC."""
        self.stopwatch = stopwatch
        """Seconds on a clock that never goes back."""
        self.local_iso = local_iso
        """A moment as ISO 8601 in the user's time zone, with its offset."""
        self.local_offset_s = local_offset_s
        """The offset of the user's time zone at a moment."""
        self.randomness = randomness
        """Ten random bytes."""

    def today(self) -> int:
        """Return the local day, in days since the epoch."""
        now = self.now()
        return int((now + self.local_offset_s(now)) // SECONDS_PER_DAY)


def iso_day(day: int | None) -> str:
    """Return a day since the epoch as ISO 8601; empty for None.

    >>> iso_day(19_484)
    '2023-05-07'
    """
    if day is None:
        return ""
    # datetime would cost a millisecond and a half on the way to a cold answer.
    return time.strftime("%Y-%m-%d", time.gmtime(day * SECONDS_PER_DAY))
