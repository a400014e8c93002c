"""System calls that fail at a chosen moment."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hivemind_memory.errors import HivemindError


class Faults:
    """Stands in for one function of ``os`` and fails its k-th call, or all from it."""

    def __init__(self, name: str, number: int, *, lasts: bool = False) -> None:
        self.name, self.number, self.lasts = name, number, lasts
        self.real: Callable[..., Any] = getattr(os, name)
        self.fail_at = 0
        self.calls = 0

    def __call__(self, *args: Any, **names: Any) -> Any:
        self.calls += 1
        if self.calls == self.fail_at or (self.lasts and self.calls > self.fail_at):
            raise OSError(self.number, os.strerror(self.number))
        return self.real(*args, **names)

    def has_next(self) -> bool:
        """Fail the next call instead; False if there was none."""
        if self.calls < self.fail_at:
            return False
        self.fail_at, self.calls = self.fail_at + 1, 0
        return True


def refusal_of(call: Callable[[], object]) -> HivemindError | None:
    """Return the error that a call raises, or None."""
    try:
        call()
    except HivemindError as error:
        return error
    return None
