"""Puts what was planned for a worktree into its file, or removes an old section."""

from __future__ import annotations

import os

from hivemind_memory.inject.agent_files import choose_target
from hivemind_memory.inject.section import section_body, section_tokens
from hivemind_memory.inject.section_file import erase_old_section, write_section
from hivemind_memory.model.injection_outcomes import NOTHING, WRITTEN
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.git.repository import Repository
    from hivemind_memory.inject.agent_files import TargetFile
    from hivemind_memory.inject.commit_guard import CommitGuard
    from hivemind_memory.model.injection import InjectionResult

_LATER_REPOSITORY = (
    "this folder is in no git repository: if it becomes one, run `hm inject` again"
    " before the first commit, or that commit includes the section"
)


def target_in(root: str, agent: str, setting: str) -> TargetFile:
    """Return where the section for *agent* goes; see ``choose_target``."""
    return choose_target(
        agent,
        setting,
        lambda name: os.path.lexists(os.path.join(root, *name.split("/"))),
    )


def place_section(
    planned: InjectionResult,
    target: TargetFile,
    repository: Repository | None,
    guard: CommitGuard | None = None,
) -> InjectionResult:
    """Write a planned section, or remove an old one if it has nothing; say what came.

    Raises:
        NotInjectedError: Nothing was written. Settings may have been.
    """
    plan, root = planned.planned, planned.worktree
    if not plan.body:
        placed = erase_old_section(root, target, repository)
        if placed is None:
            return replaced(planned, outcome=NOTHING, file="")
    else:
        placed = write_section(
            root,
            target,
            repository,
            lambda is_ours: section_body(plan, is_ours=is_ours),
            guard,
        )
        body = section_body(plan, is_ours=placed.is_ours)
        plan = replaced(plan, tokens=section_tokens(body))
    warnings = placed.warnings
    if repository is None and placed.outcome == WRITTEN:
        warnings = (*warnings, _LATER_REPOSITORY)
    return replaced(
        planned,
        planned=plan,
        outcome=placed.outcome,
        file=placed.file,
        is_ours=placed.is_ours,
        warnings=warnings,
    )
