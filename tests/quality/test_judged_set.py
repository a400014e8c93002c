"""The judged questions that we ship are sound: a wrong gold line would teach wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scoring import Question, read_questions

DATA = Path(__file__).parents[2] / "fixtures" / "judged"
QUESTIONS = read_questions(DATA)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_the_gold_lines_exist_and_begin_and_end_with_text(question: Question) -> None:
    """An edit of a note moves its lines; the questions must follow."""
    for piece in question.gold:
        text = (question.notes / piece.path).read_text(encoding="utf-8")
        lines = text.splitlines()[piece.first - 1 : piece.last]

        assert len(lines) == piece.last - piece.first + 1
        assert lines[0].strip()
        assert lines[-1].strip()


def test_no_question_is_asked_twice() -> None:
    """Two ids for one question would count it twice."""
    asked = [(question.notes, question.text.casefold()) for question in QUESTIONS]

    assert len(set(asked)) == len(asked)
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)


def test_there_are_enough_questions_to_tell_a_difference() -> None:
    """Some 60 notes and 120 questions, in every set more than a handful."""
    notes = list(DATA.glob("*/notes/*/**/*.md"))

    assert len(notes) >= 60
    assert len(QUESTIONS) >= 120
