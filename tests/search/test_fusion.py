"""Two retrievers become one raw score, by formulas that can be checked from outside."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.model.matches import VectorMatches
from hivemind_memory.model.query import SearchSettings
from hivemind_memory.search.fusion import (
    FusedScore,
    fuse_ranks,
    fuse_standardised,
    fuse_weighted,
    fuse_words,
)
from hivemind_memory.search.ranking import rank
from tests.search.evidence import (
    TODAY,
    both_retrievers,
    candidate,
    matches,
    place,
    term,
    vectors,
)
from tests.support.tiers import examples

Retrieved = tuple[dict[int, float], VectorMatches]


def deviation(values: list[float], usual: float) -> float:
    """Return the deviation, with ten more values of the usual one."""
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values) + 10 * usual**2
    return sqrt(squares / (len(values) + 10))


@settings(max_examples=examples(300), deadline=None)
@given(retrievers=both_retrievers(), weight=st.floats(0, 0.95))
def test_the_order_is_that_of_the_convex_sum_of_standardised_scores(
    retrievers: Retrieved, weight: float
) -> None:
    """The formula is written another way, so that a raw score keeps its meaning."""
    everything, found = retrievers
    words = {chunk: one for chunk, one in everything.items() if chunk in found.cosines}
    fused = fuse_standardised(words, found, weight=weight)
    chunks = list(fused)
    two_level = {
        chunk: (cosine + found.subchunk_cosines[chunk]) / 2
        for chunk, cosine in found.cosines.items()
    }
    by_words = [words.get(chunk, 0.0) for chunk in chunks]
    by_vectors = [two_level[chunk] for chunk in chunks]
    spread_words = deviation(by_words, 0.12)
    spread_vectors = deviation(by_vectors, 0.1)
    convex = {
        chunk: (1 - weight) * word / spread_words + weight * cosine / spread_vectors
        for chunk, word, cosine in zip(chunks, by_words, by_vectors, strict=True)
    }

    for one, other in combinations(chunks, 2):
        expected = convex[one] - convex[other]
        if abs(expected) > 1e-6:
            assert (fused[one].raw_score - fused[other].raw_score) * expected > 0


@settings(max_examples=examples(200), deadline=None)
@given(both_retrievers())
def test_without_weight_the_vectors_change_nothing(retrievers: Retrieved) -> None:
    """0 is words alone."""
    words, found = retrievers

    fused = fuse_standardised(words, found, weight=0.0)

    for chunk, one in fused.items():
        assert one.raw_score == pytest.approx(words.get(chunk, 0.0))


@settings(max_examples=examples(200), deadline=None)
@given(both_retrievers())
def test_every_candidate_of_either_retriever_is_fused(retrievers: Retrieved) -> None:
    """By each of the three formulas; and none is made up."""
    words, found = retrievers
    everybody = {*words, *found.cosines}

    assert fuse_standardised(words, found, weight=0.4).keys() == everybody
    assert fuse_weighted(words, found, weight=0.6).keys() == everybody
    assert fuse_ranks(words, found).keys() == everybody
    assert fuse_words(words).keys() == words.keys()


def test_a_text_without_a_vector_is_neither_praised_nor_blamed() -> None:
    """It was written a second ago."""
    fused = fuse_standardised({1: 0.5}, vectors({2: 0.9}), weight=0.4)

    assert fused[1].vectors == 0
    assert fused[1].raw_score == 0.5


def named_or_not(
    *counts: tuple[int, int], unknown: int = 0
) -> tuple[FusedScore, FusedScore]:
    """Return how a chunk under such headings is fused, and one that vectors prefer."""
    terms = [term(f"word{at}", 40) for at in range(len(counts))]
    terms += [term(f"unknown{at}", 0) for at in range(unknown)]
    found = matches(terms, candidate(1, *counts), candidate(2, *[(1, 0)] * len(counts)))
    places = {1: place(1), 2: place(2)}
    ranking = rank(
        found,
        vectors({1: 0.3, 2: 0.7}),
        places,
        settings=SearchSettings(min_score=0.0),
        today=TODAY,
    )
    by_chunk = {chunk.place.chunk_id: chunk.fused for chunk in ranking.ranked}
    return by_chunk[1], by_chunk[2]


def test_a_question_that_names_a_section_finds_it_first() -> None:
    """Vectors don't read headings: a section about the same is nearer."""
    named, other = named_or_not((0, 1), (1, 1))

    assert named.raw_score > other.raw_score


