"""Makes skills of memories, lists them, and demotes them.

A skill is made by a person alone: agents follow it without being asked again. The rows
in ``state.db`` are saved before a file is written, so that no file is ever forgotten.
"""

from __future__ import annotations

import os
from shlex import quote

from hivemind_memory.access.rules import check_enabled, check_person
from hivemind_memory.curation.skill_memory import (
    SkillNow,
    advanced,
    find_skill,
    memory_to_promote,
    skills_lock,
    visible_skills,
)
from hivemind_memory.curation.skill_places import (
    check_free,
    copies_wanted,
    is_missing_here,
    seen_copies,
)
from hivemind_memory.curation.skill_states import skill_info
from hivemind_memory.errors import HivemindError, SkillNotWrittenError, UsageError
from hivemind_memory.model.skills import (
    SYNC,
    PromotedSkill,
    SkillInfo,
)
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction.redact import mask
from hivemind_memory.skills.files import (
    read_copy,
    remove_copy,
    skill_file,
    top_made,
    write_copy,
)
from hivemind_memory.skills.package import (
    check_description,
    skill_name,
    skill_text,
)
from hivemind_memory.state.skills import Skill, SkillCopy, SkillStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.worktrees import SkillSurroundings
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.model.skills import SkillRequest, SkillSync, SyncedCopy

NOT_HERE = "it is not in this worktree"
"""What is wrong with a skill that other worktrees of the repository have."""

_NOT_PROMOTED = "Nothing was promoted"
_NOT_DEMOTED = "Nothing was demoted"


class Skills:
    """The skills that one caller sees and, if it is a person, makes."""

    def __init__(
        self, context: CurationContext, surroundings: SkillSurroundings
    ) -> None:
        """Take the caller's context, and where skills are placed."""
        self._context = context
        self.around = surroundings

    def promote(self, request: SkillRequest) -> PromotedSkill:
        """Make a memory a skill, or place one in further folders.

        Raises:
            HivemindError: Nothing was promoted; the message says why.
        """
        context = self._context
        if not request.is_dry_run:
            check_person(context.caller, "Promoting a memory")
        check_enabled(
            is_enabled=context.is_enabled, why_read_only=context.why_read_only
        )
        scope = context.find_scope(request.scope) if request.scope else None
        with (
            context.changing(_NOT_PROMOTED),
            skills_lock(context, _NOT_PROMOTED),
        ):
            memory = memory_to_promote(context, request.ref, scope)
            return _promote(context, self.around, request, memory)

    def list(self) -> list[SkillInfo]:
        """Return the skills, by name.

        Raises:
            StateUnusableError: They cannot be read now.
        """
        context = self._context
        with context.index.lock:
            skills = visible_skills(context)
            if not skills:
                return []
            index = context.index.fresh(is_lookup=True)
            return [self._info(skill, index) for skill in skills]

    def show(self, name: str, *, scope: str = "") -> SkillInfo:
        """Return one skill.

        Raises:
            MemoryNotFoundError: The caller sees no such skill.
            UsageError: Several scopes have one.
        """
        context = self._context
        where = context.find_scope(scope) if scope else None
        with context.index.lock:
            skill = find_skill(context, name, where)
            index = context.index.fresh(is_lookup=True)
            return self._info(skill, index)

    def _info(self, skill: Skill, index: MemoryIndex) -> SkillInfo:
        """Return a skill with the copies that the caller may know of."""
        copies = seen_copies(self._context, self.around, skill.copies)
        seen = replaced(skill, copies=copies)
        info = skill_info(seen, SkillNow(self._context, index, seen))
        if not info.problem and is_missing_here(self.around, skill.copies):
            return replaced(info, problem=NOT_HERE, hint=SYNC)
        return info

    def sync(
        self,
        name: str = "",
        *,
        scope: str = "",
        edited: str = "",
        is_dry_run: bool = False,
    ) -> SkillSync:
        """Update skills from their memories; see ``sync_skills``."""
        from hivemind_memory.curation.skill_sync import sync_skills

        context = self._context
        if not is_dry_run:
            check_person(context.caller, "Updating skills")
        where = context.find_scope(scope) if scope else None
        with context.changing(), skills_lock(context, "Nothing was changed"):
            return sync_skills(
                context,
                self.around,
                name,
                scope=where,
                edited=edited,
                is_dry_run=is_dry_run,
            )

    def demote(
        self, name: str, *, scope: str = "", discards_edits: bool = False
    ) -> tuple[str, ...]:
        """Remove a skill from all folders; return the files that were removed.

        The memory stays as it is.

        Raises:
            HivemindError: A copy is still there; the message says why.
            UsageError: A person has edited a copy, and *discards_edits* is not given.
        """
        context = self._context
        check_person(context.caller, "Demoting a skill")
        where = context.find_scope(scope) if scope else None
        with (
            context.changing(_NOT_DEMOTED),
            skills_lock(context, _NOT_DEMOTED),
        ):
            skill = find_skill(context, name, where, _NOT_DEMOTED)
            return _demote(context, skill, discards_edits=discards_edits)


