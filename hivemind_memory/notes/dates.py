"""How old a memory is: by its entry's date, its note's name, or its file.

Ages are whole days since the epoch, so that a score does not move within a day.
"""

from __future__ import annotations

from datetime import date, datetime

from hivemind_memory.model.snapshot import NS_PER_DAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.note_path import NotePath

_EPOCH = date(1970, 1, 1).toordinal()


def day_of_note(
    path: NotePath, front_matter: Mapping[str, object], mtime_ns: int
) -> int | None:
    """Return the day of a note, in days since the epoch; None when it never ages.

    The date that the note gives itself (``updated``, ``date``, ``created``), else a
    date at the start of its name, else its last edit. ``global.md`` does not age.
    """
    name = path.rpartition("/")[2]
    if name == "global.md":
        return None
    for key in ("updated", "date", "created"):
        day = _day_of_value(front_matter.get(key))
        if day is not None:
            return day
    day = day_of_iso(name)
    return mtime_ns // NS_PER_DAY if day is None else day


def day_of_iso(text: str) -> int | None:
    """Return the day that *text* begins with (``2026-11-21…``), else None.

    >>> day_of_iso("1970-01-03T10:00:00+01:00")
    2
    """
    try:
        return date.fromisoformat(text[:10]).toordinal() - _EPOCH
    except ValueError:
        return None


def _day_of_value(value: object) -> int | None:
    """Return the day that a value of a front matter tells, if it tells one."""
    if isinstance(value, datetime | date):
        return date(value.year, value.month, value.day).toordinal() - _EPOCH
    return day_of_iso(value) if isinstance(value, str) else None
