"""Opens the skills of a memory in a worktree, and says which of them need attention."""

from __future__ import annotations

from functools import partial

from hivemind_memory.curation.worktrees import SkillSurroundings
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.display import count_text, first_few
from hivemind_memory.model.results import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.skills import Skills
    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.memory import Memory


def skills_here(
    memory: Memory, injector: Injector, *, folder: str, user_home: str
) -> Skills:
    """Return what makes skills of memories.

    Args:
        memory: The memory.
        injector: Knows repositories, and what the agents of a worktree may see.
        folder: In whose worktree skills are placed.
        user_home: In which they are placed if that is asked for.
    """
    around = SkillSurroundings(
        folder=folder,
        user_home=user_home,
        repository_of=injector.repository_of,
        # A memory of a project has made the project known already.
        caller_in=partial(injector.caller_in, is_look=True),
    )
    return memory.curation.skills(around)


def skill_findings(skills: Skills) -> list[Finding]:
    """Return for ``hm doctor`` whether skills are up to date; nothing without any."""
    try:
        found = skills.list()
    except HivemindError as error:
        return [Finding(name="skills", is_ok=False, detail=str(error), hint=error.hint)]
    if not found:
        return []
    problems = [f"{skill.name}: {skill.problem}" for skill in found if skill.problem]
    if not problems:
        count = count_text(len(found), "skill")
        return [Finding(name="skills", is_ok=True, detail=f"{count}, up to date")]
    return [
        Finding(
            name="skills",
            is_ok=False,
            detail=first_few(problems, between="; "),
            hint="`hm skill sync` updates them, and says what it cannot do.",
        )
    ]
