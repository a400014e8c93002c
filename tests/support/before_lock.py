"""Has another process act right before a lock is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from hivemind_memory.memory.memory import Memory
from tests.support.sandbox import Sandbox


@dataclass(frozen=True)
class Meanwhile:
    """Acts once, with a memory of its own, when a lock is asked for.

    Attributes:
        sandbox: Where the other process acts.
        monkeypatch: Takes it away after the test.
    """

    sandbox: Sandbox
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, owner: type, lock: str, act: Callable[[Memory], object]) -> None:
        """Have it act.

        Args:
            owner: The class whose method takes the lock.
            lock: The name of that method.
            act: What the other process does.
        """
        real = getattr(owner, lock)

        def late(*given: Any, **more: Any) -> Any:
            self.monkeypatch.setattr(owner, lock, real)
            with self.sandbox.memory() as other:
                act(other)
            return real(*given, **more)

        self.monkeypatch.setattr(owner, lock, late)
