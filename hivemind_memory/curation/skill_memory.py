"""Finds the memory of a skill, and says whether it may be one now."""

from __future__ import annotations

import os

from hivemind_memory.curation.ambiguous_names import check_certain
from hivemind_memory.curation.locate import find_entry
from hivemind_memory.curation.lookup import find_memory, load_memory
from hivemind_memory.curation.status_names import as_of
from hivemind_memory.errors import MemoryNotFoundError, NotSavedError, UsageError
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.model.keys import no_such
from hivemind_memory.model.memories import ACTIVE, CONTRADICTS, SUPERSEDED
from hivemind_memory.model.value import replaced
from hivemind_memory.redaction.redact import mask
from hivemind_memory.skills.package import (
    SkillRefusal,
    is_same_skill,
    skill_text,
    version_in,
    why_no_skill,
)
from hivemind_memory.state.skills import SkillStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex
    from hivemind_memory.state.skills import Skill, SkillCopy


def skills_lock(context: CurationContext, effect: str) -> AbstractContextManager[None]:
    """Return the lock under which skills are made, written and removed."""
    return exclusive(
        os.path.join(context.places.shared_locks, "skills.lock"),
        wait_s=LOCK_WAIT_S,
        refused=lambda why, hint: NotSavedError(why, hint=hint, effect=effect),
    )


def memory_to_promote(
    context: CurationContext, ref: str, scope: str | None
) -> StoredMemory:
    """Return the memory that a name means, if it can be a skill.

    Raises:
        MemoryNotFoundError: The caller sees no such memory.
        UsageError: It cannot be one; the message says why.
    """
    effect = "Nothing was promoted"
    index = context.index.fresh(is_lookup=True)
    row = find_typed(context, index, ref, scope, effect=effect)
    memory = load_memory(context, row.path)
    if memory is None:
        raise MemoryNotFoundError(f"{row.path} cannot be read now.", effect=effect)
    refusal = why_refused(context, index, memory)
    if refusal is not None:
        raise refusal.as_error(mask(memory.key) or memory.path)
    return memory


def find_typed(
    context: CurationContext,
    index: MemoryIndex,
    ref: str,
    scope: str | None,
    *,
    effect: str,
) -> MemoryRow:
    """Return the memory that a name means, if it is certain which one.

    Raises:
        LineNotFoundError: The note ends before the line that is named.
        MemoryNotFoundError: The caller sees no such memory.
        UsageError: It is an entry, or several scopes have the key.
    """
    entry = find_entry(context, index, ref.strip(), scope)
    if entry is not None:
        raise UsageError(
            f"{mask(ref)} is an entry of {entry.path}, and no memory with a key.",
            hint="`hm save KEY` saves a text under a key.",
            effect=effect,
        )
    try:
        row = find_memory(context, index, ref, scope=scope)
    except MemoryNotFoundError as error:
        raise type(error)(error.problem, hint=error.hint, effect=effect) from error
    if scope is None:
        check_certain(context, index, ref, row, effect=effect)
    return row


def why_refused(
    context: CurationContext, index: MemoryIndex, memory: StoredMemory
) -> SkillRefusal | None:
    """Return why a memory cannot be a skill today; None: it can."""
    refusal = why_no_skill(as_of(memory, context.clocks.today()))
    if refusal is not None:
        return refusal
    for edge in index.edges_of(memory.path, scopes=frozenset({memory.scope})):
        if edge.kind != CONTRADICTS or edge.to_path != memory.path:
            continue
        rows = index.memories(path=edge.from_path)
        if any(row.status == ACTIVE for row in rows):
            return SkillRefusal(
                f"is disputed by {edge.from_path}",
                "Settle that first: forget one of them, or `hm unlink` them.",
            )
    return None


