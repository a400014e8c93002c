"""What a reranker changes in the order and in the scores, and what it leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.search.explanation import explain
from hivemind_memory.search.fusion import FusedScore
from hivemind_memory.search.hit_selection import SelectedHit
from hivemind_memory.search.ranking import RankedChunk
from hivemind_memory.search.reranking import rerank
from tests.search.evidence import place


def ranked(*raw_scores: float, age: float = 1.0) -> list[RankedChunk]:
    """Return candidates 1, 2 … with these raw scores."""
    return [
        RankedChunk(
            place(number), FusedScore(raw_score, 0.0), None, None, raw_score, age
        )
        for number, raw_score in enumerate(raw_scores, start=1)
    ]


def numbers(candidates: list[RankedChunk]) -> list[int]:
    return [candidate.place.chunk_id for candidate in candidates]


def test_both_orders_count_alike() -> None:
    """A clear word of the reranker outweighs a small lead, not a large one."""
    close = rerank(ranked(0.31, 0.30, 0.29), {1: 0.1, 2: 0.2, 3: 9.0}, reranker="fake")
    clear = rerank(ranked(0.9, 0.1, 0.1), {1: 0.1, 2: 0.2, 3: 0.3}, reranker="fake")

    assert numbers(close) == [3, 1, 2]
    assert numbers(clear)[0] == 1


def test_the_scale_of_a_reranker_does_not_matter() -> None:
    """Some give any number, some a probability."""
    said = {1: -3.0, 2: 4.0, 3: 0.5}
    as_shares = {chunk: score / 1000 for chunk, score in said.items()}

    one, other = (
        rerank(ranked(0.4, 0.3, 0.2), scores, reranker="fake")
        for scores in (said, as_shares)
    )

    assert numbers(one) == numbers(other)
    assert [each.score for each in one] == pytest.approx([each.score for each in other])


def test_what_was_not_read_keeps_its_score() -> None:
    before = ranked(0.5, 0.4, 0.3, 0.2)

    after = rerank(before, {1: 0.0, 2: 1.0}, reranker="fake")

    assert before[2] in after
    assert before[3] in after


@pytest.mark.parametrize("scores", [{}, {1: 5.0}, {1: 2.0, 2: 2.0}])
def test_a_reranker_that_prefers_nothing_changes_nothing(
    scores: dict[int, float],
) -> None:
    before = ranked(0.5, 0.4)

    assert rerank(before, scores, reranker="fake") == before


@given(
    st.lists(st.tuples(st.floats(0.001, 3), st.floats(-50, 50)), min_size=2),
    st.floats(0.1, 1),
)
def test_the_parts_of_a_reranked_score_add_up(
    given: list[tuple[float, float]], age: float
) -> None:
    """And no score falls to nothing, where age would lift it."""
    candidates = ranked(*sorted([raw for raw, _ in given], reverse=True), age=age)
    scores = {number: score for number, (_, score) in enumerate(given, start=1)}

    found = rerank(candidates, scores, reranker="fake")

    assert sorted(numbers(found)) == sorted(numbers(candidates))
    weights = [each.weight for each in found]
    assert weights == sorted(weights, reverse=True)
    for each in found:
        assert each.reranked_raw_score >= 0
        parts = explain(SelectedHit(each, 0.0, each.score))
        total = sum(part.value for part in parts)
        assert total == pytest.approx(each.score - each.relevance, abs=1e-9)
