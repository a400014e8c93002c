"""How a memory relates to another one, as a language model says."""

from __future__ import annotations

from typing import NamedTuple


class Relation(NamedTuple):
    """One relation of a saved memory."""

    ref: str
    """Id of the other memory; path of a note without one."""

    kind: str
    """related_to, contradicts or updates."""

    weight: float
    """How sure the model is, 0..1."""
