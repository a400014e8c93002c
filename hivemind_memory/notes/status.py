"""Whether a memory is in force, what it weighs, and how memories are joined."""

from __future__ import annotations

ACTIVE, SUPERSEDED, PENDING, FORGOTTEN = range(4)
"""Standing of a note: in force; replaced; an untrusted claim in the inbox; hidden."""

STATUSES = ("active", "superseded", "waiting", "forgotten")
"""Their names, as a person reads them."""

NEUTRAL_IMPORTANCE = 0.5
"""Importance of a text without a type: it neither lifts nor lowers."""

UNTRUSTED = frozenset({"tool", "external"})
"""Sources whose claims wait for a person, and that no agent is told unasked."""

RELATED, UPDATES, CONTRADICTS = "related_to", "updates", "contradicts"
EDGE_KINDS = (RELATED, UPDATES, CONTRADICTS)
