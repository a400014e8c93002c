"""Ranks candidates: fuses raw scores, applies age, importance and time, breaks ties.

Pure. Everything here works on numbers of chunks; texts come into play only for the
few that are left, in ``search/hit_selection.py``.
"""

from __future__ import annotations

from math import exp, log

from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.memories import NEUTRAL_IMPORTANCE
from hivemind_memory.search.fusion import (
    FusedScore,
    WordScore,
    fuse_ranks,
    fuse_standardised,
    fuse_weighted,
    fuse_words,
    vector_weight_of,
    word_count,
    word_scores,
)
from hivemind_memory.search.nearness import nearer, nearness_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.model.matches import ChunkLocation, VectorMatches, WordMatches
    from hivemind_memory.model.query import SearchSettings
    from hivemind_memory.model.time_spans import TimeSpan

SCORE_EXPONENT = 1 / 3
"""A score is the cube root of a raw score: the order is the same, and a person reads
0.8 where all words are in one chunk, 0.5 where a quarter of their weight does."""

ALL_WORDS_RAW_SCORE = 0.5**3
"""The raw score of the score 0.5, which a chunk with all words of the query has at
least, however long it is."""


TIME_REACH = 0.5
"""The fraction of its raw score that a chunk gains if it dates from a time named in the
query: at most 15 % of its score, so the words still decide."""

WRITTEN_AFTER_DAYS = 5
"""Days after such a time in which the gain falls to a third."""

IMPORTANCE_REACH = 0.05
"""How much of its raw score the most important memory gains over free text, and the
least important loses: half of what age takes at most. docs/decisions/015 has the
figures."""


class RankedChunk(NamedTuple):
    """A candidate with all that its score is made of."""

    place: ChunkLocation
    fused: FusedScore
    words: WordScore | None
    """None: found by its vector only."""

    cosine: float | None
    """None: no vector of it was compared."""

    raw_score: float
    """Before age: what ``min_score`` judges, as ``relevance`` below."""

    age: float
    """Factor, 0..1."""

    importance: float = 1.0
    """Factor around 1; see ``IMPORTANCE_REACH``."""

    dispute: float = 1.0
    """Factor, 0..1, that puts a disputed memory below the newer one."""

    disputed_by: str = ""
    """Place of the newer memory, ``path:line``; empty: nothing among the answers."""

    time: float = 1.0
    """Factor, 1 or more, for what is from a time that the query names."""

    nearness: float = 0.0
    """How near it is to the caller, 0..1; see ``search.nearness``."""

    by_reranker: float = 0.0
    """What the reranker adds to its raw score, or takes; see ``search.reranking``."""

    reranker: str = ""
    """Provider and model of that reranker; empty: none has read it."""

    @property
    def weight(self) -> float:
        """What the order goes by."""
        return nearer(self.timed_weight, self.nearness) * self.dispute

    @property
    def evidence_weight(self) -> float:
        """What the order would go by if nothing were near to the caller."""
        return self.timed_weight * self.dispute

    @property
    def timed_weight(self) -> float:
        """The raw score after reranking, age, importance and time."""
        return self.reranked_raw_score * self.age * self.importance * self.time

    @property
    def reranked_raw_score(self) -> float:
        """The raw score with what the reranker makes of it."""
        return self.raw_score + self.by_reranker

    @property
    def order(self) -> tuple[float, int, str, int]:
        """What candidates are sorted by, best first.

        Of equal ones the newer comes first, then by place: so an answer is the same
        each time and after a rebuild, which numbers the chunks anew.
        """
        return self._ordered_by(self.weight)

    @property
    def evidence_order(self) -> tuple[float, int, str, int]:
        """What candidates would be sorted by if nothing were near to the caller."""
        return self._ordered_by(self.evidence_weight)

    def _ordered_by(self, weight: float) -> tuple[float, int, str, int]:
        """Return what sorts by a weight, the heaviest first."""
        place = self.place
        return (-weight, -(place.day or 0), place.path, place.start_line)

    @property
    def relevance(self) -> float:
        """The score before age, 0..1."""
        return score_of(self.raw_score)

    @property
    def score(self) -> float:
        """The score, 0..1."""
        return score_of(self.weight)


class Ranking(NamedTuple):
    """Candidates in order, and how many were not relevant enough."""

    ranked: list[RankedChunk]
    below_min_score: int


def score_of(raw_score: float) -> float:
    """Return the score that a person sees for a raw score."""
    return float(min(1.0, max(0.0, raw_score)) ** SCORE_EXPONENT)


