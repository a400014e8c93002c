"""A typed memory as the index knows it, its status, and the edges between memories."""

from __future__ import annotations

from hivemind_memory.model.late_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ACTIVE, SUPERSEDED, PENDING, FORGOTTEN = range(4)
"""Status of a note: used; replaced; an untrusted claim in the inbox; hidden."""

STATUSES = ("active", "superseded", "pending", "forgotten")
"""Their names, as a person reads them."""

SHOWN_STATUSES = (*STATUSES, "expired", "done")
"""What a person may ask for: a memory that is not used any more is active, too."""

MAX_SOURCE_REF_CHARS = 500
"""Of what a memory was derived from."""

CLAIM_FIELDS = ("confidence", "corroborated", "domains", "verified")
"""What the front matter of a claim says about it."""

PROGRAM_FIELDS = ("expires_at", "plugin_source", "propagation")
"""What the front matter of a memory says that a program has written over HTTP."""

NEUTRAL_IMPORTANCE = 0.5
"""Importance of a text without a type: it neither lifts nor lowers."""

RELATED, UPDATES, CONTRADICTS = "related_to", "updates", "contradicts"
EDGE_KINDS = (RELATED, UPDATES, CONTRADICTS)
"""How one memory may refer to another."""


class MemoryHeader(NamedTuple):
    """What a note's front matter and place say about it; empty: nothing."""

    memory_id: str = ""
    """ULID."""

    type: str = ""
    """Name of its type; empty: free text."""

    key: str = ""
    importance: float | None = None
    """0..1; None: as free text."""

    visibility: str = ""
    """public, private, or empty: inherited."""

    status: int = ACTIVE
    source: str = ""
    """human, agent, tool or external; empty: unknown."""

    session: str = ""
    created: str = ""
    """ISO 8601; orders equals."""

    expires_day: int | None = None
    """First day, since the epoch, on which it is over; None: never."""

    done_day: int | None = None
    """First day on which a todo or goal is over; None: open."""

    is_pinned: bool = False
    does_age: bool = True
    edges: tuple[tuple[str, str, float], ...] = ()
    """(kind, to what: an id, a key or a path, weight 0..1), each once."""

    source_ref: str = ""
    """What it was derived from."""

    claim: str = ""
    """Of a claim: ``name=value`` of each of ``CLAIM_FIELDS``, one a line."""

    tags: str = ""
    """As ``tags.tag_lines`` returns them."""


class MemoryRow(NamedTuple):
    """A typed memory as the index returns it."""

    path: str
    scope: str
    memory_id: str
    type: str
    key: str
    status: int
    importance: float
    created: str
    source: str
    session: str
    is_pinned: bool
    expires_day: int | None
    done_day: int | None
    claim: str = ""
    """As in ``MemoryHeader``."""


class Dispute(NamedTuple):
    """Two active memories of which one contradicts the other, by path."""

    path: str
    """The one that names the other."""

    other: str
    older: str
    """The one of the two that searches mark."""


class EdgeRow(NamedTuple):
    """An edge, both ends resolved to notes."""

    kind: str
    weight: float
    from_path: str
    from_id: str
    to_path: str
    """Empty: what it points to is not there, or not for this caller."""

    to_id: str
    """As written when it points to nothing."""


def claim_of(lines: str) -> dict[str, str]:
    r"""Return what a claim says about its certainty, from ``MemoryHeader.claim``.

    >>> claim_of("confidence=high\nverified=2026-11-01")
    {'confidence': 'high', 'verified': '2026-11-01'}
    """
    found = (line.partition("=") for line in lines.split("\n") if line)
    return {name: text for name, _, text in found}


def claim_text(claim: Mapping[str, str]) -> str:
    """Return how certain a claim is, as people and agents read it.

    >>> claim_text({"confidence": "high", "corroborated": "2"})
    'high, 2 sources'
    """
    count = claim.get("corroborated", "")
    sources = f"{count} source{'' if count == '1' else 's'}" if count else ""
    parts = (claim.get("confidence", ""), sources, claim.get("verified", ""))
    return ", ".join(part for part in parts if part)
