"""What golden questions measure, on a memory small enough to count by hand."""

from __future__ import annotations

import pytest

from hivemind_memory.evaluation.ask import ask_questions, differences, sum_up
from hivemind_memory.evaluation.golden import parse_golden
from hivemind_memory.evaluation.metrics import calibration_error, chance_error
from hivemind_memory.evaluation.targets import TargetFinder
from tests.support.sandbox import Sandbox

GOLDEN = (
    "- which port does staging use → net.md:3\n"
    "- when do we deploy → day.md:3\n"
    "- what do grey whales eat at night → nothing\n"
)


@pytest.fixture
def filled(sandbox: Sandbox) -> Sandbox:
    """Two notes."""
    sandbox.save("net.md", "# Network\n\nStaging uses port 8443.\n")
    sandbox.save("day.md", "# Releases\n\nWe deploy on Tuesdays only.\n")
    return sandbox


def test_right_answers_and_a_right_nothing_score_in_full(filled: Sandbox) -> None:
    """Both questions find their line first, and the third finds nothing."""
    with filled.memory() as memory:
        finder = TargetFinder(memory)
        judged, _ = finder.judge(parse_golden(GOLDEN))
        answers = ask_questions(memory, judged, finder.lengths_of)

    summary = sum_up(answers)
    assert {one.mean for one in summary.metrics.values()} == {1.0}
    assert summary.levels["nothing"] == {"strong": 0, "weak": 0, "none": 1}
    assert summary.levels["answered"]["none"] == 0
    assert [answer.rank for answer in answers] == [1, 1, 0]
    assert answers[2].is_right_nothing
    assert answers[0].tokens > 0 == answers[2].tokens


def test_the_note_with_the_questions_answers_none_of_them(filled: Sandbox) -> None:
    """It holds every word of every question, those about nothing too."""
    filled.save("golden.md", f"# Golden\n\n{GOLDEN}")
    found = {}
    with filled.memory() as memory:
        finder = TargetFinder(memory)
        judged, _ = finder.judge(parse_golden(GOLDEN))
        for hidden in ("", "golden.md"):
            found[hidden] = ask_questions(
                memory, judged, finder.lengths_of, hidden=hidden
            )

    assert sum_up(found["golden.md"]).metrics["R@1"].mean == 1.0
    assert found["golden.md"][2].is_right_nothing
    assert not found[""][2].is_right_nothing


def test_a_hidden_note_leaves_no_trace_in_the_figures(filled: Sandbox) -> None:
    """Scores and confidences are those of a memory without it."""
    with filled.memory() as memory:
        finder = TargetFinder(memory)
        judged, _ = finder.judge(parse_golden(GOLDEN))
        without = ask_questions(memory, judged, finder.lengths_of)
    filled.save("golden.md", f"# Golden\n\n{GOLDEN}")
    with filled.memory() as memory:
        finder = TargetFinder(memory)
        hidden = ask_questions(memory, judged, finder.lengths_of, hidden="golden.md")

    assert hidden == without


def test_two_settings_are_compared_question_by_question(filled: Sandbox) -> None:
    """A threshold that hides everything loses every question."""
    with filled.memory() as memory:
        finder = TargetFinder(memory)
        judged, _ = finder.judge(parse_golden(GOLDEN))
        before = ask_questions(memory, judged, finder.lengths_of)
    with filled.memory(min_score=1.0) as memory:
        after = ask_questions(memory, judged, finder.lengths_of)

    lost = differences(before, after)
    assert {one.mean for one in lost.values()} == {-1.0}
    assert {one.mean for one in differences(before, before).values()} == {0.0}


def test_asking_counts_no_recall_and_writes_nothing(filled: Sandbox) -> None:
    """A measurement must not change what it measures."""
    with filled.memory() as memory:
        memory.sync()
        finder = TargetFinder(memory)
        judged, _ = finder.judge(parse_golden(GOLDEN))
        ask_questions(memory, judged, finder.lengths_of)
        state = memory.places.state_file

    assert not filled.notes.parent.joinpath(state).exists()


def test_confidences_that_come_true_have_no_error() -> None:
    """And chance alone makes some where questions are few."""
    assert calibration_error([0.5] * 4, [1, 1, 0, 0]) == 0.0
    assert calibration_error([0.9] * 4, [0, 0, 0, 0]) == pytest.approx(0.9)
    assert chance_error([0.5] * 4) >= chance_error([0.5] * 400) > 0.0
