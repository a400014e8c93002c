"""Says of a skill and of each copy how they are, and what mends them."""

from __future__ import annotations

from hivemind_memory.errors import SkillNotWrittenError
from hivemind_memory.model.keys import operand
from hivemind_memory.model.skills import (
    AWAY,
    EDITED,
    IN_NO_FOLDER,
    MISSING,
    OUTDATED,
    SYNC,
    UNREADABLE,
    UP_TO_DATE,
    SkillInfo,
    SkillPlace,
)
from hivemind_memory.redaction.redact import mask
from hivemind_memory.skills.files import is_root_there, read_copy, skill_file
from hivemind_memory.skills.package import skill_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.skill_memory import SkillNow
    from hivemind_memory.state.skills import Skill, SkillCopy


def skill_info(skill: Skill, now: SkillNow) -> SkillInfo:
    """Return a skill as lists show it."""
    places = tuple(
        SkillPlace(file=skill_file(copy), state=_state_of(copy, now))
        for copy in skill.copies
    )
    states = {place.state for place in places}
    problem = now.problem
    if not problem and not skill.copies:
        problem = f"it {IN_NO_FOLDER}"
    elif not problem and any(
        is_root_there(copy) and now.is_outdated(copy) for copy in skill.copies
    ):
        problem = "its memory has changed"
    elif not problem and states & {MISSING, AWAY}:
        problem = "a copy is missing"
    elif not problem and UNREADABLE in states:
        problem = "a copy cannot be read"
    text = ""
    if now.memory is not None and now.is_valid:
        text = skill_text(now.new, now.memory, name=skill.name)
    return SkillInfo(
        name=skill.name,
        scope=skill.scope,
        key=mask(skill.key),
        version=skill.version,
        path=now.memory.path if now.memory is not None else "",
        problem=problem,
        hint=_hint_for(skill, now, problem),
        is_edited=EDITED in states,
        text=text,
        places=places,
    )


def _state_of(copy: SkillCopy, now: SkillNow) -> str:
    """Return the state of a copy."""
    if not copy.is_placed:
        return AWAY
    try:
        data = read_copy(copy)
    except SkillNotWrittenError:
        return UNREADABLE
    if data is None:
        return MISSING
    if data != copy.base.encode():
        return EDITED
    return OUTDATED if now.is_outdated(copy) else UP_TO_DATE


def _hint_for(skill: Skill, now: SkillNow, problem: str) -> str:
    """Return the command that mends a skill; empty: nothing is wrong with it."""
    if not problem:
        return ""
    key = operand(mask(skill.key))
    if not skill.copies and not now.problem:
        return f"hm skill promote {key}"
    is_away = not any(copy.is_placed for copy in skill.copies)
    if now.why_away and is_away:  # a sync has done all that it can
        of_status = {
            "its memory is done": f"hm done --reopen {key}",
            "its memory is forgotten": f"hm restore {key}",
        }
        return of_status.get(now.why_away, f"hm skill demote {skill.name}")
    return SYNC
