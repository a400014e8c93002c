"""Takes skills away from agents while their memory does not count, and puts them back.

A skill whose memory was forgotten would go on telling agents what to do. What a person
had edited in it is kept in ``state.db`` meanwhile; a purge removes that, too.
"""

from __future__ import annotations

from hivemind_memory.access.visibility import PRIVATE
from hivemind_memory.curation.skill_memory import SkillNow, skills_lock
from hivemind_memory.curation.skill_sync import put_back, take_away
from hivemind_memory.errors import HivemindError, SkillNotWrittenError
from hivemind_memory.model.curation import FailedItem
from hivemind_memory.model.scope import FOLDERS
from hivemind_memory.model.value import replaced
from hivemind_memory.projects.known_project import known_scope
from hivemind_memory.skills.files import is_root_there, skill_file
from hivemind_memory.state.skills import SkillStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
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


def _why_elsewhere(context: CurationContext, skill: Skill, copy: SkillCopy) -> str:
    """Return why a copy must not be put back where it was; empty: it may.

    The place may be of another project by now, or the memory private. A sync asks git
    what agents see there, and decides what becomes of the copy.
    """
    index = context.index.fresh(is_lookup=True)
    memory = SkillNow(context, index, skill).memory
    if memory is None:
        return ""
    if not copy.git_folder:
        is_for_all = not memory.scope and memory.visibility != PRIVATE
        return "" if is_for_all else f"{memory.path} is no longer for every project"
    notes = context.places.notes
    is_of_project = memory.scope.startswith(f"{FOLDERS['project']}/")
    if is_of_project and known_scope(copy.root, notes) != memory.scope:
        return f"{copy.root} is not known to be of {memory.scope}; run `hm skill sync`"
    return ""


def _follow(
    context: CurationContext, index: MemoryIndex, store: SkillStore, skill: Skill
) -> Iterator[FailedItem]:
    """Take the copies of a skill away or put them back; yield what failed."""
    is_away = bool(SkillNow(context, index, skill).why_away)
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
        if not is_away and (why := _why_elsewhere(context, skill, copy)):
            yield FailedItem(what=skill_file(copy), why=why)
            continue
        others = [c for each in store.all() for c in each.copies]
        others = [other for other in others if other.folder != copy.folder]
        try:
            if is_away:
                take_away(copy, save, others=others, locks=locks)
            else:
                put_back(copy, save, locks=locks)
        except SkillNotWrittenError as error:
            yield FailedItem(what=skill_file(copy), why=error.problem)
