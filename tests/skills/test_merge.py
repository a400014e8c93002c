"""Edits of a person and a new text of a memory come together, or are told apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.skills.merge import merge

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=12).map(
    "".join
)


@given(TEXTS, TEXTS)
def test_where_only_one_has_changed_something_it_is_taken(one: str, other: str) -> None:
    """Whoever it was."""
    assert merge(one, one, other) == other
    assert merge(one, other, one) == other
    assert merge(one, other, other) == other


@given(TEXTS, TEXTS, TEXTS)
def test_it_does_not_matter_who_is_who(base: str, mine: str, theirs: str) -> None:
    """Neither wins."""
    assert merge(base, mine, theirs) == merge(base, theirs, mine)


@given(st.data())
def test_changes_that_are_apart_are_both_in_it(data: st.DataObject) -> None:
    """With at least one line between them."""
    base = [f"line {number}\n" for number in range(9)]
    first = data.draw(st.integers(0, 3))
    second = data.draw(st.integers(first + 2, 8))
    mine, theirs, both = list(base), list(base), list(base)
    mine[first] = both[first] = "mine\n"
    theirs[second] = both[second] = "theirs\n"

    assert merge("".join(base), "".join(mine), "".join(theirs)) == "".join(both)


def test_a_line_that_both_change_is_a_conflict() -> None:
    """No one is overruled."""
    assert merge("1\n2\n3\n", "1\nmine\n3\n", "1\ntheirs\n3\n") is None
    assert merge("1\n", "1\nmine\n", "1\ntheirs\n") is None