class SkillNow:
    """A skill compared with its memory as it is now."""

    __slots__ = ("is_valid", "memory", "new", "problem", "why_away")

    def __init__(
        self, context: CurationContext, index: MemoryIndex, skill: Skill
    ) -> None:
        self.why_away = _why_away(context, index, skill)
        """Why no agent may read it now; empty: they may."""
        self.memory = _active_memory(context, index, skill)
        """The active memory of its key; None: there is none."""
        self.problem = self.why_away
        """Why it cannot be made from the memory now; empty: it can."""
        self.new = skill
        """As it is made from the memory now."""
        if self.memory is None:
            self.problem = self.problem or "there is no active memory of its key"
        else:
            refusal = why_refused(context, index, self.memory)
            self.problem = "" if refusal is None else f"its memory {refusal.why}"
            # The version it was made from is gone, and a valid one has its place.
            if not self.problem:
                self.new = advanced(skill, self.memory)
        self.is_valid = not self.problem

    def text_of(self, copy: SkillCopy) -> str:
        """Return what a copy should hold; its memory is valid."""
        if self.memory is None:
            return copy.base
        return skill_text(self.new, self.memory, name=os.path.basename(copy.folder))

    def is_outdated(self, copy: SkillCopy) -> bool:
        """Return whether a copy was written from another text."""
        return self.is_valid and not is_same_skill(copy.base, self.text_of(copy))


def advanced(skill: Skill, memory: StoredMemory) -> Skill:
    """Return a skill as it is made from a memory: a new text is a new version."""
    now = replaced(skill, ref=memory.id)
    # A copy in conflict, or in a worktree that is gone, has an older text for long.
    newest = [copy for copy in skill.copies if version_in(copy.base) == skill.version]
    if newest and not any(
        is_same_skill(
            copy.base, skill_text(now, memory, name=os.path.basename(copy.folder))
        )
        for copy in newest
    ):
        return replaced(now, version=skill.version + 1)
    return now


def visible_skills(context: CurationContext) -> list[Skill]:
    """Return the skills of the scopes that the caller reads."""
    scopes = context.caller.scopes
    if not context.caller.is_member:
        return []
    return [
        skill
        for skill in SkillStore(context.state()).all()
        if scopes is None or skill.scope in scopes
    ]


def find_skill(
    context: CurationContext, name: str, scope: str | None, effect: str = ""
) -> Skill:
    """Return the skill of a name.

    Raises:
        MemoryNotFoundError: The caller sees none.
        UsageError: Several scopes have one.
    """
    seen = [s for s in visible_skills(context) if scope in (None, s.scope)]
    found = [skill for skill in seen if skill.name == name.strip()]
    # What is one skill's name may be the key of another.
    found = found or [skill for skill in seen if skill.key == name.strip()]
    if not found:
        raise MemoryNotFoundError(
            no_such("skill", mask(name)),
            hint="`hm skill list` lists the skills.",
            effect=effect,
        )
    if len(found) > 1:
        where = ", ".join(skill.scope or "global" for skill in found)
        raise UsageError(
            f"Several scopes have a skill {mask(name)}: {where}.",
            hint="Name one with --scope.",
            effect=effect,
        )
    return found[0]


def _why_away(context: CurationContext, index: MemoryIndex, skill: Skill) -> str:
    """Return why a skill does not count any more: its version, or the newest one."""
    here = frozenset({skill.scope})
    context.index.index_named(skill.ref)
    rows = index.memories(memory_id=skill.ref, scopes=here)
    if not rows:
        return "its memory is gone"
    if not any(row.status in (ACTIVE, SUPERSEDED) for row in rows):
        return "its memory is forgotten"
    if any(row.status == SUPERSEDED for row in rows):
        memory = _active_memory(context, index, skill)
        if memory is None:
            return ""
    elif (memory := load_memory(context, rows[0].path)) is None:
        return "its memory is gone"
    status = as_of(memory, context.clocks.today()).status
    return "" if status == "active" else f"its memory is {status}"


def _active_memory(
    context: CurationContext, index: MemoryIndex, skill: Skill
) -> StoredMemory | None:
    """Return the active memory of the key of a skill."""
    rows = index.memories(
        key=skill.key,
        scopes=frozenset({skill.scope}),
        statuses=frozenset({ACTIVE}),
    )
    # Copies of its file have the same key; the one with the known id comes first.
    rows = sorted(rows, key=lambda row: (row.memory_id != skill.ref, row.path))
    return load_memory(context, rows[0].path) if rows else None
