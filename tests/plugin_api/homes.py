"""A home whose clock stands still until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hivemind_memory.access.rules import Caller
from hivemind_memory.memory.memory import Memory
from tests.support.sandbox import Sandbox

START_S = 1_800_000_000.0

WEB = Caller(
    workspace="workspaces/web", teams=("teams/office",), is_root=False, is_agent=True
)
"""A workspace below another one."""

OPS = Caller(workspace="workspaces/ops", is_root=True, is_agent=True)
"""A workspace at the root of its tree, without a team."""

READER = Caller(workspace="workspaces/web", is_read_only=True, is_agent=True)


@dataclass
class FrozenHome(Sandbox):
    """A home in which time passes only by hand."""

    now_s: float = START_S

    def now(self) -> float:
        return self.now_s

    def seen_by(self, caller: Caller) -> Memory:
        """Return the memory as a caller sees it."""
        with self.memory() as memory:
            return memory.as_caller(caller)


def frozen_home(folder: Path) -> FrozenHome:
    """Return a home below a folder."""
    return FrozenHome(folder / "home")
