"""Selects the hits: merges overlaps, orders near copies, diversifies, cuts.

Of chunks that share lines one is shown, of near-copies the newest comes first, and, if
asked for, hits that add something come before hits that repeat. Texts are read here, so
only the few best candidates get this far.
"""

from __future__ import annotations

from hivemind_memory.model.late_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from hivemind_memory.model.matches import ChunkLocation
    from hivemind_memory.search.ranking import RankedChunk
    from hivemind_memory.search.similarity import ChosenTexts

    SameText: TypeAlias = Callable[
        [Sequence["SelectedHit"]], Sequence[tuple[ChunkLocation, ChunkLocation]]
    ]
    _Look: TypeAlias = tuple[int | None, int, float]


NEAR_COPY = 0.5
"""Similarity of two texts from which they are copies of each other."""

CLOSE_RAW_SCORE = 0.75
"""Copies match a query alike: a chunk with less than this share of another's raw score,
or with another number of the query's words, is not compared with it. An older copy
keeps this share of its weight, so only what matches about as well comes before it. A
newer copy does not displace one from a time that the query names."""

SPARE = 5
"""How many candidates beyond the wanted hits may still take a place among them."""


class SelectedHit(NamedTuple):
    """A candidate that is shown."""

    ranked: RankedChunk
    moved: float
    """What its score gained or lost when near-copies changed places."""

    score: float


class HitSelection(NamedTuple):
    """What is shown, and how much is not."""

    hits: list[SelectedHit]
    overlapping: int
    near_copies: int
    """Copies whose place a newer one took."""

    over_limit: int
    also: Mapping[int, Sequence[ChunkLocation]] = {}
    """Chunk that is shown -> where else the same text stands."""

    joined: int = 0
    """How many are shown as a part of another hit; see ``search.neighbors``."""


def choose(
    ranked: Sequence[RankedChunk],
    texts: Callable[[Sequence[int]], Mapping[int, str]],
    *,
    limit: int,
    diversity: float | None = None,
    same_text: SameText | None = None,
) -> HitSelection:
    """Return at most *limit* hits, best first.

    A hit that repeats an earlier one makes room for the next candidate.

    Args:
        ranked: Candidates, best first.
        texts: Chunk ids -> their texts; called once, and once more for each time that
            repetitions made room.
        limit: Hits at most.
        diversity: Lambda of maximal marginal relevance, 0..1; None: off.
        same_text: The hits that repeat an earlier one; None: all are kept.
    """
    whole = left = _drop_overlapping(ranked)
    overlapping = len(ranked) - len(whole)
    also: dict[int, list[ChunkLocation]] = {}
    while True:
        head = left[: limit + SPARE]
        read = _Texts(texts, [chunk.place.chunk_id for chunk in head])
        ordered, near_copies = _newest_first(head, read)
        if diversity is not None:
            ordered = _diversify(ordered, read, share=diversity)
        hits = ordered[:limit]
        repeated = same_text(hits) if same_text else []
        if not repeated:
            break
        for copy, first in repeated:
            # A newer copy may come from further behind: it names what the other named.
            copies = [copy, *also.pop(copy.chunk_id, ())]
            also.setdefault(first.chunk_id, []).extend(copies)
        gone = {copy.chunk_id for copy, _ in repeated}
        left = [each for each in left if each.place.chunk_id not in gone]
    shown = {hit.ranked.place.chunk_id for hit in hits}
    also = {chunk: copies for chunk, copies in also.items() if chunk in shown}
    named = sum(map(len, also.values()))
    return HitSelection(
        hits=hits,
        overlapping=overlapping,
        near_copies=near_copies,
        over_limit=len(whole) - len(hits) - named,
        also=also,
    )


