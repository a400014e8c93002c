"""What changed between two texts, word by word."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.dashboard.word_diff import word_diff
from tests.support.tiers import examples

WORDS = st.lists(st.sampled_from(["a", "deploy", " ", "\n", "-", "ä", "。", "  "]))


@settings(max_examples=examples(300), deadline=None)
@given(WORDS.map("".join), WORDS.map("".join))
def test_the_parts_are_both_texts(old: str, new: str) -> None:
    """Without what was added it is the old text, without what was removed the new."""
    parts = word_diff(old, new)

    assert "".join(part.text for part in parts if part.kind != "added") == old
    assert "".join(part.text for part in parts if part.kind != "removed") == new
    assert all(part.text for part in parts)
    if old == new:
        assert {part.kind for part in parts} <= {"same"}


def test_long_texts_are_compared_by_lines() -> None:
    """Both are still whole."""
    old = "".join(f"line {at} of a long text\n" for at in range(5_000))
    new = old.replace("line 77 ", "row 77 ")

    parts = word_diff(old, new)

    assert "".join(part.text for part in parts if part.kind != "added") == old
    changed = [part for part in parts if part.kind == "added"]
    assert [part.text for part in changed] == ["row 77 of a long text\n"]