def _promote(
    context: CurationContext,
    around: SkillSurroundings,
    request: SkillRequest,
    memory: StoredMemory,
) -> PromotedSkill:
    """Make a memory a skill; the caller holds the locks."""
    store = SkillStore(context.state())
    known = store.all()
    old = next(
        (
            skill
            for skill in known
            if (skill.scope, skill.key) == (memory.scope, memory.key)
        ),
        None,
    )
    skill = _named_skill(request, memory, old, known)
    wanted = copies_wanted(context, around, request, memory, skill)
    placed = {
        copy.folder
        for copy in skill.copies
        if copy.is_placed and os.path.lexists(skill_file(copy))
    }
    waiting = {copy.folder for copy in skill.copies if copy.kept is not None}
    if any(copy.folder in waiting and copy.folder not in placed for copy in wanted):
        raise UsageError(
            f"Edits to the skill {skill.name} are waiting to be put back.",
            hint="`hm skill sync` does that.",
            effect=_NOT_PROMOTED,
        )
    others = [copy for each in known for copy in each.copies]
    new: list[SkillCopy] = []
    for copy in wanted:
        if copy.folder not in placed:
            check_free(around, copy, others)
            made = top_made(copy.root, copy.folder, [*others, *new])
            text = skill_text(skill, memory, name=skill.name)
            new.append(replaced(copy, base=text, made=made))
    done = PromotedSkill(
        name=skill.name,
        version=skill.version,
        path=memory.path,
        text=skill_text(skill, memory, name=skill.name),
        written=tuple(skill_file(copy) for copy in new),
        already=tuple(skill_file(copy) for copy in wanted if copy.folder in placed),
        late_folders=tuple(
            os.path.dirname(copy.folder)
            for copy in new
            if not os.path.isdir(os.path.dirname(copy.folder))
        ),
        is_dry_run=request.is_dry_run,
    )
    if not request.is_dry_run:
        written = {copy.folder for copy in new}
        kept = [copy for copy in skill.copies if copy.folder not in written]
        # Without a new copy no file has the new version yet; a sync makes it.
        version = skill.version if new or old is None else old.version
        store.put(replaced(skill, version=version, copies=(*kept, *new)))
        _write_new(context, store, skill, old, new, others)
    if old is None or skill.description == old.description:
        return done
    return replaced(done, synced=_described(context, around, skill, done))


def _described(
    context: CurationContext,
    around: SkillSurroundings,
    skill: Skill,
    done: PromotedSkill,
) -> tuple[SyncedCopy, ...]:
    """Give the copies that were there the new description; return what was done."""
    from hivemind_memory.curation.skill_sync import sync_skills

    if done.is_dry_run:
        return ()
    synced = sync_skills(
        context, around, skill.name, scope=skill.scope, edited="", is_dry_run=False
    )
    return tuple(copy for copy in synced.copies if copy.file not in done.written)