class _Texts:
    """The texts of the candidates, read and split when the first is compared."""

    def __init__(
        self, read: Callable[[Sequence[int]], Mapping[int, str]], ids: list[int]
    ) -> None:
        self._read = read
        self._ids = ids
        self._texts: Mapping[int, str] | None = None
        self._chosen: ChosenTexts | None = None

    def similarity(self, one: RankedChunk, other: RankedChunk) -> float:
        """Return the similarity of two chunks, 0..1."""
        from hivemind_memory.search.similarity import similarity

        chosen = self.chosen()
        return similarity(
            chosen.words_of(self.text(one)), chosen.words_of(self.text(other))
        )

    def chosen(self) -> ChosenTexts:
        """Return the texts that are chosen so far."""
        # Most answers compare nothing.
        from hivemind_memory.search.similarity import ChosenTexts

        if self._chosen is None:
            self._chosen = ChosenTexts()
        return self._chosen

    def text(self, candidate: RankedChunk) -> str:
        """Return the text of a candidate."""
        if self._texts is None:
            self._texts = self._read(self._ids)
        return self._texts.get(candidate.place.chunk_id, "")


def _drop_overlapping(ranked: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Keep the best of the chunks that share a line of one note."""
    taken: dict[str, list[tuple[int, int]]] = {}
    kept = []
    for candidate in ranked:
        place = candidate.place
        spans = taken.setdefault(place.path, [])
        if any(
            place.start_line <= end and start <= place.end_line for start, end in spans
        ):
            continue
        spans.append((place.start_line, place.end_line))
        kept.append(candidate)
    return kept


def _newest_first(
    ranked: list[RankedChunk], texts: _Texts
) -> tuple[list[SelectedHit], int]:
    """Put the newest of near-copies in the best of their places, the older behind.

    An older copy says little that the newest doesn't: what matches the query about as
    well, and is none, comes before it.
    """
    weights = [candidate.weight for candidate in ranked]
    looks = [(each.place.day, _found(each), each.raw_score) for each in ranked]
    moved = 0
    left = dict(enumerate(ranked))
    while left:
        at, candidate = next(iter(left.items()))
        copies = {
            each: left[each]
            for each in _alike(looks, at, left)
            if texts.similarity(candidate, left[each]) >= NEAR_COPY
        }
        newest = at
        for each, other in copies.items():
            if other.time >= candidate.time and _is_newer(other, ranked[newest]):
                newest = each
        moved += newest != at
        weights[newest] = weights[at]
        del left[newest]
        for each, other in {at: candidate, **copies}.items():
            if _is_newer(ranked[newest], other) and ranked[newest].time >= other.time:
                weights[each] = CLOSE_RAW_SCORE * other.weight
                del left[each]
    order = sorted(range(len(ranked)), key=lambda each: -weights[each])
    # The places keep their scores, so that scores still descend.
    return [
        SelectedHit(ranked[each], place.score - ranked[each].score, place.score)
        for each, place in zip(order, ranked, strict=True)
    ], moved


def _alike(looks: Sequence[_Look], at: int, left: Iterable[int]) -> list[int]:
    """Return those that match the query as one does, on another day.

    Args:
        looks: Of each candidate its day, how many words of the query it holds, and its
            raw score.
        at: Which one.
        left: Which others.
    """
    day, found, raw_score = looks[at]
    least = CLOSE_RAW_SCORE * raw_score
    if day is None or least <= 0:  # a list has no score
        return []
    alike = []
    for each in left:
        other, words, score = looks[each]
        if other != day and other is not None and words == found and score >= least:
            alike.append(each)
    return alike


def _found(candidate: RankedChunk) -> int:
    """Return how many words of the query a candidate holds."""
    return candidate.words.found if candidate.words else 0


def _is_newer(one: RankedChunk, other: RankedChunk) -> bool:
    """Return whether *one* is of a later day than *other*."""
    mine, theirs = one.place.day, other.place.day
    return mine is not None and theirs is not None and mine > theirs


def _diversify(
    hits: list[SelectedHit], texts: _Texts, *, share: float
) -> list[SelectedHit]:
    """Order by maximal marginal relevance."""
    from hivemind_memory.search.similarity import by_marginal_relevance

    chosen = texts.chosen()
    picked = []
    for hit in by_marginal_relevance(
        hits,
        relevance=lambda hit: hit.score,
        nearest=lambda hit: chosen.nearest(texts.text(hit.ranked)),
        share=share,
    ):
        chosen.add(texts.text(hit.ranked))
        picked.append(hit)
    return picked
