"""Brings skills up to date with their memories, and keeps what a person edited.

Each copy is compared with what was written there last. Where only the memory has
changed, the copy is written anew; where only a person has changed it, it stays; where
both have, the two are merged, unless they change the same lines.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from hivemind_memory.curation.away_skills import take_away, write_away
from hivemind_memory.curation.skill_memory import (
    SkillNow,
    find_skill,
    visible_skills,
)
from hivemind_memory.curation.skill_places import (
    check_free,
    seen_copies,
    why_unseen,
    why_unseen_there,
)
from hivemind_memory.errors import HivemindError, SkillNotWrittenError, UsageError
from hivemind_memory.model.keys import operand
from hivemind_memory.model.skills import (
    AWAY,
    CONFLICT,
    FAILED,
    GONE,
    IN_NO_FOLDER,
    KEEP,
    KEPT,
    MERGED,
    REPLACE,
    UP_TO_DATE,
    WRITTEN,
    SkillSync,
    SyncedCopy,
)
from hivemind_memory.model.value import replaced
from hivemind_memory.skills.files import (
    hide_from_git,
    is_root_there,
    read_copy,
    remove_copy,
    show_to_git,
    skill_file,
    top_made,
    write_copy,
)
from hivemind_memory.skills.merge import merge
from hivemind_memory.state.skills import SkillStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.worktrees import SkillSurroundings
    from hivemind_memory.state.skills import Skill, SkillCopy


def sync_skills(
    context: CurationContext,
    around: SkillSurroundings,
    name: str,
    *,
    scope: str | None,
    edited: str,
    is_dry_run: bool,
) -> SkillSync:
    """Update skills; the caller holds the locks.

    Args:
        context: Of the caller.
        around: The worktree, in which skills of its repository are placed too.
        name: Of one skill; empty: all that the caller sees.
        scope: Of the memory of that one; None: any.
        edited: What to do with a copy where a merge fails: ``keep`` or ``replace`` it;
            empty: leave it alone, and say so.
        is_dry_run: Only say what would be done.

    Raises:
        MemoryNotFoundError: There is no such skill.
        StateUnusableError: They cannot be read now.
    """
    if edited not in ("", KEEP, REPLACE):
        raise UsageError(f"edited must be {KEEP} or {REPLACE}.")
    skills = [find_skill(context, name, scope)] if name else visible_skills(context)
    if not skills:
        return SkillSync(is_dry_run=is_dry_run)
    index = context.index.fresh(is_lookup=True)
    done: list[SyncedCopy] = []
    problems: list[str] = []
    for skill in skills:
        now = SkillNow(context, index, skill)
        work = _SkillWork(
            context, around, skill, now, edited=edited, is_dry_run=is_dry_run
        )
        seen = seen_copies(context, around, skill.copies)
        hidden = {skill_file(copy) for copy in skill.copies if copy not in seen}
        done += [told for told in work.sync() if told.file not in hidden]
        if now.problem and not now.why_away:
            problems.append(f"The skill {skill.name} stays as it is: {now.problem}.")
        elif not skill.copies:
            command = f"`hm skill promote {operand(skill.key)}`"
            problems.append(f"The skill {skill.name} {IN_NO_FOLDER}: {command}.")
    return SkillSync(
        copies=tuple(done), problems=tuple(problems), is_dry_run=is_dry_run
    )


class _SkillWork:
    """The work on one skill."""

    def __init__(
        self,
        context: CurationContext,
        around: SkillSurroundings,
        skill: Skill,
        now: SkillNow,
        *,
        edited: str,
        is_dry_run: bool,
    ) -> None:
        self._store = SkillStore(context.state())
        self._around = around
        self._locks = context.places.locks
        self._skill = skill
        self._now = now
        self._edited = edited
        self._is_dry_run = is_dry_run

    def sync(self) -> Iterator[SyncedCopy]:
        """Bring all copies up to date, and yield what was done with each."""
        if self._now.is_valid and self._now.new.version == self._skill.version:
            self._save(replaced(self._now.new, copies=self._skill.copies))
        for copy in self._skill.copies:
            try:
                why = self._why_unseen(copy)
                outcome = self._withdrawn(copy, why) if why else self._synced(copy)
                yield self._told(copy, outcome, why if outcome == AWAY else "")
            except HivemindError as error:
                yield self._told(copy, FAILED, error.problem)
        if self._now.is_valid:
            yield from self._placed_here()

    def _why_unseen(self, copy: SkillCopy) -> str:
        """Return why agents must not read a copy where it is; empty: they may.

        A path may be of another repository now, or the memory may have become private.
        """
        if self._now.memory is None or not is_root_there(copy):
            return ""
        return why_unseen_there(self._around, self._now.memory, copy)

    def _save(self, skill: Skill) -> None:
        """Save a skill as the current one; a dry run doesn't."""
        if not self._is_dry_run:
            self._store.put(skill)
            self._skill = skill

    def _save_copy(self, new: SkillCopy) -> None:
        """Save a copy of the skill; the first with a new text makes a new version."""
        skill = self._now.new if self._now.is_valid else self._skill
        copies = [copy for copy in self._skill.copies if copy.folder != new.folder]
        self._save(replaced(skill, copies=(*copies, new)))

    def _told(self, copy: SkillCopy, outcome: str, why: str = "") -> SyncedCopy:
        """Return what is told of a copy."""
        if outcome == CONFLICT:
            why = (
                "its text and your edits change the same lines;"
                " `hm skill sync --edited keep` or `--edited replace` settles it"
            )
        elif outcome == AWAY:
            why = why or self._now.why_away
        return SyncedCopy(
            name=self._skill.name, file=skill_file(copy), outcome=outcome, why=why
        )

    def _withdrawn(self, copy: SkillCopy, why: str) -> str:
        """Remove a copy that agents must not read, and forget it.

        Raises:
            SkillNotWrittenError: A person has edited it, so it stays.
        """
        data = read_copy(copy) if copy.is_placed else None
        if data is not None and data != copy.base.encode():
            raise SkillNotWrittenError(
                f"{why}. It was edited by hand, so it stays: remove it yourself."
            )
        if copy.kept is not None:
            return AWAY  # a person's edits, which a demotion asks about
        if not self._is_dry_run:
            others = self._others(copy)
            remove_copy(copy, before=data, others=others, locks=self._locks)
            copies = [c for c in self._skill.copies if c.folder != copy.folder]
            self._save(replaced(self._skill, copies=tuple(copies)))
        return AWAY

    def _synced(self, copy: SkillCopy) -> str:
        """Bring a copy up to date; return what was done."""
        if not is_root_there(copy):
            self._leave(copy)
            return GONE
        if not self._now.is_valid and self._now.why_away:
            if copy.is_placed and not self._is_dry_run:
                others = self._others(copy)
                take_away(copy, self._save_copy, others=others, locks=self._locks)
            return AWAY
        data = read_copy(copy) if copy.is_placed else copy.kept
        if data is None and copy.kept is not None:  # see ``take_away``
            copy, data = replaced(copy, is_placed=False), copy.kept
        decided = self._decided(copy, data)
        if not self._is_dry_run and (copy.is_placed or decided.outcome != CONFLICT):
            self._write(copy, data, decided)
        return decided.outcome

    def _decided(self, copy: SkillCopy, data: bytes | None) -> _Decision:
        """Return what a copy shall hold that holds *data* now; None: it is missing."""
        base = copy.base
        if not self._now.is_valid:
            is_edited = data is not None and data != base.encode()
            return _Decision(None, base, KEPT if is_edited else UP_TO_DATE)
        text = self._now.text_of(copy) if self._now.is_outdated(copy) else base
        is_plain = data is None or data == base.encode() or self._edited == REPLACE
        if data == text.encode():
            return _Decision(None, text, UP_TO_DATE)
        if data is None or is_plain:
            return _Decision(text.encode(), text, WRITTEN)
        merged = None if text == base else _merged_text(base, data, text)
        if merged is not None:
            return _Decision(merged.encode(), text, MERGED)
        if text == base or self._edited == KEEP:
            return _Decision(None, text, KEPT)
        return _Decision(None, base, CONFLICT)

    def _write(self, copy: SkillCopy, data: bytes | None, decided: _Decision) -> None:
        """Write a copy as it was decided, and save what it was written from."""
        new = replaced(copy, base=decided.base, is_placed=True, kept=None)
        if not copy.is_placed:
            text = data if decided.data is None else decided.data
            if text is not None:
                write_away(
                    copy,
                    text,
                    around=self._around,
                    known=self._known(),
                    locks=self._locks,
                )
        elif decided.data is not None:
            write_copy(copy, decided.data, before=data, locks=self._locks)
        else:
            hide_from_git(copy, self._locks)  # its line may have been lost
        if new != copy:
            self._save_copy(new)

    def _leave(self, copy: SkillCopy) -> None:
        """Forget a copy whose worktree is gone.

        The last one of a repository is kept: by it, new worktrees get the skill.
        """
        same = [c for c in self._skill.copies if c.git_folder == copy.git_folder]
        # A disk that is not mounted, or a moved repository, may come back; edits too.
        may_return = copy.kept is not None or not os.path.isdir(copy.git_folder)
        if self._is_dry_run or may_return or len(same) == 1:
            return
        show_to_git(copy, self._others(copy), self._locks)
        copies = [c for c in self._skill.copies if c.folder != copy.folder]
        self._save(replaced(self._skill, copies=tuple(copies)))

    def _known(self) -> list[SkillCopy]:
        """Return all copies of all skills."""
        return [copy for skill in self._store.all() for copy in skill.copies]

    def _others(self, copy: SkillCopy) -> list[SkillCopy]:
        """Return all other copies of all skills."""
        return [other for other in self._known() if other.folder != copy.folder]

    def _placed_here(self) -> Iterator[SyncedCopy]:
        """Place the skill in this worktree if another one of its repository has it."""
        around, memory = self._around, self._now.memory
        repository = around.repository_of(around.folder)
        if repository is None or memory is None:
            return
        copies = self._skill.copies
        same = [c for c in copies if c.git_folder == repository.common_dir]
        try:
            if same and why_unseen(around, memory, repository.top):
                return
        except HivemindError:
            return  # the copies that are here have said why
        known = {c.folder for c in same}
        for path in sorted({os.path.relpath(c.folder, c.root) for c in same}):
            folder = os.path.join(repository.top, path)
            if folder in known:
                continue
            others = self._known()
            copy = replaced(same[0], folder=folder, root=repository.top)
            copy = replaced(copy, kept=None, is_placed=True)
            copy = replaced(
                copy,
                base=self._now.text_of(copy),
                made=top_made(copy.root, folder, others),
            )
            before = self._skill
            try:
                check_free(around, copy, others)
                self._save_copy(copy)
                if not self._is_dry_run:
                    write_copy(copy, copy.base.encode(), before=None, locks=self._locks)
                yield self._told(copy, WRITTEN)
            except HivemindError as error:
                self._save(before)
                yield self._told(copy, FAILED, error.problem)


class _Decision(NamedTuple):
    """What a copy shall hold."""

    data: bytes | None
    """To be written; None: it stays as it is."""

    base: str
    """The text of the memory that it has then."""

    outcome: str


def _merged_text(base: str, mine: bytes, theirs: str) -> str | None:
    """Return a merge; None: the same lines are changed, or the edit is no text."""
    try:
        return merge(base, mine.decode(), theirs)
    except UnicodeDecodeError:
        return None
