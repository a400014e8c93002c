"""Reads days, moments and durations as people type them, and shows times.

A day is 2026-11-21, today, yesterday, 7d or 2w; a moment is a day, or 30m or 2h; a
duration is 30s, 10m, 2h, 7d or 2w.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date, datetime

_UNITS = {"d": 1, "w": 7}
_SECONDS = {"m": 60, "h": 3600}
_SECONDS_OF_DURATIONS = {"s": 1, **_SECONDS, "d": 86_400, "w": 604_800}
_WORDS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_MAX_DAYS = 36_500
_MAX_DIGITS = 12

PAST_HINT = (
    "A day is 2026-11-21, today, yesterday, 7d or 2w (seven days, two weeks ago)."
)
FUTURE_HINT = "A day is 2026-11-21, tomorrow, 7d or 2w (in seven days, in two weeks)."
DURATION_HINT = "A duration is 30s, 10m, 2h, 7d or 2w; a number alone means seconds."
MOMENT_HINT = "Give a day (2026-11-21, today, yesterday) or an age (30m, 2h, 7d, 2w)."


def parse_day(text: str, today: date, *, is_future: bool = False) -> str | None:
    """Return a day in ISO form; None if *text* is no day.

    Args:
        text: As typed.
        today: In the time zone of the person.
        is_future: A number of days counts from today on, not back.

    >>> from datetime import date
    >>> parse_day("7d", date(2026, 11, 21)), parse_day("2026-02-30", date.today())
    ('2026-11-14', None)
    """
    from datetime import date, timedelta

    word = text.strip().lower()
    if word in _WORDS:
        return (today + timedelta(days=_WORDS[word])).isoformat()
    number, unit = _count_of(word)
    if unit in _UNITS and number is not None:
        days = number * _UNITS[unit]
        if days > _MAX_DAYS:
            return None
        return (today + timedelta(days=days if is_future else -days)).isoformat()
    if len(word) != len("2026-11-21"):
        return None
    try:
        return date.fromisoformat(word).isoformat()
    except ValueError:
        return None


def parse_moment(text: str, now: datetime) -> str | None:
    """Return a day, or for minutes and hours ago a moment, in ISO form.

    Args:
        text: As typed.
        now: In the time zone of the person.

    >>> from datetime import UTC, datetime
    >>> now = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    >>> parse_moment("2h", now), parse_moment("7d", now), parse_moment("soon", now)
    ('2026-11-21T07:30:00+00:00', '2026-11-14', None)
    """
    from datetime import timedelta

    number, unit = _count_of(text.strip().lower())
    if unit not in _SECONDS or number is None:
        return parse_day(text, now.date())
    return (now - timedelta(seconds=number * _SECONDS[unit])).isoformat()


def parse_duration(text: str) -> int | None:
    """Return how many seconds a duration has; None if *text* is none.

    >>> parse_duration("10m"), parse_duration("90"), parse_duration("soon")
    (600, 90, None)
    """
    word = text.strip().lower()
    unit = _SECONDS_OF_DURATIONS.get(word[-1:])
    digits = word[:-1] if unit else word
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS
    return int(digits) * (unit or 1) if is_number else None


def _count_of(word: str) -> tuple[int | None, str]:
    """Return the number and the unit of a word such as 7d; None: it has no number."""
    number, unit = word[:-1], word[-1:]
    is_number = number.isascii() and number.isdigit() and len(number) < 6
    return (int(number) if is_number else None), unit


def minute_text(moment: str) -> str:
    """Return a time in ISO form, in the time zone of the reader, without its seconds.

    >>> minute_text("2026-11-21T09:30:12"), minute_text("2026-11-21")
    ('2026-11-21 09:30', '2026-11-21')
    """
    return _here(moment)[:16].replace("T", " ")


def day_text(moment: str) -> str:
    """Return the day of a time in ISO form, in the time zone of the reader.

    >>> day_text("2026-11-21T09:30:12"), day_text("2026-11-21")
    ('2026-11-21', '2026-11-21')
    """
    return _here(moment)[:10]


def _here(moment: str) -> str:
    """Return a moment in the zone of the reader."""
    # Help and mistakes import this file, and show no time.
    from hivemind_memory.environment import local_iso
    from hivemind_memory.model.clocks import in_zone

    return in_zone(moment, local_iso)
