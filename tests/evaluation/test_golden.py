"""Golden questions are read from Markdown that people write by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.evaluation.golden import GoldenQuestion, parse_golden


def test_only_list_items_with_an_arrow_are_questions() -> None:
    """A note of questions also has headings, prose and other lists."""
    text = (
        "# Golden\n\nA question → a.md:1 in a paragraph.\n\n"
        "- which port → net.md:3\n* when -> deploy.md:2-4, `deploy-day`\n"
        "- buy milk\n\n```\n- in a fence → a.md:1\n```\n+ who → nothing\n"
    )

    assert parse_golden(text) == (
        GoldenQuestion(5, "which port", ("net.md:3",)),
        GoldenQuestion(6, "when", ("deploy.md:2-4", "deploy-day")),
        GoldenQuestion(12, "who", ("nothing",)),
    )


def test_the_last_arrow_of_an_item_counts() -> None:
    """A question may be about an arrow."""
    [question] = parse_golden("- what does `a -> b` mean → types.md:9\n")

    assert question == GoldenQuestion(1, "what does `a -> b` mean", ("types.md:9",))


def test_an_item_goes_on_in_indented_lines() -> None:
    """Editors wrap long lines."""
    [question] = parse_golden("- how do we\n  deploy\n  → ship.md:3\n\n  other text\n")

    assert question == GoldenQuestion(1, "how do we deploy", ("ship.md:3",))


def test_an_item_without_a_target_is_a_question_all_the_same() -> None:
    """It is named as a problem instead of being dropped in silence."""
    assert parse_golden("- which port →\n") == (GoldenQuestion(1, "which port", ()),)


@given(st.text())
def test_any_text_at_all_can_be_read(text: str) -> None:
    """A file of another kind is named by mistake."""
    for question in parse_golden(text):
        assert question.text
        assert question.line >= 1