def _named_skill(
    request: SkillRequest,
    memory: StoredMemory,
    old: Skill | None,
    known: Sequence[Skill],
) -> Skill:
    """Return the skill that a memory becomes, with the copies that it has."""
    description = check_description(request.description)
    name = skill_name(request.name or (old.name if old else ""), memory.key)
    if old is not None:
        if name != old.name:
            raise UsageError(
                f"{mask(memory.key)} is already the skill {old.name}.",
                hint=f"`hm skill demote {quote(old.name)}` removes it.",
                effect=_NOT_PROMOTED,
            )
        now = replaced(old, description=description or old.description)
        return advanced(now, memory)
    for skill in known:
        if (skill.scope, skill.name) == (memory.scope, name):
            raise UsageError(
                f"The skill {name} is made from {mask(skill.key)}.",
                hint="Give another name with --name.",
                effect=_NOT_PROMOTED,
            )
    return Skill(
        name=name,
        scope=memory.scope,
        ref=memory.id,
        key=memory.key,
        version=1,
        description=description,
    )


def _write_new(
    context: CurationContext,
    store: SkillStore,
    skill: Skill,
    old: Skill | None,
    new: Sequence[SkillCopy],
    others: Sequence[SkillCopy],
) -> None:
    """Write new copies; if one cannot be written, none is.

    Args:
        context: Of the caller.
        store: Has the skill with the new copies already, so that none is ever unknown.
        skill: The skill as it is to be.
        old: As it was; None: there was none.
        new: Copies to write.
        others: Of other skills.
    """
    locks = context.places.locks
    done: list[SkillCopy] = []
    try:
        for copy in new:
            done.append(copy)
            write_copy(copy, copy.base.encode(), before=None, locks=locks)
    except HivemindError as error:
        left = []
        for copy in done:
            before = copy.base.encode() if copy is not done[-1] else None
            try:
                remove_copy(copy, before=before, others=others, locks=locks)
            except HivemindError:
                left.append(copy)  # a purge and a demotion have to find it
        if left:
            store.put(replaced(skill, copies=(*(old.copies if old else ()), *left)))
        elif old is not None:
            store.put(old)
        else:
            store.drop(skill)
        raise type(error)(
            error.problem, hint=error.hint, effect=_NOT_PROMOTED
        ) from error


def _demote(
    context: CurationContext, skill: Skill, *, discards_edits: bool
) -> tuple[str, ...]:
    """Remove all copies of a skill; the caller holds the locks."""
    store = SkillStore(context.state())
    held = {}
    for copy in skill.copies:
        held[copy.folder] = read_copy(copy) if copy.is_placed else None
        data = held[copy.folder]
        is_kept = copy.kept is not None and data is None
        is_changed = data is not None and data != copy.base.encode()
        is_edited = is_kept or is_changed
        if is_edited and not discards_edits:
            raise UsageError(
                f"{skill_file(copy)} was edited by hand.",
                hint="--discard-edits removes it with the edits. To keep them as a"
                " skill of your own, copy it to a folder of another name first.",
                effect=_NOT_DEMOTED,
            )
    removed = []
    left = list(skill.copies)
    everything = [copy for each in store.all() for copy in each.copies]
    for copy in skill.copies:
        others = [other for other in everything if other.folder != copy.folder]
        data = held[copy.folder]
        try:
            remove_copy(copy, before=data, others=others, locks=context.places.locks)
        except SkillNotWrittenError:
            store.put(replaced(skill, copies=tuple(left)))
            raise
        left.remove(copy)
        everything.remove(copy)
        if data is not None:
            removed.append(skill_file(copy))
    store.drop(skill)
    return tuple(removed)
