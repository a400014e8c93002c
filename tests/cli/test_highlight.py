"""The words of a question are found again in what answers it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.cli.highlight import best_lines, spans


@pytest.mark.parametrize(
    ("text", "question", "lit"),
    [
        ("We deploy on Tuesdays", "how do I deploy", ["deploy"]),
        ("Deployed; deployments, deploying", "deploy", ["Deployed", "deployments"]),
        ("Le café ferme", "CAFE", ["café"]),
        ("the cafe\u0301 closes", "café", ["cafe\u0301"]),
        ("staging is not the stage", "the", ["the"]),
        ("東京タワーに行く", "東京タワー", ["東京タワー"]),
        ("call load_user_name()", "user", ["user"]),
        ("nothing here", "deploy", []),
        ("anything", "", []),
    ],
)
def test_words_are_lit_up_in_any_form(text: str, question: str, lit: list[str]) -> None:
    """What the index found is what a reader looks for."""
    found = [text[start:end] for start, end in spans(text, question)]

    assert found[: len(lit)] == lit
    assert bool(found) == bool(lit)


@given(st.text(max_size=60), st.text(max_size=30))
def test_spans_are_in_order_and_within_the_text(text: str, question: str) -> None:
    """Any text meets any question."""
    ends = [0]
    for start, end in spans(text, question):
        assert ends[-1] <= start < end <= len(text)
        ends.append(end)


def test_the_window_shows_the_lines_that_answer() -> None:
    """A long chunk need not be shown whole."""
    text = "\n".join([*"abcdefgh", "we deploy", "on tuesdays", *"ijkl"])

    start, end = best_lines(text, "deploy tuesday", 4)

    assert text.split("\n")[start:end][:2] == ["we deploy", "on tuesdays"]


@given(st.text(st.sampled_from("ab\n"), max_size=60), st.integers(1, 5))
def test_the_window_is_never_larger_than_asked_for(text: str, limit: int) -> None:
    """Nor outside the text."""
    start, end = best_lines(text, "a", limit)

    assert 0 <= start <= end <= text.count("\n") + 1
    assert end - start <= limit
