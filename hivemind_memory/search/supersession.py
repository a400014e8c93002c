"""Removes superseded candidates, and moves disputed ones below the newer.

Pure. Where a memory and the one that replaced it both answer, the older one is dropped;
where two dispute each other, the newer goes first and the other is marked. A memory
that was replaced and is the only match is still an answer, marked as superseded. A
memory that the caller may not see replaces nothing.
"""

from __future__ import annotations

from hivemind_memory.model.display import lines_text
from hivemind_memory.model.dispute_order import is_newer
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.memories import ACTIVE, CONTRADICTS, SUPERSEDED, UPDATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from hivemind_memory.model.matches import ChunkLocation
    from hivemind_memory.search.ranking import RankedChunk

    Edge = tuple[str, str, str]
    "(path, kind, target as written)"


BELOW = 0.999
"""A disputed memory weighs at most this fraction of what the newer one does."""


class Superseded(NamedTuple):
    """The remaining candidates."""

    kept: list[RankedChunk]
    """In their new order."""

    left_out: int
    """How many candidates were replaced."""

    by: frozenset[str]
    """Notes that replaced them, and that are candidates still."""


def supersede(
    ranked: Sequence[RankedChunk],
    edges: Iterable[Edge],
    hidden: AbstractSet[str] = frozenset(),
) -> Superseded:
    """Return the candidates in their new order, without those that were replaced.

    Args:
        ranked: Candidates, best first.
        edges: Those that begin at a candidate's note; ends that are no candidates are
            of no concern here.
        hidden: Notes that replace nothing, because no caller gets to see them.
    """
    places = {chunk.place.path: chunk.place for chunk in ranked}
    replaces, disputes = _relations(places, edges)
    gone = _gone(places, replaces, hidden)
    kept = [
        # What an earlier pass made of it does not count twice.
        candidate._replace(dispute=1.0, disputed_by="")
        if candidate.disputed_by
        else candidate
        for candidate in ranked
        if candidate.place.path not in gone
    ]
    pairs = [pair for pair in disputes if gone.keys().isdisjoint(pair)]
    kept = _with_disputes(kept, pairs)
    kept.sort(key=lambda edge: -edge.weight)  # equal ones stay as they were ranked
    by = frozenset(gone.values())
    return Superseded(kept, len(ranked) - len(kept), by)


def find_replaced(
    places: Iterable[ChunkLocation],
    edges: Iterable[Edge],
    shown: AbstractSet[str],
) -> dict[str, str]:
    """Return the notes that others replace, each with the one that is shown instead.

    The rule of ``supersede``, without a query: a memory leaves only for one that is
    shown.

    Args:
        places: Of notes that the caller may see.
        edges: Those that begin at one of them.
        shown: Paths of those that would be shown.
    """
    known = {place.path: place for place in places}
    replaces, _ = _relations(known, edges)
    hidden: set[str] = set()
    while True:
        gone = _gone(known, replaces, hidden)
        unseen = set(gone.values()) - shown
        if not unseen:
            return gone
        hidden |= unseen


def _relations(
    places: Mapping[str, ChunkLocation], edges: Iterable[Edge]
) -> tuple[dict[str, dict[str, None]], list[tuple[str, str]]]:
    """Return what each note replaces, and which notes dispute each other."""
    names = _Names(places)
    replaces = _by_key(places.values())
    disputes: dict[frozenset[str], tuple[str, str]] = {}
    for path, kind, target in edges:
        for other in names.paths(target, path):
            if kind == UPDATES:
                replaces.setdefault(path, {})[other] = None
            elif kind == CONTRADICTS:
                # Of two that name each other one pair, the same whoever comes first.
                pair = disputes.setdefault(frozenset((path, other)), (path, other))
                if pair[0] == other:
                    disputes[frozenset(pair)] = (min(pair), max(pair))
    return replaces, list(disputes.values())


