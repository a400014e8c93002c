"""What the scorer counts, on notes small enough to count by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks.scoring import LineLengths, Lines, Question, mean_interval, score


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Two notes of a hundred lines, 50 characters each with the newline."""
    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text(("x" * 49 + "\n") * 100, encoding="utf-8")
    return tmp_path


def asked(notes: Path, *gold: Lines) -> Question:
    """A question with that evidence."""
    return Question(
        id="q", set_name="s", category="c", notes=notes, text="?", gold=gold
    )


def test_an_ideal_list_scores_one_in_everything(notes: Path) -> None:
    """Else no search could ever reach 1 and the figures would mean little."""
    question = asked(notes, Lines("one.md", 1, 2), Lines("two.md", 5, 5))

    metrics = score(
        question, [Lines("one.md", 1, 3), Lines("two.md", 4, 6)], LineLengths()
    )

    assert metrics.pop("R@1") == 0.5
    assert set(metrics.values()) == {1.0}


def test_two_pieces_in_one_result_give_no_more_than_an_ideal_list(notes: Path) -> None:
    """Large results would win otherwise: they show several pieces at once."""
    question = asked(notes, Lines("one.md", 1, 1), Lines("one.md", 2, 2))

    metrics = score(question, [Lines("one.md", 1, 9)], LineLengths())

    assert metrics["nDCG@10"] == pytest.approx(1.0)


def test_a_piece_further_down_is_discounted_by_its_place(notes: Path) -> None:
    """The third place is worth half of the first."""
    question = asked(notes, Lines("one.md", 50, 50))
    wrong = [Lines("two.md", 1, 1), Lines("two.md", 2, 2)]

    metrics = score(question, [*wrong, Lines("one.md", 50, 50)], LineLengths())

    assert metrics["nDCG@10"] == pytest.approx(1 / math.log2(4))
    assert metrics["MRR@10"] == pytest.approx(1 / 3)
    assert (metrics["R@1"], metrics["R@5"]) == (0.0, 1.0)


def test_a_result_counts_with_its_first_thousand_characters(notes: Path) -> None:
    """Whoever returns whole notes finds everything and helps nobody."""
    question = asked(notes, Lines("one.md", 21, 21))

    metrics = score(question, [Lines("one.md", 1, 100)], LineLengths())

    assert set(metrics.values()) == {0.0}


def test_the_budget_ends_after_four_thousand_characters(notes: Path) -> None:
    """Four results of a thousand characters fill it; lines shown twice are free."""
    question = asked(notes, Lines("two.md", 81, 81))
    filling = [Lines("one.md", at, at + 19) for at in (1, 21, 41, 61)]
    repeated = [filling[0], filling[0], *filling[1:3]]

    full = score(question, [*filling, Lines("two.md", 81, 81)], LineLengths())
    spared = score(question, [*repeated, Lines("two.md", 81, 81)], LineLengths())

    assert (full["R@4kc"], full["R@5"]) == (0.0, 1.0)
    assert spared["R@4kc"] == 1.0


def test_a_note_that_does_not_exist_keeps_its_place_and_shows_nothing(
    notes: Path,
) -> None:
    """A search that invents notes is not to be rewarded for it."""
    question = asked(notes, Lines("one.md", 1, 1))

    metrics = score(
        question, [Lines("gone.md", 1, 1), Lines("one.md", 1, 1)], LineLengths()
    )

    assert metrics["MRR@10"] == 0.5


def test_the_mean_weighs_every_set_alike() -> None:
    """A large set would drown the small ones."""
    mean, low, high = mean_interval({"large": [0.0] * 90, "small": [1.0] * 10})

    assert (mean, low, high) == (0.5, 0.5, 0.5)


def test_the_interval_holds_the_mean_and_has_some_width() -> None:
    """A figure without its interval invites reading noise."""
    mean, low, high = mean_interval({"one": [0.0, 1.0] * 50})

    assert low < mean < high
    assert 0.1 < high - low < 0.3
