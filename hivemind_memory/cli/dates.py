"""Dates: days as people type them (2026-11-21, today, 7d), and times as shown. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

_UNITS = {"d": 1, "w": 7}
_WORDS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_MAX_DAYS = 36_500

PAST_HINT = (
    "A day is 2026-11-21, today, yesterday, 7d or 2w (seven days, two weeks ago)."
)
FUTURE_HINT = "A day is 2026-11-21, tomorrow, 7d or 2w (in seven days, in two weeks)."


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
    number, unit = word[:-1], word[-1:]
    if unit in _UNITS and number.isascii() and number.isdigit() and len(number) < 6:
        days = int(number) * _UNITS[unit]
        if days > _MAX_DAYS:
            return None
        return (today + timedelta(days=days if is_future else -days)).isoformat()
    if len(word) != len("2026-11-21"):
        return None
    try:
        return date.fromisoformat(word).isoformat()
    except ValueError:
        return None


def minute_text(moment: str) -> str:
    """Return a time in ISO form without its seconds.

    >>> minute_text("2026-11-21T09:30:12+01:00")
    '2026-11-21 09:30'
    """
    return moment[:16].replace("T", " ")
