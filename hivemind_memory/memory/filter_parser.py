"""Parses the filters of a search."""

from __future__ import annotations

from hivemind_memory.errors import UsageError
from hivemind_memory.model.clocks import is_moment, seconds_of
from hivemind_memory.model.filters import SearchFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.memory_types import MemoryType


def parse_filter(
    own_types: Mapping[str, MemoryType],
    *,
    types: str = "",
    scope: str | None = None,
    since: str = "",
    until: str = "",
    source_ref: str = "",
    inbox: bool = False,
    expired: bool = False,
) -> SearchFilter:
    """Return the filter of a search.

    Args:
        own_types: Types defined in config.json.
        types: Names of types or aliases, separated by commas; empty: any.
        scope: Only this scope; None: all that the caller reads.
        since: First day, ``2026-11-21``, or moment, ``2026-11-21T09:30:00+01:00``.
        until: Last day or moment.
        source_ref: How what it was derived from begins; empty: anything.
        inbox: Include pending claims of untrusted sources.
        expired: Include what has expired.

    Raises:
        UnknownTypeError: There is no such type.
        UsageError: A day is not valid.
    """
    return SearchFilter(
        types=_types(types, own_types),
        scope=scope,
        since_day=None if is_moment(since) else _day(since),
        until_day=None if is_moment(until) else _day(until),
        since_ms=_milliseconds(since) if is_moment(since) else None,
        until_ms=_milliseconds(until) if is_moment(until) else None,
        source_ref=source_ref.strip(),
        has_pending=inbox,
        has_expired=expired,
    )


def _types(text: str, own: Mapping[str, MemoryType]) -> tuple[str, ...]:
    """Return the types of some names or aliases."""
    if not text.strip():
        return ()
    from hivemind_memory.model.memory_types import resolve_type

    names = (name for name in text.split(",") if name.strip())
    return tuple(dict.fromkeys(resolve_type(name, own).name for name in names))


def _day(text: str) -> int | None:
    """Return a day in days since the epoch; None for an empty text."""
    if not text.strip():
        return None
    from hivemind_memory.notes.memory_header import day_of_iso

    day = day_of_iso(text.strip())
    if day is None:
        raise UsageError(f"{text!r} is not a day.", hint="A day looks like 2026-11-21.")
    return day


def _milliseconds(text: str) -> int:
    """Return a moment in milliseconds since the epoch."""
    seconds = seconds_of(text.strip())
    if seconds is None:
        hint = "A moment looks like 2026-11-21T09:30:00+01:00."
        raise UsageError(f"{text!r} is not a moment.", hint=hint)
    return round(seconds * 1000)
