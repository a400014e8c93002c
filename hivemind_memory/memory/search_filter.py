"""From what a person or an agent narrows a question to, in words, to a wish."""

from __future__ import annotations

from hivemind_memory.access.rules import scope_named
from hivemind_memory.errors import UsageError
from hivemind_memory.model.filters import SearchFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.model.memory_types import MemoryType


def parse_filter(
    caller: Caller,
    own_types: Mapping[str, MemoryType],
    *,
    types: str = "",
    scope: str = "",
    since: str = "",
    until: str = "",
    inbox: bool = False,
    expired: bool = False,
) -> SearchFilter:
    """Return what a question asks for.

    Args:
        caller: Who asks.
        own_types: Types of a person's own.
        types: Names of types or aliases, separated by commas; empty: any.
        scope: Name of a scope; empty: all that are open.
        since: First day, ``2026-11-21``.
        until: Last day.
        inbox: Untrusted claims that wait for a person, too.
        expired: What is over, too.

    Raises:
        UnknownTypeError: There is no such type.
        ScopeError: It is no scope, or none of the caller's.
        UsageError: A day is none.
    """
    return SearchFilter(
        types=_types(types, own_types),
        scope=scope_named(caller, scope) if scope else None,
        since_day=_day(since),
        until_day=_day(until),
        has_pending=inbox,
        has_expired=expired,
    )


def _types(text: str, own: Mapping[str, MemoryType]) -> tuple[str, ...]:
    """Return the names of the types that are named."""
    if not text.strip():
        return ()
    from hivemind_memory.model.memory_types import resolve_type

    names = (name for name in text.split(",") if name.strip())
    return tuple(dict.fromkeys(resolve_type(name, own).name for name in names))


def _day(text: str) -> int | None:
    """Return a day in days since the epoch; None: none is named."""
    if not text.strip():
        return None
    from hivemind_memory.notes.dates import day_of_iso

    day = day_of_iso(text.strip())
    if day is None:
        raise UsageError(f"{text!r} is no day.", hint="A day is like 2026-11-21.")
    return day
