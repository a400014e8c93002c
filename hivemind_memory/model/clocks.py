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

    def asked_at(self, started: float) -> AskedAt:
        """Return what knows that a query came at *started*, by the stopwatch."""
        return AskedAt(self, started)


class AskedAt:
    """When a query arrived, and the clock it was read from."""

    __slots__ = ("clocks", "started")

    def __init__(self, clocks: Clocks, started: float) -> None:
        self.clocks = clocks
        self.started = started
        """By the stopwatch."""

    def took_s(self) -> float:
        """Return how many seconds it has taken so far."""
        return self.clocks.stopwatch() - self.started


def iso_day(day: int | None) -> str:
    """Return a day since the epoch as ISO 8601; empty for None.

    >>> iso_day(19_484)
    '2023-05-07'
    """
    if day is None:
        return ""
    # datetime would cost a millisecond and a half on the way to a cold answer.
    return time.strftime("%Y-%m-%d", time.gmtime(day * SECONDS_PER_DAY))


def is_moment(text: str) -> bool:
    """Return whether an ISO 8601 time is more than a day."""
    return "T" in text


def seconds_of(moment: str) -> float | None:
    """Return an ISO 8601 time in seconds since the epoch; None if it is none.

    >>> seconds_of("1970-01-01T01:00:10+01:00"), seconds_of("soon")
    (10.0, None)
    """
    from datetime import datetime

    try:
        return datetime.fromisoformat(moment).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def utc_iso(seconds: float, timespec: str = "auto") -> str:
    """Return a time in seconds since the epoch as ISO 8601, in UTC.

    Args:
        seconds: The time.
        timespec: As ``datetime.isoformat`` takes it.

    >>> utc_iso(0), utc_iso(1.5), utc_iso(1.5, "milliseconds")
    ('1970-01-01T00:00:00Z', '1970-01-01T00:00:01.500000Z', '1970-01-01T00:00:01.500Z')
    """
    from datetime import UTC, datetime

    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec=timespec)
    return text.replace("+00:00", "Z")


def in_zone(moment: str, local_iso: Callable[[float], str]) -> str:
    """Return an ISO 8601 time in the time zone of the user; a day stays a day.

    Args:
        moment: With the offset of where it was written, or a day.
        local_iso: As in ``Clocks``.
    """
    seconds = seconds_of(moment) if is_moment(moment) else None
    return moment if seconds is None else local_iso(seconds)


def first_day_anywhere(first: str) -> str:
    """Return the first day that *first*, a day or a moment, may be in any time zone.

    Empty if *first* names no day.

    >>> first_day_anywhere("2026-11-21T09:30:00+01:00"), first_day_anywhere("soon")
    ('2026-11-19', '')
    """
    from datetime import date, timedelta

    try:
        return (date.fromisoformat(first[:10]) - timedelta(days=2)).isoformat()
    except (ValueError, OverflowError):
        return ""


def is_since(at: str, first: str, local_iso: Callable[[float], str]) -> bool:
    """Return whether a time is not before *first*, a day or a moment; empty: any is.

    Args:
        at: The time, or a day.
        first: A day of the user's, or a moment.
        local_iso: As in ``Clocks``.

    >>> is_since("2026-11-21T09:30:00+01:00", "2026-11-21T09:00:00+00:00", str)
    False
    """
    if not is_moment(first):
        return in_zone(at, local_iso)[:10] >= first
    seconds = seconds_of(at) if is_moment(at) else None
    start = seconds_of(first)
    return seconds is not None and start is not None and seconds >= start
