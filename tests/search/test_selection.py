"""What is shown, in which order, and that each score can be explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.model.matches import ChunkLocation, VectorMatches, WordMatches
from hivemind_memory.model.query import SearchSettings
from hivemind_memory.search.explanation import explain
from hivemind_memory.search.fusion import FusedScore
from hivemind_memory.search.hit_selection import HitSelection, SelectedHit, choose
from hivemind_memory.search.ranking import (
    RankedChunk,
    rank,
)
from tests.search.evidence import (
    TODAY,
    both_retrievers,
    place,
    word_matches,
)
from tests.support.tiers import examples


def ranked(where: ChunkLocation, raw_score: float, *, age: float = 1.0) -> RankedChunk:
    return RankedChunk(where, FusedScore(raw_score, 0.0), None, None, raw_score, age)


def shown(
    candidates: Sequence[RankedChunk],
    texts: Mapping[int, str] | None = None,
    *,
    limit: int = 10,
    diversity: float | None = None,
) -> HitSelection:
    return choose(
        candidates,
        lambda chunks: {chunk: (texts or {}).get(chunk, "") for chunk in chunks},
        limit=limit,
        diversity=diversity,
    )


def numbers(choice: HitSelection) -> list[int]:
    return [chosen.ranked.place.chunk_id for chosen in choice.hits]


settings_of = st.builds(
    SearchSettings,
    min_score=st.sampled_from([0.0, 0.3, 0.7]),
    fusion=st.sampled_from(["standardised", "weighted", "rrf"]),
    vector_weight=st.floats(0, 0.95),
    weighted_vector_weight=st.floats(0, 1),
    half_life_days=st.floats(1, 1000),
    decay_floor=st.floats(0, 1),
)
word = st.sampled_from(
    ["we", "deploy", "on", "tuesday", "the", "port", "is", "five", "of", "staging"]
)


@settings(max_examples=examples(300), deadline=None)
@given(
    words=word_matches(),
    retrievers=st.none() | both_retrievers(),
    wanted=settings_of,
    texts=st.lists(st.lists(word, max_size=6), min_size=31, max_size=31),
    diversity=st.none() | st.floats(0, 1),
)
def test_the_parts_of_a_score_add_up_to_it(
    words: WordMatches,
    retrievers: tuple[dict[int, float], VectorMatches] | None,
    wanted: SearchSettings,
    texts: list[list[str]],
    diversity: float | None,
) -> None:
    """For every formula, age, threshold, copy and order."""
    found = retrievers[1] if retrievers else None
    places = {one.place.chunk_id: one.place for one in words.candidates}
    for chunk in found.cosines if found else ():
        places.setdefault(chunk, place(chunk, day=TODAY - chunk * 50))

    ranking = rank(words, found, places, settings=wanted, today=TODAY)
    choice = shown(
        ranking.ranked,
        {chunk: " ".join(text) for chunk, text in enumerate(texts)},
        diversity=diversity,
        limit=50,
    )

    assert len(choice.hits) == len(ranking.ranked) - choice.overlapping
    assert len(ranking.ranked) + ranking.below_min_score == len(places)
    for chosen in choice.hits:
        total = sum(part.value for part in explain(chosen))
        assert total == pytest.approx(chosen.score, abs=1e-9)
        assert 0 <= chosen.score <= 1
        assert chosen.ranked.relevance >= wanted.min_score
        assert chosen.ranked.score <= chosen.ranked.relevance + 1e-12
    if diversity is None:
        scores = [chosen.score for chosen in choice.hits]
        assert scores == sorted(scores, reverse=True)


def test_chunks_that_share_a_line_are_one_hit() -> None:
    """A long line was cut within: both ends would be cited by the same number."""
    candidates = [
        ranked(place(1, path="a.md", line=1), 0.5),
        ranked(place(2, path="a.md", line=4), 0.4),
        ranked(place(3, path="a.md", line=5), 0.3),
        ranked(place(4, path="b.md", line=1), 0.2),
    ]

    choice = shown(candidates)

    assert numbers(choice) == [1, 3, 4]
    assert choice.overlapping == 1


COPIES = {
    1: "we deploy to staging on mondays at nine",
    2: "we deploy to staging on fridays at nine",
    3: "the cat sat on the mat all day long",
}


def test_the_newest_of_near_copies_takes_the_best_place() -> None:
    """The older one makes room for what matches as well; scores still descend."""
    candidates = [
        ranked(place(1, day=100), 0.50),
        ranked(place(3, day=999), 0.48),
        ranked(place(2, day=300), 0.45),
        ranked(place(4, day=999), 0.30),
    ]

    choice = shown(candidates, COPIES)

    assert numbers(choice) == [2, 3, 1, 4]
    assert [chosen.score for chosen in choice.hits] == [one.score for one in candidates]
    assert choice.near_copies == 1


def test_older_copies_make_room_also_where_the_newest_is_first_already() -> None:
    """Four copies of a page filled four places of an answer."""
    candidates = [
        ranked(place(2, day=300), 0.50),
        ranked(place(1, day=100), 0.49),
        ranked(place(3, day=1), 0.48),
    ]

    choice = shown(candidates, COPIES)

    assert numbers(choice) == [2, 3, 1]
    assert choice.near_copies == 0


def test_a_newer_text_that_says_something_else_takes_no_place() -> None:
    """Being new is not being right."""
    candidates = [ranked(place(1, day=100), 0.5), ranked(place(3, day=999), 0.48)]

    assert numbers(shown(candidates, COPIES)) == [1, 3]


def test_a_copy_that_matches_far_worse_takes_no_place() -> None:
    """Then it is not a copy of what was asked for."""
    candidates = [ranked(place(1, day=100), 0.9), ranked(place(2, day=300), 0.1)]

    assert numbers(shown(candidates, COPIES)) == [1, 2]


def test_copies_in_a_script_without_spaces_are_seen_too() -> None:
    """There a text is one word to those who split at spaces."""
    texts = {
        1: "我们每周一上午九点用脚本把服务器部署到生产环境",
        2: "我们每周五上午九点用脚本把服务器部署到生产环境",
    }
    candidates = [ranked(place(1, day=100), 0.5), ranked(place(2, day=300), 0.49)]

    assert numbers(shown(candidates, texts)) == [2, 1]


def test_the_limit_is_kept_and_the_rest_counted() -> None:
    """The report says what was cut."""
    candidates = [ranked(place(n), 1 / (n + 1)) for n in range(30)]

    choice = shown(candidates, limit=7)

    assert numbers(choice) == list(range(7))
    assert choice.over_limit == 23


def test_texts_are_read_at_most_once() -> None:
    """Each reading is a query of its own."""
    calls: list[Sequence[int]] = []

    def read(chunks: Sequence[int]) -> dict[int, str]:
        calls.append(chunks)
        return {chunk: COPIES.get(chunk, "") for chunk in chunks}

    candidates = [ranked(place(n, day=n), 0.5) for n in range(9)]
    choose(candidates, read, limit=5, diversity=0.7)

    assert len(calls) == 1


def test_diversity_moves_what_repeats_behind_what_is_new() -> None:
    """Maximal marginal relevance, as published: lambda times relevance minus the rest
    times the nearness to what is already shown."""
    candidates = [
        ranked(place(1), 0.50),
        ranked(place(2), 0.49),
        ranked(place(3), 0.40),
    ]

    assert numbers(shown(candidates, COPIES, diversity=0.5)) == [1, 3, 2]
    assert numbers(shown(candidates, COPIES, diversity=1.0)) == [1, 2, 3]
    assert numbers(shown(candidates, COPIES)) == [1, 2, 3]


def test_the_explanation_names_the_steps_that_counted() -> None:
    one = ranked(place(1), 0.5)
    aged = ranked(place(1), 0.5, age=0.9)

    assert explain(SelectedHit(one, 0.0, one.score)) == ()
    assert [
        part.name for part in explain(SelectedHit(aged, 0.1, aged.score + 0.1))
    ] == [
        "age",
        "newest copy",
    ]
