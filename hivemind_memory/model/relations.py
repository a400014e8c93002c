"""How a memory relates to another one, as a language model says."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Relation(NamedTuple):
    """One relation of a saved memory."""

    ref: str
    """Id of the other memory; path of a note without one."""

    kind: str
    """related_to, contradicts or updates."""

    weight: float
    """How sure the model is, 0..1."""


class Comparison(NamedTuple):
    """What a language model says of a saved memory."""

    relations: tuple[Relation, ...] = ()
    texts: Mapping[str, str] = {}
    """Id of each memory that it was given, or its path -> version of its text then."""
