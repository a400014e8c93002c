"""What an error says: first what happened, then what that left."""

from __future__ import annotations

import pytest

from hivemind_memory.errors import HivemindError


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("the disk is full.", "The disk is full. Nothing was saved."),
        ("no space left", "No space left. Nothing was saved."),
        ("pid 7 has the lock.", "pid 7 has the lock. Nothing was saved."),
        ("k.md is a link.", "k.md is a link. Nothing was saved."),
        ("'nono' is not a kind.", "'nono' is not a kind. Nothing was saved."),
    ],
)
def test_the_message_comes_before_the_effect(message: str, said: str) -> None:
    """A reader who stops after a few words has read what is wrong."""
    error = HivemindError(message, hint="Try again.", effect="Nothing was saved")

    assert str(error) == said
    assert (error.problem, error.hint) == (message, "Try again.")


def test_an_error_without_an_effect_says_its_message_alone() -> None:
    assert str(HivemindError("There is no memory 'k'.")) == "There is no memory 'k'."
