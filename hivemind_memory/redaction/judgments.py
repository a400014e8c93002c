"""Remembers what rules say of a value, for as long as one text is searched.

Many rules ask the same of the same value, and a text that is searched again holds
nearly all of its values once more. What is remembered may be a secret, so all of it is
forgotten as soon as the text is done.
"""

from __future__ import annotations

from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from typing import Any, TypeVar

    Answer = TypeVar("Answer")

MOST = 200_000
"""Values that each function remembers, then it begins anew."""

_remembered: list[MutableMapping[str, Any]] = []


def remember(answers: MutableMapping[str, Any]) -> None:
    """Make ``forget_all`` empty a mapping too."""
    _remembered.append(answers)


def forget_all() -> None:
    """Forget every value. A search in another thread asks again, and finds the same."""
    for answers in _remembered:
        answers.clear()


def asked_once(judge: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """Return a function that judges each value once, until ``forget_all``."""
    answers: dict[str, Answer] = {}
    remember(answers)

    @wraps(judge)
    def asked(value: str) -> Answer:
        answer = answers.get(value)
        if answer is None:
            if len(answers) >= MOST:
                answers.clear()
            answer = answers[value] = judge(value)
        return answer

    return asked
