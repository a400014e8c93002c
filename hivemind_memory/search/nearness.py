"""Says how near a memory is to the caller: kept for it, and as what.

What was kept for the place where you work is likelier to be meant than free text
from anywhere that shares a word. Pure; decision 033 has the reasons.
"""

from __future__ import annotations

from hivemind_memory.model.scope import FOLDERS
from hivemind_memory.model.trust import is_trusted, shown_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hivemind_memory.model.matches import ChunkLocation

SCOPE_NEARNESS = {"workspace": 0.9, "project": 0.75, "team": 0.5}
"""Nearness of free text in a caller's own scope of a kind; of the rest, 0."""

TYPED_SHARE = 0.5
"""The share of what is left to 1 that an active typed memory adds: it is the one
current answer under its key."""

_ACTIVE = 0


def near_scopes(own: Iterable[str]) -> dict[str, float]:
    """Return the nearness of free text in the scopes of a caller, by scope.

    Args:
        own: The workspace, project and teams of the caller; empty ones are left out.

    >>> near_scopes(["", "projects/shop"])
    {'projects/shop': 0.75}
    """
    kinds = {f"{folder}/": SCOPE_NEARNESS[kind] for kind, folder in FOLDERS.items()}
    return {scope: kinds[f"{scope.partition('/')[0]}/"] for scope in own if scope}


def nearness_of(place: ChunkLocation, scopes: Mapping[str, float]) -> float:
    """Return how near a chunk is to the caller, 0..1.

    What was replaced or is pending is not near, nor is text from outside, wherever it
    lies.
    """
    near = scopes.get(place.scope, 0.0)
    if not near or place.status != _ACTIVE:
        return 0.0
    if place.type:
        near += (1 - near) * TYPED_SHARE
    if not is_trusted(shown_source(place.note_source, place.entry_source)):
        return 0.0
    return near


def nearer(raw_score: float, nearness: float) -> float:
    """Return a raw score with what nearness adds to it.

    It is multiplied by 1 + nearness, but what it lacks to 1 is divided by the square of
    that at most: a score stays below 1, and those of one nearness keep their order.

    >>> nearer(0.25, 1.0), nearer(0.5, 1.0), nearer(0.5, 0.0)
    (0.5, 0.875, 0.5)
    """
    if not nearness or raw_score >= 1:
        return raw_score
    factor = 1 + nearness
    return min(factor * raw_score, 1 - (1 - raw_score) / factor**2)
