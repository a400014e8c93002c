"""Conditions on notes: what a caller may see, and what a query asks for."""

from __future__ import annotations

from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@value
class Requirement:
    """That a field of a note has one of some values, or none of them."""

    field: str
    """``scope``, ``visibility`` or ``path``."""

    values: frozenset[str]
    is_excluded: bool = False
    """The field must have none of the values."""

    def is_met_by(self, found: str) -> bool:
        """Return whether a field with the value *found* meets it."""
        return (found in self.values) != self.is_excluded


Condition = tuple[tuple[Requirement, ...], ...]
"""Clauses that must all hold; of the requirements of a clause, one must. ``holds``
decides by it and the index makes its SQL from it, so that the two cannot differ."""


def holds(condition: Condition, **fields: str) -> bool:
    """Return whether a note with these fields meets a condition.

    >>> mine = Requirement(field="scope", values=frozenset({"", "projects/shop"}))
    >>> holds(((mine,),), scope="projects/shop"), holds(((mine,),), scope="teams/red")
    (True, False)
    """
    return all(
        any(requirement.is_met_by(fields[requirement.field]) for requirement in clause)
        for clause in condition
    )


@value
class Access:
    """What a caller may see; ``access.rules`` makes it."""

    scopes: frozenset[str] | None = None
    """Scopes that are open; None: all."""

    condition: Condition = ()
    """What a note must meet to be there for the caller; its scope is part of it."""

    def readable(self, paths: Sequence[str]) -> Sequence[str]:
        """Return the paths that are in open scopes."""
        if self.scopes is None:
            return paths
        return [path for path in paths if scope_of(path) in self.scopes]


@value
class SearchFilter:
    """What a query is narrowed to, or also asks for."""

    types: tuple[str, ...] = ()
    """Names of types; empty: any, free text too."""

    scope: str | None = None
    """Only this scope; None: all that are open."""

    scopes: frozenset[str] | None = None
    """Only these scopes; None: all that are open."""

    is_pinned: bool = False
    """Only what is pinned."""

    since_day: int | None = None
    until_day: int | None = None
    """Days since the epoch, both included."""

    since_ms: int | None = None
    until_ms: int | None = None
    """Milliseconds since the epoch, both included: of an entry and a memory, by its id,
    of other text, by the last change of its note."""

    source_ref: str = ""
    """Only what was derived from a source that begins with this; empty: any."""

    source: str = ""
    """Only what comes from this source, as an answer names it; empty: any."""

    folder: str = ""
    """Only notes below this folder, ``projects/shop/api``; empty: any."""

    tags: tuple[str, ...] = ()
    """Only what has all of these tags, in any case of letters."""

    has_pending: bool = False
    """Claims in the inbox are shown too."""

    has_expired: bool = False
    """What is over is shown too."""

    @property
    def is_narrow(self) -> bool:
        """It leaves out more than what is hidden from every query."""
        times = (self.since_day, self.until_day, self.since_ms, self.until_ms)
        given = (self.types, self.source, self.source_ref, self.folder, self.tags)
        places = (self.scope, self.scopes)
        return any(given) or any(narrowed is not None for narrowed in (*places, *times))


DEFAULT_FILTER = SearchFilter()