def age_factor(
    day: int | None, today: int, *, half_life_days: float, floor: float
) -> float:
    """Return the share of its raw score that a memory of *day* keeps, in floor..1.

    Exponential decay toward the floor, not to nothing: notes that stay true for
    years must not vanish behind yesterday's.

    Args:
        day: Day of the entry, in days since the epoch; None: it does not age.
        today: The same clock.
        half_life_days: Days after which half of what age may take is gone, above 0.
        floor: The least that is left, 0..1; 0 is plain exponential decay.

    >>> age_factor(0, 69, half_life_days=69, floor=0.9)
    0.95
    """
    if day is None or day >= today:
        return 1.0
    kept = exp(-log(2) * (today - day) / half_life_days)
    return floor + (1 - floor) * kept


def time_factor(day: int | None, spans: Sequence[TimeSpan]) -> float:
    """Return what the times that a query names make of a raw score, 1 or more.

    A note of that time gains most. One of the days after it gains less by each day:
    what happened is often written down later. Nothing is left out.

    >>> time_factor(10, [TimeSpan(9, 10)]), time_factor(8, [TimeSpan(9, 10)])
    (1.5, 1.0)
    """
    if day is None:
        return 1.0
    late = [day - span.last for span in spans if day >= span.first]
    if not late:
        return 1.0
    return 1 + TIME_REACH * exp(-max(0, min(late)) / WRITTEN_AFTER_DAYS)


def importance_factor(importance: float | None) -> float:
    """Return what importance makes of a raw score; free text stays as it is.

    >>> importance_factor(None), importance_factor(1.0), importance_factor(0.0)
    (1.0, 1.05, 0.95)
    """
    if importance is None:
        return 1.0
    return 1 + IMPORTANCE_REACH * (importance - NEUTRAL_IMPORTANCE) / NEUTRAL_IMPORTANCE


def rank(
    words: WordMatches,
    vectors: VectorMatches | None,
    places: Mapping[int, ChunkLocation],
    *,
    settings: SearchSettings,
    today: int,
    spans: Sequence[TimeSpan] = (),
    near: Mapping[str, float] | None = None,
) -> Ranking:
    """Return the candidates of both retrievers, best first.

    Args:
        words: What the retriever of words found.
        vectors: What the retriever of vectors found; None: it did not speak.
        places: Chunk -> where it is, for every candidate that may be shown.
        settings: How to fuse and weigh.
        today: Days since the epoch.
        spans: The times that the query names.
        near: Scope -> nearness of its free text; None: nothing is near.
    """
    raw_scores = word_scores(words)
    fused = _fuse(words, raw_scores, vectors, settings)
    asked = word_count(words)
    least = settings.min_score
    ranked = []
    below = 0
    for chunk, evidence in fused.items():
        place = places.get(chunk)
        if place is None:  # it went while we looked
            continue
        by_words = raw_scores.get(chunk)
        raw_score = evidence.raw_score
        if by_words is not None and asked and by_words.found == asked:
            raw_score = max(raw_score, ALL_WORDS_RAW_SCORE)
        if raw_score <= 0 or score_of(raw_score) < least:
            below += 1
            continue
        age = age_factor(
            place.day if place.ages else None,
            today,
            half_life_days=settings.half_life_days,
            floor=settings.decay_floor,
        )
        cosine = vectors.cosines.get(chunk) if vectors else None
        importance = importance_factor(place.importance)
        candidate = RankedChunk(
            place, evidence, by_words, cosine, raw_score, age, importance
        )
        if spans:
            candidate = candidate._replace(time=time_factor(place.day, spans))
        if near and (nearness := nearness_of(place, near)):
            weighed = settings.nearness_weight * nearness
            candidate = candidate._replace(nearness=weighed)
        ranked.append(candidate)
    ranked.sort(key=lambda candidate: candidate.order)
    return Ranking(ranked, below)


def by_evidence(ranked: Sequence[RankedChunk]) -> Sequence[RankedChunk]:
    """Return candidates in the order that they have if nothing is near to the caller.

    Where a text lies says nothing of how well it answers.
    """
    if not any(candidate.nearness for candidate in ranked):
        return ranked
    return sorted(ranked, key=lambda candidate: candidate.evidence_order)


def list_in_order(places: Sequence[ChunkLocation]) -> Ranking:
    """Return chunks that answer no query as they are; none has a score."""
    nothing = FusedScore(0.0, 0.0)
    return Ranking(
        [RankedChunk(place, nothing, None, None, 0.0, 1.0) for place in places], 0
    )


def _fuse(
    matches: WordMatches,
    raw_scores: Mapping[int, WordScore],
    vectors: VectorMatches | None,
    settings: SearchSettings,
) -> dict[int, FusedScore]:
    """Fuse the retrievers as the settings say."""
    words = {chunk: found.total for chunk, found in raw_scores.items()}
    if vectors is None:
        return fuse_words(words)
    if settings.fusion == "weighted":
        return fuse_weighted(words, vectors, weight=settings.weighted_vector_weight)
    if settings.fusion == "rrf":
        return fuse_ranks(words, vectors)
    weight = vector_weight_of(matches, settings.vector_weight)
    return fuse_standardised(words, vectors, weight=weight)
