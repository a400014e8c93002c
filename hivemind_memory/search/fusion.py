"""From the evidence of two lanes to one strength.

A strength is what chunks are ordered by: larger is better, additive, on the scale of
the words (1 is more than any chunk can reach). What each lane gives is kept apart, so
the strength and its explanation cannot disagree.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.model.matches import VectorMatches

RRF_K = 60
"""Rank offset of reciprocal rank fusion (Cormack, Clarke, Buettcher: Reciprocal rank
fusion, SIGIR 2009)."""

WORD_SHARE, VECTOR_SHARE = 0.4, 0.6
"""The weights of the ``weighted`` fusion."""

UNRELATED_DEVIATIONS = 1.5
"""A cosine so many deviations above the mean over all chunks is where being related
begins: below it the lane of vectors speaks against a chunk."""

# What a question usually meets, worth so many chunks beside the measured ones: with a
# handful of chunks a mean and a deviation say little. Measured with four models.
_USUAL_WEIGHT = 20
_USUAL_BACKGROUND = 0.1
_USUAL_DEVIATION = 0.1
_USUAL_CANDIDATES = 10
_USUAL_WORD_DEVIATION = 0.12


class FusedScore(NamedTuple):
    """What each lane gives to a chunk's strength."""

    words: float
    vectors: float
    """Below 0 when the lane speaks against the chunk."""

    @property
    def raw_score(self) -> float:
        """The sum of the lanes."""
        return self.words + self.vectors


def fuse_words(words: Mapping[int, float]) -> dict[int, FusedScore]:
    """Return the strengths when the lane of words is alone."""
    return {chunk: FusedScore(strength, 0.0) for chunk, strength in words.items()}


def fuse_standardised(
    words: Mapping[int, float], vectors: VectorMatches, *, weight: float
) -> dict[int, FusedScore]:
    """Return strengths where a deviation of one lane counts like one of the other.

    Both lanes know every candidate (no word found: 0; no vector: as an unrelated
    text). *weight* of a standardised cosine and 1 - *weight* of a standardised word
    strength, written on the scale of the words:

        strength = words + weight / (1 - weight) * s_words / s_cosines * (cosine - o)

    The order does not depend on the offset o; it is where being related begins, so
    that a strength means the same whether one lane spoke or two.

    Args:
        words: Strength by the lane of words, by chunk.
        vectors: Cosines of every candidate.
        weight: Share of the vectors, 0 to below 1.
    """
    cosines = _two_level(vectors)
    chunks = {**dict.fromkeys(words), **dict.fromkeys(cosines)}
    offset = _related_from(vectors)
    found = [words.get(chunk, 0.0) for chunk in chunks]
    alike = [cosines.get(chunk, offset) for chunk in chunks]
    ratio = _deviation(found, _USUAL_WORD_DEVIATION) / _deviation(
        alike, _USUAL_DEVIATION
    )
    factor = ratio * weight / max(1e-6, 1 - weight)
    return {
        chunk: FusedScore(word, factor * (cosine - offset))
        for chunk, word, cosine in zip(chunks, found, alike, strict=True)
    }


def fuse_weighted(
    words: Mapping[int, float], vectors: VectorMatches
) -> dict[int, FusedScore]:
    """Return 0.6 * cosine + 0.4 * word strength as a share of the best one."""
    cosines = _two_level(vectors)
    best = max(words.values(), default=0.0) or 1.0
    return {
        chunk: FusedScore(
            WORD_SHARE * words.get(chunk, 0.0) / best,
            VECTOR_SHARE * max(0.0, cosines.get(chunk, 0.0)),
        )
        for chunk in {**dict.fromkeys(words), **dict.fromkeys(cosines)}
    }


def fuse_ranks(
    words: Mapping[int, float], vectors: VectorMatches, *, k: int = RRF_K
) -> dict[int, FusedScore]:
    """Return reciprocal rank fusion, scaled so that first in both lanes is 1."""
    cosines = _two_level(vectors)
    by_words, by_vectors = (_ranks(lane, k=k) for lane in (words, cosines))
    scale = (k + 1) / 2
    return {
        chunk: FusedScore(
            scale * by_words.get(chunk, 0.0), scale * by_vectors.get(chunk, 0.0)
        )
        for chunk in {**by_words, **by_vectors}
    }


def _two_level(vectors: VectorMatches) -> dict[int, float]:
    """Return the mean of a chunk's cosine and that of its best unit."""
    units = vectors.subchunk_cosines
    return {
        chunk: (cosine + units[chunk]) / 2 for chunk, cosine in vectors.cosines.items()
    }


def _related_from(vectors: VectorMatches) -> float:
    """Return the cosine from which a text counts as related to the question."""
    count = vectors.chunk_count
    total = count + _USUAL_WEIGHT
    mean = (count * vectors.background + _USUAL_WEIGHT * _USUAL_BACKGROUND) / total
    spread = (
        count * (vectors.deviation**2 + (vectors.background - mean) ** 2)
        + _USUAL_WEIGHT * _USUAL_DEVIATION**2
    ) / total
    return mean + UNRELATED_DEVIATIONS * sqrt(spread)


def _deviation(values: list[float], usual: float) -> float:
    """Return the standard deviation of *values*, leaning to the usual one if few."""
    count = len(values)
    mean = sum(values) / max(1, count)
    squares = sum((value - mean) ** 2 for value in values)
    return sqrt((squares + _USUAL_CANDIDATES * usual**2) / (count + _USUAL_CANDIDATES))


def _ranks(found: Mapping[int, float], *, k: int) -> dict[int, float]:
    """Return 1 / (k + rank) for each chunk that a retriever found.

    Equal scores share a rank: by their ids one would go first that a rebuild puts last.
    """
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(found.values(), reverse=True), start=1):
        ranks.setdefault(score, rank)
    return {chunk: 1 / (k + ranks[score]) for chunk, score in found.items()}