class _Names:
    """Which candidate an edge means by a name: by id, else path, key or file name."""

    def __init__(self, places: Mapping[str, ChunkLocation]) -> None:
        self._places = places
        self._by_id: dict[str, list[str]] = {}
        self._by_key: dict[str, list[str]] = {}
        self._by_file: dict[str, list[str]] = {}
        for path, place in self._places.items():
            stem = path.removesuffix(".md")
            self._by_id.setdefault(place.memory_id or "", []).append(path)
            self._by_key.setdefault(place.key or "", []).append(path)
            for name in {stem, stem.rpartition("/")[2]}:
                self._by_file.setdefault(name, []).append(path)

    def paths(self, target: str, path: str) -> list[str]:
        """Return the notes of candidates that *target* means, seen from *path*.

        A name that several answer to means one of them, as everywhere: the
        active one, the one in the scope of *path*.
        """
        if not target or path not in self._places:
            return []
        found = self._by_id.get(target) or [target] * (target in self._places)
        if not found:
            named = self._by_key.get(target) or self._by_file.get(target, [])
            here = self._places[path].scope
            found = sorted(named, key=lambda path: self._nearness(path, here))[:1]
        return [newer for newer in found if newer != path]

    def _nearness(self, path: str, scope: str) -> tuple[int, bool, str, str]:
        """Sort what a name means first, first."""
        place = self._places[path]
        return (place.status, place.scope != scope, place.scope, path)


def _by_key(places: Collection[ChunkLocation]) -> dict[str, dict[str, None]]:
    """Return, for each active note, the replaced notes of its key.

    An untrusted claim that waits replaces nothing.
    """
    active: dict[tuple[str, str], str] = {}
    for place in places:
        if place.key and place.status == ACTIVE:
            active.setdefault((place.scope, place.key), place.path)
    replaces: dict[str, dict[str, None]] = {}
    for place in places:
        newer = active.get((place.scope, place.key or ""))
        if newer and place.status == SUPERSEDED:
            replaces.setdefault(newer, {})[place.path] = None
    return replaces


def _gone(
    places: Mapping[str, ChunkLocation],
    relations: Mapping[str, dict[str, None]],
    hidden: AbstractSet[str],
) -> dict[str, str]:
    """Return the notes that others replace, each with the one that is left instead.

    Of notes that replace each other in a circle, which a person may write, one stays:
    the active one, the newest.
    """
    replaces = {path: to for path, to in relations.items() if path not in hidden}
    replaced = {older for olders in replaces.values() for older in olders}
    heads = sorted(
        replaces,
        key=lambda path: (
            path in replaced,
            places[path].status,
            -(places[path].day or 0),
            path,
        ),
    )
    gone: dict[str, str] = {}
    for head in heads:
        waiting = [] if head in gone else [head]
        while waiting:
            for older in replaces.get(waiting.pop(), ()):
                if older != head and older not in gone:
                    gone[older] = head
                    waiting.append(older)
    for path, head in gone.items():
        while head in gone:  # it was itself replaced later
            head = gone[head]  # noqa: PLW2901 - the one at the end of the chain
        gone[path] = head
    return gone


def _with_disputes(
    ranked: list[RankedChunk], pairs: Iterable[tuple[str, str]]
) -> list[RankedChunk]:
    """Return the candidates with the older of each pair below the newer, marked."""
    ages = {
        chunk.place.path: (chunk.place.day or 0, chunk.place.memory_id or "")
        for chunk in ranked
    }
    ordered = [
        pair if is_newer(*ages[pair[0]], *ages[pair[1]]) else pair[::-1]
        for pair in pairs
    ]
    # The newest first: nothing is put below what will itself go down.
    for newer, older in sorted(ordered, key=lambda pair: ages[pair[0]], reverse=True):
        ranked = _disputed(ranked, newer, older)
    return ranked


def _disputed(ranked: list[RankedChunk], newer: str, older: str) -> list[RankedChunk]:
    """Return the candidates with one note below another, marked."""
    top = max(
        (each for each in ranked if each.place.path == newer),
        key=lambda each: each.weight,
    )
    most = BELOW * top.weight
    return [
        each._replace(
            # A list without a query weighs nothing, and has the newer first already.
            dispute=each.dispute * (min(1.0, most / each.weight) if each.weight else 1),
            disputed_by=_shown(top.place),
        )
        if each.place.path == older
        else each
        for each in ranked
    ]


def _shown(place: ChunkLocation) -> str:
    """Return a place as a search prints it."""
    return lines_text(place.path, place.start_line, place.end_line)
