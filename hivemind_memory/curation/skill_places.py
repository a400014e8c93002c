"""Says where the copies of a skill go, and refuses places that are not free.

A skill goes where agents see its memory: into the worktree, or into the user's home if
a person asks for that and the memory is for every project.
"""

from __future__ import annotations

import os

from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import UsageError
from hivemind_memory.model.skills import SKILL_FOLDERS, TO_ALL
from hivemind_memory.redaction.redact import mask
from hivemind_memory.state.skills import SkillCopy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.worktrees import SkillSurroundings
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.skills import SkillRequest
    from hivemind_memory.state.skills import Skill

_NOT_PROMOTED = "Nothing was promoted"
_COMMANDS = ".claude/commands"
"""Claude Code's commands share their names with its skills."""


def copies_wanted(
    context: CurationContext,
    around: SkillSurroundings,
    request: SkillRequest,
    memory: StoredMemory,
    skill: Skill,
) -> list[SkillCopy]:
    """Return the copies that a request asks for, each folder once."""
    root, git_folder = _root_for(around, request, memory)
    names = SKILL_FOLDERS if request.to == TO_ALL else (request.to,)
    found: dict[str, SkillCopy] = {}
    for name in names:
        above = os.path.realpath(os.path.join(root, *SKILL_FOLDERS[name].split("/")))
        within = os.path.relpath(above, root)
        if git_folder and (within.startswith("..") or os.path.isabs(within)):
            raise UsageError(
                f"{SKILL_FOLDERS[name]} is a link that leads out of the worktree.",
                effect=_NOT_PROMOTED,
            )
        is_outside = within.startswith("..") or os.path.isabs(within)
        folder = os.path.join(above, skill.name)
        found[folder] = SkillCopy(
            folder=folder,
            scope=skill.scope,
            name=skill.name,
            # A home's folder may be a link, as to a repository of settings.
            root=above if is_outside else root,
            git_folder=git_folder,
            base="",
        )
    for folder in found:
        if f"{os.sep}.git{os.sep}" in folder:
            raise UsageError(f"{folder} is in a git folder.", effect=_NOT_PROMOTED)
    if not context.caller.is_owner:
        _check_scope(context, around, root, is_for_user=request.is_for_user)
    return list(found.values())


def _root_for(
    around: SkillSurroundings, request: SkillRequest, memory: StoredMemory
) -> tuple[str, str]:
    """Return the folder below which copies go, and its git folder; empty: a home's.

    Raises:
        UsageError: Agents there may not see the memory, or it is no worktree.
    """
    if request.is_for_user:
        if why := why_unseen(around, memory, ""):
            raise UsageError(
                f"{why}.",
                hint="Leave out --user to make a skill for this project only.",
                effect=_NOT_PROMOTED,
            )
        return os.path.realpath(around.user_home), ""
    repository = around.repository_of(around.folder)
    if repository is None:
        raise UsageError(
            "This folder is in no git repository.",
            hint="Run it in the worktree whose agents should have the skill, or add"
            " --user to have it in every project.",
            effect=_NOT_PROMOTED,
        )
    if why := why_unseen(around, memory, repository.top):
        raise UsageError(
            f"{why}.",
            hint="Run it in a worktree of that project.",
            effect=_NOT_PROMOTED,
        )
    return repository.top, repository.common_dir


def why_unseen(around: SkillSurroundings, memory: StoredMemory, worktree: str) -> str:
    """Return why a skill must not be in a place, as a clause; empty: it may.

    Args:
        around: Knows what agents see.
        memory: As it is now.
        worktree: In which the skill is read; empty: in every project.

    Raises:
        HivemindError: It is not known which project the worktree is of.
    """
    shown = f"The memory {mask(memory.key)}"
    if not worktree:
        if memory.scope or memory.visibility == "private":
            what = f"of {memory.scope}" if memory.scope else "private"
            return (
                f"{shown} is {what}, and a skill in your home folder is read in every"
                " project"
            )
        return ""
    agents = around.caller_in(worktree)
    if agents.project_problem:
        raise UsageError(agents.project_problem, effect=_NOT_PROMOTED)
    if may_read(agents, memory.path) and agents.may_see(memory.visibility):
        return ""
    scope = memory.scope or "another scope"
    return f"{shown} is of {scope}, which the agents of {worktree} do not see"


