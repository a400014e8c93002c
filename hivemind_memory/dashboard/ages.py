"""Says how long ago something was, with the exact time beside it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from hivemind_memory.model.clocks import SECONDS_PER_DAY, is_moment, seconds_of
from hivemind_memory.model.display import count_text

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3_600, SECONDS_PER_DAY
_WEEK, _MONTH, _YEAR = 7, 30, 365


class PageTime(NamedTuple):
    """When a page is made, as its template knows it."""

    now: float
    """Seconds since the epoch."""

    local_iso: Callable[[float], str]
    """As in ``Clocks``."""


def exact_time(moment: str, made: PageTime) -> str:
    """Return a time as a person in their time zone reads it; a day stays a day."""
    seconds = seconds_of(moment) if is_moment(moment) else None
    local = moment if seconds is None else made.local_iso(seconds)
    return local[:16].replace("T", " ")


def age_words(moment: str, made: PageTime) -> str:
    """Return how long ago a time was; empty: it is none, or still to come.

    >>> made = PageTime(1_795_255_200.0, lambda seconds: "2026-11-21T10:00:00Z")
    >>> age_words("2026-11-21T09:00:00+00:00", made), age_words("2026-11-19", made)
    ('1 hour ago', '2 days ago')
    """
    seconds = seconds_of(moment)
    if seconds is None:
        return ""
    if is_moment(moment):
        age_s = made.now - seconds
        if age_s < -_MINUTE_S:
            return ""
        if age_s < _MINUTE_S:
            return "just now"
        if age_s < _HOUR_S:
            return f"{count_text(int(age_s // _MINUTE_S), 'minute')} ago"
        if age_s < _DAY_S:
            return f"{count_text(int(age_s // _HOUR_S), 'hour')} ago"
        day = made.local_iso(seconds)[:10]
    else:
        day = moment
    today = date.fromisoformat(made.local_iso(made.now)[:10])
    return _days_ago((today - date.fromisoformat(day[:10])).days)


def _days_ago(days: int) -> str:
    """Return how long ago a day was; empty: it is still to come."""
    if days < 0:
        return ""
    if days < 2:
        return ("today", "yesterday")[days]
    if days < 2 * _WEEK:
        return f"{days} days ago"
    if days < 2 * _MONTH:
        return f"{days // _WEEK} weeks ago"
    if days < 2 * _YEAR:
        return f"{days // _MONTH} months ago"
    return f"{days // _YEAR} years ago"
