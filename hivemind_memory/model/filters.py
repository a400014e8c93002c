"""Which notes a question may find: what its caller may see, and what it asks for."""

from __future__ import annotations

from hivemind_memory.model.value import value


@value
class Access:
    """What a caller may see; see ``model.access``."""

    scopes: frozenset[str] | None = None
    """Scopes that are open; None: all."""

    is_public_only: bool = False
    """Only what is public is there."""

    private_scopes: frozenset[str] = frozenset()
    """Scopes whose notes are private unless they say otherwise."""


@value
class SearchFilter:
    """What a question narrows itself to, or asks for beside the usual."""

    types: tuple[str, ...] = ()
    """Names of types; empty: any, free text too."""

    scope: str | None = None
    """Only this scope; None: all that are open."""

    since_day: int | None = None
    until_day: int | None = None
    """Days since the epoch, both included."""

    has_pending: bool = False
    """Claims in the inbox are shown too."""

    has_expired: bool = False
    """What is over is shown too."""


DEFAULT_FILTER = SearchFilter()
