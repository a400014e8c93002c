"""The types that a memory may have, and what each means for age, injection and weight.

Pure data and one look-up. Types of a person's own come from ``config.json``.
"""

from __future__ import annotations

from hivemind_memory.errors import UnknownTypeError
from hivemind_memory.model.keys import closest
from hivemind_memory.model.value import value

TYPE_CHECKING = False  # typing costs milliseconds on the way to a cold answer
if TYPE_CHECKING:
    from collections.abc import Mapping

INJECTED = FIRST, LESSON, PREFERENCE, NEWEST, RELEVANT, SEARCH_ONLY = (
    "first",
    "lesson",
    "preference",
    "newest",
    "relevant",
    "search",
)
"""How a type comes into a section: always and first; always and second; after
``global.md`` and as its chunks do; by relevance, newest first among equals; by
relevance; or only through a search."""

DEFAULT_TYPE = "context"
_SHOWN_CHARS = 80

CONFIDENCES = ("high", "medium", "low")
"""How certain a claim may be, the most certain first."""

DEFAULT_CONFIDENCE = "medium"


@value
class MemoryType:
    """What one type means."""

    name: str
    injected: str
    """One of ``INJECTED``."""

    does_age: bool
    importance: float
    """Of a memory that names none, 0..1."""

    aliases: tuple[str, ...] = ()


def _type(
    name: str, injected: str, importance: float, ages: str, *aliases: str
) -> MemoryType:
    """Return one row of the table."""
    return MemoryType(
        name=name,
        injected=injected,
        does_age=ages == _AGES,
        importance=importance,
        aliases=aliases,
    )


_AGES, _STAYS = "ages", "stays"
BUILT_IN: Mapping[str, MemoryType] = {
    memory_type.name: memory_type
    for memory_type in (
        _type("identity", FIRST, 1.0, _STAYS, "core", "self"),
        _type("lesson", LESSON, 0.8, _STAYS, "warning", "insight", "learning"),
        _type("decision", NEWEST, 0.8, _AGES, "commitment", "choice", "convention"),
        _type("preference", PREFERENCE, 0.7, _STAYS, "likes"),
        _type("goal", RELEVANT, 0.9, _AGES, "aim"),
        _type("todo", RELEVANT, 0.8, _AGES, "task"),
        _type("context", NEWEST, 0.5, _AGES, "active", "background", "note"),
        _type("fact", RELEVANT, 0.6, _AGES),
        _type("event", SEARCH_ONLY, 0.4, _AGES),
        _type("observation", SEARCH_ONLY, 0.3, _AGES),
        _type("reference", SEARCH_ONLY, 0.5, _STAYS, "pointer", "link"),
        _type("historical", SEARCH_ONLY, 0.3, _AGES, "archive", "past"),
        _type("summary", SEARCH_ONLY, 0.5, _AGES),
        _type("checkpoint", SEARCH_ONLY, 0.5, _AGES),
    )
}
"""Name -> type."""


def all_types(custom: Mapping[str, MemoryType] | None = None) -> dict[str, MemoryType]:
    """Return name -> type: those of the table, and those of a person's own."""
    return {**BUILT_IN, **(custom or {})}


def types_of_config(table: Mapping[str, object]) -> dict[str, MemoryType]:
    """Return the types of a person's own from the checked option ``types``."""
    return {
        name: MemoryType(
            name=name,
            injected=meaning.get("injected", RELEVANT),
            does_age=meaning.get("ages", True),
            importance=float(meaning.get("importance", 0.5)),
            aliases=tuple(meaning.get("aliases", ())),
        )
        for name, meaning in table.items()
        if isinstance(meaning, dict)
    }


def find_type(
    name: str, custom: Mapping[str, MemoryType] | None = None
) -> MemoryType | None:
    """Return the type of a name or an alias, in any case; None: there is no such."""
    folded = name.strip().lower()
    types = all_types(custom)
    if folded in types:
        return types[folded]
    for memory_type in types.values():
        if folded in memory_type.aliases:
            return memory_type
    return None


def resolve_type(
    name: str, custom: Mapping[str, MemoryType] | None = None
) -> MemoryType:
    """Return the type of a name or an alias.

    Raises:
        UnknownTypeError: There is none; the hint lists all.

    >>> resolve_type("warning").name
    'lesson'
    """
    found = find_type(name, custom)
    if found is None:
        from hivemind_memory.model.display import shorten

        types = all_types(custom)
        aliases = (alias for meaning in types.values() for alias in meaning.aliases)
        meant = closest(name, (*types, *aliases))
        near = f"Did you mean {meant[0]}? " if meant else ""
        raise UnknownTypeError(
            f"There is no memory type {shorten(name, _SHOWN_CHARS)!r}.",
            hint=f"{near}Types: {', '.join(types)}.",
        )
    return found
