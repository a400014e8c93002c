"""Parses the filters of a search."""

from __future__ import annotations

from hivemind_memory.errors import UsageError
from hivemind_memory.model.clocks import is_moment, seconds_of
from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.trust import SOURCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.model.memory_types import MemoryType


def filter_of(
    words: dict[str, Any],
    types: Mapping[str, MemoryType],
    find_scope: Callable[[str], str],
    folder: NotesFolder,
    caller: Caller,
) -> SearchFilter:
    """Return the filter of a search, its scope and folder as the caller names them.

    Raises:
        NoteNotFoundError: The caller sees no note below a folder of that name.
        ScopeError: The caller does not have that scope.
    """
    named = words.pop("scope", "")
    scope = find_scope(named) if named else None
    if words.get("folder"):
        from hivemind_memory.access.rules import may_read
        from hivemind_memory.model.listing import folder_named

        seen = {path for path in folder.signatures() if may_read(caller, path)}
        words["folder"] = folder_named(words["folder"], seen)
    return parse_filter(types, scope=scope, **words)


def parse_filter(  # noqa: PLR0913 - the filters of a search
    own_types: Mapping[str, MemoryType],
    *,
    types: str = "",
    scope: str | None = None,
    since: str = "",
    until: str = "",
    source: str = "",
    source_ref: str = "",
    folder: str = "",
    tags: Iterable[str] = (),
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
        source: human, agent, tool or external; empty: any.
        source_ref: How what it was derived from begins; empty: anything.
        folder: Only notes below this folder; empty: any.
        tags: Only what has all of these tags.
        inbox: Include pending claims of untrusted sources.
        expired: Include what has expired.

    Raises:
        UnknownTypeError: There is no such type.
        UsageError: A day or the source is not valid.
    """
    if source and source not in SOURCES:
        known = ", ".join(SOURCES)
        raise UsageError(f"There is no source {source!r}. It must be one of {known}.")
    return SearchFilter(
        types=_types(types, own_types),
        scope=scope,
        since_day=None if is_moment(since) else _day(since),
        until_day=None if is_moment(until) else _day(until),
        since_ms=_milliseconds(since) if is_moment(since) else None,
        until_ms=_milliseconds(until) if is_moment(until) else None,
        source=source,
        source_ref=source_ref.strip(),
        folder=folder,
        tags=_tags(tags),
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


def _tags(names: Iterable[str]) -> tuple[str, ...]:
    """Return the tags of some names."""
    if not names:
        return ()
    from hivemind_memory.model.tags import parse_tags

    return parse_tags(names)


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
        raise UsageError(f"{text!r} is not a time.", hint=hint)
    return round(seconds * 1000)
