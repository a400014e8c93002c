"""Which chunks are ranked, and what their scores may be."""

from __future__ import annotations

import pytest

from hivemind_memory.model.query import SearchSettings
from hivemind_memory.search.ranking import ALL_WORDS_RAW_SCORE, rank, score_of
from tests.search.evidence import (
    TODAY,
    candidate,
    matches,
    place,
    term,
    vectors,
)


def test_the_threshold_is_judged_before_age() -> None:
    """Age alone never hides an answer."""
    found = matches([term("port", 5)], candidate(1, (1, 0), day=TODAY - 9_000))
    wanted = SearchSettings(decay_floor=0.0, min_score=0.5)

    ranking = rank(
        found, None, {1: found.candidates[0].place}, settings=wanted, today=TODAY
    )

    [one] = ranking.ranked
    assert one.relevance >= 0.5 > one.score


def test_all_words_of_the_question_are_half_at_least() -> None:
    """However long the chunk, and whatever the vectors say against it."""
    found = matches(
        [term("port", 800), term("staging", 900)],
        candidate(1, (1, 0), (1, 0), length=5_000),
    )
    places = {1: place(1)}

    for retriever in (None, vectors({1: -0.5})):
        [one] = rank(
            found, retriever, places, settings=SearchSettings(), today=TODAY
        ).ranked
        assert one.relevance >= 0.5
    assert score_of(ALL_WORDS_RAW_SCORE) == pytest.approx(0.5)


def test_a_chunk_that_went_meanwhile_is_no_hit() -> None:
    """It was found by a retriever, and has no place any more."""
    found = matches([term("port", 5)], candidate(1, (1, 0)), candidate(2, (1, 0)))

    ranking = rank(found, None, {2: place(2)}, settings=SearchSettings(), today=TODAY)

    assert [one.place.chunk_id for one in ranking.ranked] == [2]


def test_a_score_grows_with_its_raw_score_and_stays_in_0_to_1() -> None:
    """Whatever a formula makes of its figures."""
    raw_scores = [-1, 0, 0.001, 0.2, 0.5, 1, 7]

    scores = [score_of(raw_score) for raw_score in raw_scores]

    assert scores == sorted(scores)
    assert len(set(scores[1:6])) == 5
    assert (scores[0], scores[-1]) == (0, 1)
