"""Lets something happen right after a step, as another process might at that moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def after_first(method: Callable[..., Any], work: Callable[[], object]) -> Any:
    """Return *method*, followed by some work the first time that it is called."""
    todo = [work]

    def call(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        if todo:
            todo.pop()()
        return result

    return call
