"""Puts back the hooks that another program replaced after an injection.

A tool that installs hooks of its own, such as husky or pre-commit, may move aside those
that keep the section out of commits. `hm doctor` and the next injection put them in
front of the new ones.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import HivemindError, StateUnusableError
from hivemind_memory.inject.commit_guard import CommitGuard
from hivemind_memory.model.display import count_text, first_few
from hivemind_memory.model.results import Finding
from hivemind_memory.state.injection_log import InjectionLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.state.state_file import StateFile

_MAX_WORKTREES = 100

"""Repositories that are named."""


def hooks_findings(injector: Injector, state: StateFile) -> list[Finding]:
    """Return for ``hm doctor`` whether the hooks are there, after putting them back.

    Args:
        injector: Knows the repositories.
        state: Knows the worktrees into which something was injected.
    """
    try:
        records = InjectionLog(state).records()
    except StateUnusableError:
        return []  # another check says so
    worktrees = [str(record.get("worktree", "")) for record in reversed(records)]
    return [_finding(injector, worktrees)] if worktrees else []


def _finding(injector: Injector, worktrees: Iterable[str]) -> Finding:
    """Return the state of the hooks of some worktrees, the newest first."""
    checked: dict[str, str] = {}
    problems = []
    for worktree in list(dict.fromkeys(worktrees))[:_MAX_WORKTREES]:
        if not os.path.isdir(worktree):
            continue
        try:
            repository = injector.repository_of(worktree)
            if repository is None:
                continue
            guard = CommitGuard(repository)
            if not guard.exists():
                continue
            warnings = guard.install_hooks()
        except (HivemindError, OSError) as error:
            warnings = (str(error),)
            repository = None
        if repository is None or repository.common_dir not in checked:
            problems += [f"{worktree}: {warning}" for warning in warnings]
        if repository is not None:
            checked.setdefault(repository.common_dir, worktree)
    return Finding(
        name="git hooks",
        is_ok=not problems,
        detail="; ".join(problems) or _all_well(list(checked.values())),
        hint="Run `hm doctor` again, and fix by hand what it still reports."
        if problems
        else "",
    )


def _all_well(worktrees: list[str]) -> str:
    """Return the detail if nothing is wrong."""
    if not worktrees:
        return "no repository has a section"
    count = count_text(len(worktrees), "repository", "repositories")
    return f"the section is kept out of commits in {count}: {first_few(worktrees)}"
