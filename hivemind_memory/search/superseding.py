"""What replaces or disputes what, among the answers to one question.

Pure. Where a memory and the one that replaced it both answer, the older leaves; where
two dispute each other, the newer goes first and the other is marked. A memory that was
replaced and stands alone is still an answer, and says that it was.
"""

from __future__ import annotations

from hivemind_memory.model.standing import CONTRADICTS, SUPERSEDED, UPDATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hivemind_memory.model.matches import Place
    from hivemind_memory.search.ranking import Ranked

    Edge = tuple[str, str, str]
    """(path, kind, target as written)"""

BELOW = 0.999
"""So far a disputed memory goes below the newer one, if it was not below it."""


def supersede(
    ranked: Sequence[Ranked], edges: Iterable[Edge]
) -> tuple[list[Ranked], int]:
    """Return the candidates in their new order, and how many were replaced.

    Args:
        ranked: Candidates, best first.
        edges: Those that begin at a candidate's note; ends that are no candidates are
            of no concern here.
    """
    names = _Names(ranked)
    replaced: set[str] = _replaced_by_key(ranked)
    disputes: list[tuple[str, str]] = []
    for path, kind, target in edges:
        for other in names.paths(target, path):
            if kind == UPDATES:
                replaced.add(other)
            elif kind == CONTRADICTS:
                disputes.append((path, other))
    kept = [one for one in ranked if one.place.path not in replaced]
    disputes = [pair for pair in disputes if replaced.isdisjoint(pair)]
    for one, other in disputes:
        kept = _disputed(kept, one, other)
    kept.sort(key=lambda one: -one.weight)
    return kept, len(ranked) - len(kept)


class _Names:
    """By which names edges may mean a candidate."""

    def __init__(self, ranked: Sequence[Ranked]) -> None:
        self._paths: dict[str, dict[str, None]] = {}
        for one in ranked:
            place = one.place
            stem = place.path.removesuffix(".md")
            names = {place.path, stem, stem.rpartition("/")[2]}
            names |= {place.key or stem, place.memory_id or stem}
            for name in names:
                self._paths.setdefault(name, {})[place.path] = None

    def paths(self, target: str, path: str) -> list[str]:
        """Return the notes of candidates that *target* means, seen from *path*."""
        return [one for one in self._paths.get(target, ()) if one != path]


def _replaced_by_key(ranked: Sequence[Ranked]) -> set[str]:
    """Return the replaced notes whose key an answer in force has."""
    in_force = {
        (one.place.scope, one.place.key)
        for one in ranked
        if one.place.key and one.place.standing != SUPERSEDED
    }
    return {
        one.place.path
        for one in ranked
        if one.place.standing == SUPERSEDED
        and (one.place.scope, one.place.key) in in_force
    }


def _disputed(ranked: list[Ranked], one: str, other: str) -> list[Ranked]:
    """Return the candidates with the older of two notes below the newer, marked."""
    mine = [each for each in ranked if each.place.path == one]
    theirs = [each for each in ranked if each.place.path == other]
    if not mine or not theirs:
        return ranked
    newer, older = (mine, theirs) if _is_newer(mine[0], theirs[0]) else (theirs, mine)
    top = max(newer, key=lambda each: each.weight)
    marked = {
        each.place.chunk_id: each._replace(
            dispute=min(each.dispute, BELOW * top.weight / each.weight)
            if each.weight > BELOW * top.weight
            else each.dispute,
            disputed_by=_shown(top.place),
        )
        for each in older
    }
    return [marked.get(each.place.chunk_id, each) for each in ranked]


def _is_newer(one: Ranked, other: Ranked) -> bool:
    """Return whether *one* is the newer; of one day, the one that names the dispute."""
    return (one.place.day or 0) >= (other.place.day or 0)


def _shown(place: Place) -> str:
    """Return a place as a search prints it."""
    return f"{place.path}:{place.start_line}-{place.end_line}"
