"""What changes to memories ask of worktrees, which a folder above knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.rules import Caller
    from hivemind_memory.git.repository import Repository
    from hivemind_memory.model.ports import InjectionRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSurroundings:
    """What making skills needs of the process."""

    folder: str
    """The folder in whose worktree skills are placed."""

    user_home: str
    repository_of: Callable[[str], Repository | None]
    """Returns the repository around a folder; None: there is none."""

    caller_in: Callable[[str], Caller]
    """Returns what the agents of a worktree may see."""


@value
class Worktrees:
    """The worktrees in which agents are shown memories."""

    injected: InjectionRecords
    """What was injected into them."""

    around: Callable[[], SkillSurroundings]
    """Returns what tells whether their agents may read a skill."""
