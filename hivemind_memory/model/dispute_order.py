"""Which of two memories that contradict each other is the newer one."""

from __future__ import annotations

from hivemind_memory.model.own_forms import is_ulid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    _Day = TypeVar("_Day", int, str)


def is_newer(day: _Day, own_id: str, other_day: _Day, other_id: str) -> bool:
    """Return whether a memory that contradicts another one is the newer.

    Of the same day, the one that was saved last is, as their ids say. If one of them
    has no such id, the one that names the dispute counts as the newer.

    >>> is_newer(2, "a", 1, "b"), is_newer(1, "a", 1, "b")
    (True, True)
    """
    if day != other_day:
        return day > other_day
    return not (is_ulid(own_id) and is_ulid(other_id)) or own_id > other_id