@pytest.mark.parametrize(
    ("counts", "unknown"), [([(0, 1), (1, 0)], 0), ([(0, 1), (1, 1)], 1)]
)
def test_a_question_of_more_than_headings_is_left_to_the_vectors(
    counts: list[tuple[int, int]], unknown: int
) -> None:
    """A word that no heading has, or no note, asks for something about it."""
    by_headings, other = named_or_not(*counts, unknown=unknown)

    assert other.raw_score > by_headings.raw_score


def test_an_unrelated_cosine_speaks_against_a_chunk() -> None:
    """And a related one for it: what a stranger has is known from all chunks."""
    fused = fuse_standardised({}, vectors({1: 0.8, 2: 0.05}), weight=0.4)

    assert fused[1].vectors > 0 > fused[2].vectors


def test_a_raw_score_means_the_same_with_one_retriever_or_two() -> None:
    """Half the notes have vectors: those without must not drop out of the answer."""
    words = dict.fromkeys(range(10), 0.3)
    cosines = dict.fromkeys(range(5), 0.25)

    fused = fuse_standardised(words, vectors(cosines), weight=0.4)

    raw_scores = [one.raw_score for one in fused.values()]
    assert max(raw_scores) - min(raw_scores) < 0.15


@settings(max_examples=examples(200), deadline=None)
@given(both_retrievers())
def test_weighted_and_ranks_stay_in_0_to_1(retrievers: Retrieved) -> None:
    """They are settings; a threshold must not drop everything or nothing."""
    words, found = retrievers
    weighted = fuse_weighted(words, found, weight=0.6)
    for fused in (weighted, fuse_ranks(words, found)):
        for fused_score in fused.values():
            assert -1e-9 <= fused_score.raw_score <= 1 + 1e-9


def test_first_in_both_retrievers_is_1_by_ranks() -> None:
    """And the formula is the published one."""
    fused = fuse_ranks({1: 0.9, 2: 0.5}, vectors({1: 0.9, 3: 0.5}))

    assert fused[1].raw_score == pytest.approx(1)
    assert fused[2].raw_score == pytest.approx((1 / 62) * 61 / 2)
    assert fused[3].raw_score == fused[2].raw_score


def test_equal_candidates_share_a_rank() -> None:
    """Their ids decided, and a rebuild gives them other ids."""
    fused = fuse_ranks({1: 0.9, 2: 0.9, 3: 0.5}, vectors({1: 0.4, 2: 0.4, 3: 0.4}))

    assert fused[1] == fused[2]
    assert fused[3].words < fused[1].words
    assert fused[3].vectors == fused[1].vectors


@pytest.mark.parametrize(("weight", "best"), [(0.0, 1), (1.0, 2), (0.7, 2), (0.3, 1)])
def test_the_weight_of_the_weighted_fusion_is_an_option(
    weight: float, best: int
) -> None:
    """It was fixed at 0.6, and the option for it was silently without effect."""
    chosen = SearchSettings(fusion="weighted", weighted_vector_weight=weight)
    words = matches([term("a", 5)], candidate(1, (3, 0)), candidate(2, (0, 0)))
    found = vectors({1: 0.2, 2: 0.9})
    places = {one.place.chunk_id: one.place for one in words.candidates}

    ranking = rank(words, found, places, settings=chosen, today=0)

    assert ranking.ranked[0].place.chunk_id == best