def why_unseen_there(
    around: SkillSurroundings, memory: StoredMemory, copy: SkillCopy
) -> str:
    """Return why a copy must not be where it is, or was; see ``why_unseen``."""
    return why_unseen(around, memory, copy.root if copy.git_folder else "")


def _check_scope(
    context: CurationContext,
    around: SkillSurroundings,
    root: str,
    *,
    is_for_user: bool,
) -> None:
    """Raise if a caller of some scopes would write where agents see others."""
    scopes = context.caller.scopes
    if is_for_user or scopes is None:
        return
    seen = around.caller_in(root).scopes
    if seen is None or not seen <= scopes:
        raise UsageError(
            "The agents of this worktree see other scopes than you do here.",
            effect=_NOT_PROMOTED,
        )


def seen_copies(
    context: CurationContext, around: SkillSurroundings, copies: Iterable[SkillCopy]
) -> tuple[SkillCopy, ...]:
    """Return the copies of which a caller may know.

    Those of its own repository and of the home folder; the owner knows of all.
    """
    if context.caller.is_owner:
        return tuple(copies)
    repository = around.repository_of(around.folder)
    own = {os.path.realpath(around.user_home)}
    if repository is not None:
        own |= {repository.top, repository.common_dir}
    return tuple(copy for copy in copies if own & {copy.root, copy.git_folder})


def is_missing_here(around: SkillSurroundings, copies: Iterable[SkillCopy]) -> bool:
    """Return whether only other worktrees of this repository have copies."""
    in_worktrees = [copy for copy in copies if copy.git_folder]
    repository = around.repository_of(around.folder) if in_worktrees else None
    if repository is None:
        return False
    of_repository = repository.common_dir
    roots = {copy.root for copy in in_worktrees if copy.git_folder == of_repository}
    return bool(roots) and repository.top not in roots


def check_free(
    around: SkillSurroundings, copy: SkillCopy, others: Iterable[SkillCopy]
) -> None:
    """Raise if a person, or another program, has something of that name.

    A skill in the home folder hides one of the same name in a worktree, and a command
    of Claude Code shares its name with skills. *others* are the known copies; if the
    copy itself is one of them, what is in its folder is not looked at.
    """
    own = {
        other.folder
        for other in others
        if (other.scope, other.name) == (copy.scope, copy.name)
    }
    home = os.path.realpath(around.user_home)
    taken = [copy.folder]
    for root in {copy.root, home}:
        taken += [
            os.path.join(root, *each.split("/"), copy.name)
            for each in SKILL_FOLDERS.values()
        ]
        taken.append(os.path.join(root, *_COMMANDS.split("/"), f"{copy.name}.md"))
    for path in taken:
        if os.path.lexists(path) and os.path.realpath(path) not in own:
            raise UsageError(
                f"{path} already exists, and hm did not create it.",
                hint="Give another name with --name.",
                effect=_NOT_PROMOTED,
            )
    if copy.folder in {other.folder for other in others} - own:
        raise UsageError(
            f"{copy.folder} is kept for another skill.",
            hint="Give another name with --name.",
            effect=_NOT_PROMOTED,
        )
    if copy.git_folder:
        repository = around.repository_of(copy.root)
        within = os.path.relpath(copy.folder, copy.root).replace(os.sep, "/")
        if repository is not None and repository.ask(
            "ls-files", "-z", "--", f":(literal){within}"
        ):
            raise UsageError(
                f"{copy.folder} is tracked by git.",
                hint="Give another name with --name.",
                effect=_NOT_PROMOTED,
            )
