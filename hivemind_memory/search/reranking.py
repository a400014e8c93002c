"""Puts the best candidates in the order that a reranker adds to their own.

Pure. A deviation counts alike in both: the scores of the reranker, whatever their
scale, are standardized and written on the scale of the raw scores. So everything that
follows, such as age and superseding, works as without a reranker.
"""

from __future__ import annotations

from math import exp, sqrt

from hivemind_memory.search.fusion import raw_score_deviation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.search.ranking import RankedChunk

RERANK_WEIGHT = 0.5
"""Share of the reranker, 0 to below 1: what finds and what reads count alike."""


def rerank(
    ranked: Sequence[RankedChunk], scores: Mapping[int, float], *, reranker: str
) -> list[RankedChunk]:
    """Return the candidates in their new order.

    Args:
        ranked: Candidates, best first.
        scores: Chunk -> what the reranker says; the others keep their raw score.
        reranker: Its name, for the explanation.
    """
    read = [each for each in ranked if each.place.chunk_id in scores]
    said = [scores[each.place.chunk_id] for each in read]
    deviation = _deviation(said)
    if not deviation:  # one candidate, or all alike
        return list(ranked)
    raw_scores = [each.raw_score for each in read]
    factor = raw_score_deviation(raw_scores) * RERANK_WEIGHT / (1 - RERANK_WEIGHT)
    mean_raw_score, mean = sum(raw_scores) / len(read), sum(said) / len(read)
    new = {
        each.place.chunk_id: each._replace(
            by_reranker=_above_zero(
                each.raw_score + factor * (score - mean) / deviation, mean_raw_score
            )
            - each.raw_score,
            reranker=reranker,
        )
        for each, score in zip(read, said, strict=True)
    }
    found = [new.get(each.place.chunk_id, each) for each in ranked]
    found.sort(key=lambda candidate: candidate.order)
    return found


def _above_zero(raw_score: float, mean: float) -> float:
    """Return a raw score that keeps its order and never falls to 0.

    Below the mean it approaches 0 instead: age multiplies, and would lift what is
    below 0.
    """
    if raw_score >= mean:
        return raw_score
    return mean * exp((raw_score - mean) / mean)


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of values."""
    mean = sum(values) / max(1, len(values))
    return sqrt(sum((value - mean) ** 2 for value in values) / max(1, len(values)))
