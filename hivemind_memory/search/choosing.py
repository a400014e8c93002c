"""The last steps of an answer: of what is relevant, what is shown and in which order.

One hit where several chunks are the same lines, the newest of near-copies first, and,
if asked for, hits that say something new before hits that repeat. Texts are needed
here, so only the few best candidates come this far.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hivemind_memory.search.ranking import RankedChunk

NEAR_COPY = 0.5
"""Jaccard similarity of two texts' words from which they are copies of each other."""

CLOSE_RAW_SCORE = 0.75
"""Copies match a question alike: a chunk less than this share as strong as another, or
with another number of its words, is not compared with it."""

SPARE = 5
"""So many candidates beyond the wanted hits may still take a place among them."""


class SelectedHit(NamedTuple):
    """A hit to be."""

    ranked: RankedChunk
    moved: float
    """What its score won or lost by giving or taking a place among near-copies."""

    score: float


class HitSelection(NamedTuple):
    """What is shown, and what is not."""

    hits: list[SelectedHit]
    overlapping: int
    near_copies: int
    """Hits that gave their place to a newer copy."""

    over_limit: int


def choose(
    ranked: Sequence[RankedChunk],
    texts: Callable[[Sequence[int]], Mapping[int, str]],
    *,
    limit: int,
    diversity: float | None = None,
) -> HitSelection:
    """Return at most *limit* hits, best first.

    Args:
        ranked: Candidates, best first.
        texts: Chunk ids -> their texts; called once.
        limit: Hits at most.
        diversity: Lambda of maximal marginal relevance, 0..1; None: off.
    """
    whole = _drop_overlapping(ranked)
    head = whole[: limit + SPARE]
    words = _Words(texts, [one.place.chunk_id for one in head])
    ordered, copies = _newest_first(head, words)
    if diversity is not None:
        ordered = _diversify(ordered, words, share=diversity)
    return HitSelection(
        hits=ordered[:limit],
        overlapping=len(ranked) - len(whole),
        near_copies=copies,
        over_limit=max(0, len(whole) - limit),
    )


class _Words:
    """The words of texts, split when they are first asked for."""

    def __init__(
        self, texts: Callable[[Sequence[int]], Mapping[int, str]], ids: list[int]
    ) -> None:
        self._texts = texts
        self._ids = ids
        self._read: Mapping[int, str] | None = None
        self._sets: dict[int, frozenset[str]] = {}

    def similarity(self, one: int, other: int) -> float:
        """Return the Jaccard similarity of two chunks, 0..1."""
        mine, theirs = self._of(one), self._of(other)
        both = len(mine & theirs)
        return both / max(1, len(mine) + len(theirs) - both)

    def _of(self, chunk: int) -> frozenset[str]:
        """Return the set of a chunk's words; of characters where it has no spaces."""
        known = self._sets.get(chunk)
        if known is None:
            if self._read is None:
                self._read = self._texts(self._ids)
            text = self._read.get(chunk, "")
            words = text.lower().split()
            if len(text) > 20 * max(1, len(words)):
                words = [text[at : at + 2] for at in range(len(text) - 1)]
            known = self._sets[chunk] = frozenset(words)
        return known


def _drop_overlapping(ranked: Sequence[RankedChunk]) -> list[RankedChunk]:
    """Keep the best of the chunks that share a line of one note."""
    taken: dict[str, list[tuple[int, int]]] = {}
    kept = []
    for one in ranked:
        place = one.place
        spans = taken.setdefault(place.path, [])
        if any(
            place.start_line <= end and start <= place.end_line for start, end in spans
        ):
            continue
        spans.append((place.start_line, place.end_line))
        kept.append(one)
    return kept


def _newest_first(
    ranked: list[RankedChunk], words: _Words
) -> tuple[list[SelectedHit], int]:
    """Let the newest of near-copies take the best place among them."""
    ordered = list(ranked)
    moved = 0
    for at, one in enumerate(ordered):
        best = at
        for behind in range(at + 1, len(ordered)):
            other = ordered[behind]
            if other.raw_score < CLOSE_RAW_SCORE * one.raw_score:
                break
            if (
                _found(other) == _found(one)
                and _is_newer(other, ordered[best])
                and _is_near_copy(one, other, words)
            ):
                best = behind
        if best != at:
            ordered.insert(at, ordered.pop(best))
            moved += 1
    # The places keep their scores, so that scores still descend.
    return [
        SelectedHit(one, place.score - one.score, place.score)
        for one, place in zip(ordered, ranked, strict=True)
    ], moved


def _found(one: RankedChunk) -> int:
    """Return how many words of the question a candidate holds."""
    return one.words.found if one.words else 0


def _is_newer(one: RankedChunk, other: RankedChunk) -> bool:
    """Return whether *one* is of a later day than *other*."""
    mine, theirs = one.place.day, other.place.day
    return mine is not None and theirs is not None and mine > theirs


def _is_near_copy(one: RankedChunk, other: RankedChunk, words: _Words) -> bool:
    """Return whether two chunks say nearly the same in nearly the same words."""
    similarity = words.similarity(one.place.chunk_id, other.place.chunk_id)
    return similarity >= NEAR_COPY


def _diversify(
    hits: list[SelectedHit], words: _Words, *, share: float
) -> list[SelectedHit]:
    """Order by maximal marginal relevance.

    Source:
        Carbonell, Goldstein: The use of MMR, diversity-based reranking, SIGIR 1998.
    """
    left = list(hits)
    picked: list[SelectedHit] = []
    closest = [0.0] * len(left)
    while left:
        values = [
            share * hit.score - (1 - share) * near
            for hit, near in zip(left, closest, strict=True)
        ]
        best = values.index(max(values))
        hit = left.pop(best)
        closest.pop(best)
        picked.append(hit)
        for at, other in enumerate(left):
            near = words.similarity(
                hit.ranked.place.chunk_id, other.ranked.place.chunk_id
            )
            closest[at] = max(closest[at], near)
    return picked
