"""How strongly words answer: rare before common, short before long, never above 1."""

from __future__ import annotations

from hypothesis import given, settings

from hivemind_memory.model.matches import WordMatches
from hivemind_memory.search.fusion import NOTE_CANDIDATES, word_count, word_scores
from tests.search.evidence import candidate, matches, place, term, word_matches
from tests.support.tiers import examples


@settings(max_examples=examples(300), deadline=None)
@given(word_matches())
def test_a_raw_score_lies_in_0_to_1(found: WordMatches) -> None:
    """Whatever the index saw; so a score means the same in every memory."""
    for raw_score in word_scores(found).values():
        assert raw_score.chunk >= 0
        assert raw_score.subchunk >= 0
        if not any(term.is_phrase for term in found.known):
            assert raw_score.total <= 1 + 1e-9
        assert raw_score.found <= word_count(found)


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    """One says what is meant; the other stands everywhere."""
    found = matches(
        [term("rare", 2), term("common", 900)],
        candidate(1, (1, 0), (0, 0)),
        candidate(2, (0, 0), (1, 0)),
    )

    raw_scores = word_scores(found)

    assert raw_scores[1].total > 3 * raw_scores[2].total


def test_a_word_that_nobody_knows_weakens_the_answer() -> None:
    """One word out of five unknown ones is a weak answer, in any memory."""
    alone = matches([term("known", 5)], candidate(1, (2, 0)))
    among = matches(
        [term("known", 5), *(term(f"unknown{n}", 0) for n in range(4))],
        candidate(1, (2, 0)),
    )

    assert word_scores(among)[1].total < word_scores(alone)[1].total / 3
    assert word_count(among) == 5


def test_a_heading_counts_like_the_text() -> None:
    """And both together more than one of them."""
    found = matches(
        [term("port", 10)],
        candidate(1, (1, 0)),
        candidate(2, (0, 1)),
        candidate(3, (1, 1)),
    )

    raw_scores = {chunk: one.total for chunk, one in word_scores(found).items()}

    assert raw_scores[3] > max(raw_scores[1], raw_scores[2])
    assert min(raw_scores[1], raw_scores[2]) > 0


def test_the_same_word_in_a_longer_text_counts_less() -> None:
    """It may be there by chance."""
    found = matches(
        [term("port", 10)],
        candidate(1, (1, 0), length=20),
        candidate(2, (1, 0), length=400),
    )

    raw_scores = word_scores(found)

    assert raw_scores[1].total > raw_scores[2].total


def test_words_in_one_line_beat_words_all_over_the_chunk() -> None:
    """The second level."""
    terms = [term("staging", 20), term("port", 20)]
    found = matches(
        terms,
        candidate(1, (1, 0), (1, 0), subchunks=[(10, {0: 1, 1: 1}), (90, {})]),
        candidate(2, (1, 0), (1, 0), subchunks=[(50, {0: 1}), (50, {1: 1})]),
    )

    raw_scores = word_scores(found)

    assert raw_scores[1].subchunk > raw_scores[2].subchunk
    assert raw_scores[1].chunk == raw_scores[2].chunk


def test_a_phrase_is_no_word_that_must_be_there() -> None:
    """`user_id` is two words, and a bonus where they stand side by side."""
    terms = [term("user", 9), term("id", 9), term("user id", 3, is_phrase=True)]
    found = matches(
        terms,
        candidate(1, (1, 0), (1, 0), (1, 0)),
        candidate(2, (1, 0), (1, 0), (0, 0)),
    )

    raw_scores = word_scores(found)

    assert word_count(found) == 2
    assert (raw_scores[1].found, raw_scores[2].found) == (2, 2)
    assert raw_scores[1].total > raw_scores[2].total


def test_nothing_asked_and_nothing_found_is_no_error() -> None:
    """An empty question, an empty memory."""
    assert word_scores(WordMatches()) == {}
    assert word_count(WordMatches()) == 0


def test_a_note_that_holds_the_other_words_elsewhere_is_preferred() -> None:
    """Two chunks say the same; the note of one of them also has what else is asked."""
    found = matches(
        [term("deploy", 50), term("staging", 20)],
        candidate(1, (1, 0), (0, 0))._replace(place=place(1, path="a.md")),
        candidate(2, (1, 0), (0, 0))._replace(place=place(2, path="b.md")),
        candidate(3, (0, 0), (1, 0))._replace(place=place(3, path="b.md", line=9)),
    )

    scores = word_scores(found)

    assert scores[2].chunk == scores[1].chunk
    assert scores[2].note > scores[1].note
    assert scores[2].note < scores[2].chunk


def test_a_score_does_not_depend_on_how_many_candidates_follow() -> None:
    """Whoever wants a hundred hits sees the scores of whoever wants ten."""
    terms = [term("deploy", 500), term("staging", 200)]
    some = [
        candidate(n, (1 + n % 3, 0), (n % 2, 0))._replace(
            place=place(n, path=f"{n % 7}")
        )
        for n in range(200)
    ]

    few = word_scores(matches(terms, *some[:NOTE_CANDIDATES]))
    many = word_scores(matches(terms, *some))

    assert {chunk: many[chunk] for chunk in few} == few
