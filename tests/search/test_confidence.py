"""A confidence says how likely a hit answers, by evidence that every memory has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.model.matches import WordCandidate
from hivemind_memory.model.query import STRONG, SearchSettings
from hivemind_memory.search.confidence import (
    MODEL,
    Assessment,
    Evidence,
    assess,
    confidence_of,
    evidence_of,
    level_of,
)
from hivemind_memory.search.hit_selection import SelectedHit
from hivemind_memory.search.ranking import RankedChunk, rank
from tests.search.evidence import TODAY, candidate, matches, term, vectors

TERMS = [term(text, 10) for text in ("grey", "whales", "sleep", "deep")]
shares = st.floats(0, 1)


def ranked_of(
    *candidates: WordCandidate, cosines: dict[int, float] | None = None
) -> list[RankedChunk]:
    """Rank chunks for a question of four words, all of them rare."""
    return rank(
        matches(TERMS, *candidates),
        vectors(cosines) if cosines else None,
        {one.place.chunk_id: one.place for one in candidates},
        settings=SearchSettings(min_score=0.0),
        today=TODAY,
    ).ranked


def assess_all(ranked: list[RankedChunk], fusion: str = "") -> Assessment:
    """Assess an answer that shows every candidate."""
    hits = [SelectedHit(one, 0.0, one.score) for one in ranked]
    return assess(ranked, hits, words=matches(TERMS), fusion=fusion)


@given(
    counts=st.lists(
        st.lists(st.integers(0, 30), min_size=4, max_size=4).filter(any),
        min_size=1,
        max_size=30,
    ),
    fusion=st.sampled_from(["", "standardised", "weighted", "rrf"]),
)
def test_confidences_are_shares_and_one_for_each_hit(
    counts: list[list[int]], fusion: str
) -> None:
    """However many candidates there are, and however they were fused."""
    chunks = [
        candidate(number, *((count, 0) for count in found))
        for number, found in enumerate(counts, start=1)
    ]
    cosines = dict.fromkeys(range(1, len(chunks) + 1), 0.3) if fusion else None
    ranked = ranked_of(*chunks, cosines=cosines)

    assessed = assess_all(ranked, fusion)

    assert len(assessed.confidences) == len(ranked)
    assert all(0 <= confidence <= 1 for confidence in assessed.confidences)


@given(found=st.integers(1, 4), others=st.integers(0, 12))
def test_who_finds_more_of_the_question_is_trusted_more(
    found: int, others: int
) -> None:
    """With the same rivals around, another rare word never lowers a confidence."""
    rivals = [
        candidate(10 + number, (1, 0), (0, 0), (0, 0), (0, 0))
        for number in range(others)
    ]
    fewer, more = (
        candidate(1, *((int(place < words), 0) for place in range(4)))
        for words in (found - 1, found)
    )
    confidences = []
    for chunk in [fewer, more] if found > 1 else [more]:
        ranked = ranked_of(chunk, *rivals)
        [at] = [n for n, one in enumerate(ranked) if one.place.chunk_id == 1]
        confidences.append(assess_all(ranked).confidences[at])

    assert confidences == sorted(confidences)


@given(lead=st.floats(-4, 4), relevance=shares, words=st.floats(0, 4), more=shares)
def test_each_evidence_speaks_for_a_chunk_and_rivals_against_it(
    lead: float, relevance: float, words: float, more: float
) -> None:
    """The signs of the coefficients are what their names say."""
    plain = Evidence(lead=lead, relevance=relevance, words=words, rivals=1.0)
    confidence = confidence_of(plain)

    for name in ("lead", "relevance", "words"):
        better = plain._replace(**{name: getattr(plain, name) + more})
        assert confidence_of(better) >= confidence
    assert confidence_of(plain._replace(rivals=1.0 + more)) <= confidence
    assert MODEL.rivals < 0


def test_equal_rivals_share_the_confidence_and_the_answer_stays_strong() -> None:
    """Ten chunks that answer alike: each is seldom the right one, one of them is."""
    alone = ranked_of(candidate(1, (2, 0), (2, 0), (2, 0), (0, 0)))
    alike = ranked_of(
        *(candidate(number, (2, 0), (2, 0), (2, 0), (0, 0)) for number in range(1, 11))
    )

    [best] = assess_all(alone).confidences
    shared = assess_all(alike)

    assert max(shared.confidences) < best
    assert shared.level == STRONG


def test_one_word_of_four_in_common_is_no_answer() -> None:
    """A question of another matter shares a word with some note."""
    assessed = assess_all(ranked_of(candidate(1, (0, 0), (0, 0), (1, 0), (0, 0))))

    assert assessed.level != STRONG


def test_a_word_that_a_small_memory_lacks_counts_less() -> None:
    """That *which* and *use* stand in none of three notes says little."""
    terms = [term("port", 1), term("staging", 1), term("which", 0), term("use", 0)]
    chunk = candidate(1, (1, 0), (1, 0))
    found = {}
    for total in (3, 3000):
        words = matches(terms, chunk, total=total)
        ranked = rank(
            words, None, {1: chunk.place}, settings=SearchSettings(), today=TODAY
        ).ranked
        [found[total]] = evidence_of(ranked, ranked, words=words)

    assert found[3].relevance > found[3000].relevance


def test_every_word_in_one_long_chunk_is_strong() -> None:
    """What holds all that was asked is what was looked for, however long it is."""
    long = candidate(1, (1, 0), (1, 0), (1, 0), (1, 0), length=5000)

    assert assess_all(ranked_of(long)).level == STRONG


def test_where_nothing_is_asked_nothing_is_assessed() -> None:
    """A list by filters has no question that a hit could answer."""
    ranked = ranked_of(candidate(1, (1, 0), (1, 0), (0, 0), (0, 0)))
    hits = [SelectedHit(one, 0.0, one.score) for one in ranked]

    assert assess(ranked, hits, words=matches([])) == Assessment("", [0.0])


def test_other_fusions_are_judged_by_the_words() -> None:
    """Their raw scores have another scale: of ranks, the best of a bad lot has 1."""
    ranked = ranked_of(candidate(1, (0, 0), (0, 0), (1, 0), (0, 0)), cosines={1: 0.9})
    by_rank = [one._replace(raw_score=1.0) for one in ranked]

    [evidence] = evidence_of(by_rank, by_rank, words=matches(TERMS), fusion="rrf")

    assert evidence.relevance < 0.6
    assert level_of([confidence_of(evidence)]) != STRONG
