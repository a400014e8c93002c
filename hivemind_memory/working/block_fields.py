"""Checks the fields of blocks: one rule for programs and for JSON."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from typing import Any, NoReturn

from hivemind_memory.errors import UsageError

_TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a string"),
    "str | None": ((str, type(None)), "a string or None"),
    "bool": (bool, "True or False"),
}
"""Annotation -> what a value is then, and how that is called; others have rules of
their own."""


class FrozenDict(dict[str, Any]):
    """A mapping that does not change; it can be copied, pickled and written as JSON."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        """Raise: nothing changes."""
        raise TypeError("The metadata of a block does not change; make another block.")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        """Return how it is made again: item by item would be a change."""
        return FrozenDict, (dict(self),)


def check_types(block: Any) -> None:
    """Raise unless the texts and the switches of a block are such."""
    for field in fields(block):
        known = _TYPES.get(str(field.type))
        value = getattr(block, field.name)
        if known is not None and not isinstance(value, known[0]):
            raise UsageError(f"{field.name} must be {known[1]}, not {_shown(value)}.")


def check_share(name: str, value: object) -> None:
    """Raise unless a value is a number from 0 to 1."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:  # type: ignore[operator]
        raise UsageError(f"{name} must be a number from 0 to 1, not {_shown(value)}.")


def check_moment(name: str, value: object) -> None:
    """Raise unless a value is a time with its zone."""
    if not isinstance(value, datetime):
        raise UsageError(f"{name} must be a datetime, not {_shown(value)}.")
    if value.utcoffset() is None:
        raise UsageError(f"{name} has no time zone: {value.isoformat()}. Add one.")


def check_text(name: str, value: str) -> None:
    """Raise unless a text has something in it."""
    if not value.strip() or "\0" in value:
        raise UsageError(f"{name} must be a string with text in it, not {value!r}.")


def check_lines(start: object, end: object) -> None:
    """Raise unless two numbers, or None, name lines in order."""
    for name, line in (("start_line", start), ("end_line", end)):
        if line is None:
            continue
        if not isinstance(line, int) or isinstance(line, bool) or line < 1:
            what = "a whole number, 1 or more"
            raise UsageError(f"{name} must be {what}, not {_shown(line)}.")
    if isinstance(start, int) and isinstance(end, int) and end < start:
        raise UsageError(f"end_line ({end}) is before start_line ({start}).")


def texts_of(name: str, value: object) -> tuple[str, ...]:
    """Return texts as a tuple; a list will do."""
    if value is None:
        return ()
    is_many = isinstance(value, list | tuple)
    if not is_many or not all(
        isinstance(text, str)
        for text in value  # type: ignore[attr-defined]
    ):
        raise UsageError(f"{name} must be a list of strings, not {_shown(value)}.")
    return tuple(value)  # type: ignore[arg-type]


def _shown(value: object) -> str:
    """Return a value as a message shows it."""
    try:
        return repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of thousands of digits"
