"""What a slip of the finger may have meant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.search import suggestions
from hivemind_memory.search.suggestions import MAX_SUGGESTIONS, _distance, nearest_words
from tests.support.tiers import examples

VOCABULARY = [("deploy", 9), ("deputy", 2), ("database", 5), ("data", 7), ("cat", 1)]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("depoly", ["deploy"]),  # two letters swapped: one slip
        ("deplo", ["deploy"]),
        ("databse", ["database"]),
        ("dataabses", ["database"]),
        ("cst", ["cat"]),
        ("xyz", []),
    ],
)
def test_a_slip_is_mended(word: str, meant: list[str]) -> None:
    """One in a short word, two in a long one."""
    assert nearest_words(word, VOCABULARY)[:1] == meant


def test_among_equals_the_most_common_comes_first() -> None:
    """It was probably meant."""
    words = [("port", 1), ("pork", 9), ("poke", 5), ("pore", 2), ("zone", 9)]

    assert nearest_words("porx", words) == ["pork", "pore", "port"]


def slow_distance(one: str, other: str) -> int:
    """The textbook's: optimal string alignment."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for at in range(len(one) + 1):
        for to in range(len(other) + 1):
            if not at or not to:
                table[at][to] = at + to
                continue
            cost = one[at - 1] != other[to - 1]
            best = min(
                table[at - 1][to] + 1,
                table[at][to - 1] + 1,
                table[at - 1][to - 1] + cost,
            )
            is_far = at > 1 and to > 1
            if is_far and one[at - 2 : at] == other[to - 2 : to][::-1]:
                best = min(best, table[at - 2][to - 2] + 1)
            table[at][to] = best
    return table[-1][-1]


letters = st.text("abc", max_size=7)


@settings(max_examples=examples(300))
@given(one=letters, other=letters, limit=st.integers(0, 3))
def test_the_distance_is_the_textbooks(one: str, other: str, limit: int) -> None:
    """Up to the limit; above it, only that it is above."""
    distance = _distance(one, other, limit)
    expected = slow_distance(one, other)

    assert distance == expected or (distance > limit and expected > limit)


@settings(max_examples=examples(300))
@given(
    word=st.text("abc", min_size=1, max_size=9),
    known=st.lists(st.text("abc", min_size=1, max_size=9), max_size=9, unique=True),
    limit=st.integers(1, 2),
)
def test_no_word_within_the_limit_is_passed_over(
    word: str, known: list[str], limit: int
) -> None:
    """Words that have no part of it are not compared at all."""
    near = [
        (slow_distance(word, other), other)
        for other in known
        if other != word and other[0] in word[:2]
    ]
    expected = [other for distance, other in sorted(near) if distance <= limit]

    found = nearest_words(word, [(other, 1) for other in known], limit=limit)

    assert found == expected[:MAX_SUGGESTIONS]


def test_few_words_are_compared_with_a_misspelled_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a question with many slips, comparing words took most of the time."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    words = [f"d{one}{two}loy" for one in letters for two in letters]
    words += [f"d{one}{two}{one}{two}b" for one in letters for two in letters]
    compared: set[str] = set()

    def counted(one: str, other: str, limit: int) -> int:
        compared.update({other}.intersection(words))
        return _distance(one, other, limit)

    monkeypatch.setattr(suggestions, "_distance", counted)

    found = nearest_words("depxoy", [(word, 1) for word in words], limit=1)

    assert found == ["deploy"]
    assert len(compared) < 100


token = st.text(min_size=1, max_size=20)


@given(token, st.lists(st.tuples(token, st.just(1))))
def test_never_more_than_three_and_never_the_word_itself(
    word: str, vocabulary: list[tuple[str, int]]
) -> None:
    """A hint, not a list."""
    found = nearest_words(word, vocabulary)

    assert len(found) <= MAX_SUGGESTIONS
    assert word not in found
