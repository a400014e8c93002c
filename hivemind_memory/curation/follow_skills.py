"""Takes skills away from agents while their memory does not count, and puts them back.

A skill whose memory was forgotten would go on telling agents what to do. What a person
had edited in it is kept in ``state.db`` meanwhile; a purge removes that, too.
"""

from __future__ import annotations

from hivemind_memory.curation.away_skills import put_back, take_away
from hivemind_memory.curation.skill_memory import SkillNow, skills_lock
from hivemind_memory.curation.skill_places import why_unseen_there
from hivemind_memory.errors import HivemindError, SkillNotWrittenError
from hivemind_memory.model.curation import FailedItem
from hivemind_memory.model.value import replaced
from hivemind_memory.skills.files import is_root_there, skill_file
from hivemind_memory.state.skills import SkillStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.worktrees import SkillSurroundings
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.state.skills import Skill, SkillCopy


def follow_skills(context: CurationContext) -> tuple[FailedItem, ...]:
    """Let skills follow what became of their memories; return what failed.

    Called after a change that hides or shows memories. What fails now is done by the
    next change, or by ``hm skill sync``.
    """
    try:
        store = SkillStore(context.state())
        if not store.all():
            return ()
        with skills_lock(context, "The skills stay as they are"):
            index = context.index.fresh(is_lookup=True)
            return tuple(
                failed
                for skill in store.all()
                for failed in _follow(context, index, store, skill)
            )
    except HivemindError as error:
        return (FailedItem(what="skills", why=str(error)),)


def _follow(
    context: CurationContext, index: MemoryIndex, store: SkillStore, skill: Skill
) -> Iterator[FailedItem]:
    """Take the copies of a skill away or put them back; yield what failed."""
    now = SkillNow(context, index, skill)
    is_away = bool(now.why_away)
    if all(copy.is_placed is not is_away for copy in skill.copies):
        return
    locks = context.places.locks
    copies = {copy.folder: copy for copy in skill.copies}

    def save(copy: SkillCopy) -> None:
        copies[copy.folder] = copy
        store.put(replaced(skill, copies=tuple(copies.values())))

    for copy in skill.copies:
        if copy.is_placed is not is_away or not is_root_there(copy):
            continue
        known = [c for each in store.all() for c in each.copies]
        try:
            if is_away:
                others = [other for other in known if other.folder != copy.folder]
                take_away(copy, save, others=others, locks=locks)
            else:
                around = _surroundings(context)
                _check_seen(around, now, copy)
                put_back(copy, save, around=around, known=known, locks=locks)
        except HivemindError as error:
            yield FailedItem(what=skill_file(copy), why=error.problem)


def _surroundings(context: CurationContext) -> SkillSurroundings:
    """Return what knows the agents of worktrees, or raise."""
    worktrees = context.find_worktrees()
    if worktrees is None:
        raise SkillNotWrittenError("It is not known whose agents read it.")
    return worktrees.around()


def _check_seen(around: SkillSurroundings, now: SkillNow, copy: SkillCopy) -> None:
    """Raise if agents must not read a copy where it was."""
    if now.memory is None:
        raise SkillNotWrittenError(f"{now.problem}.")
    if why := why_unseen_there(around, now.memory, copy):
        raise SkillNotWrittenError(f"{why}.")
