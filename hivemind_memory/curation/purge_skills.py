"""Purges skills: those that were made from a purged memory, and what was kept of them.

A copy that a person has edited goes too, because it holds the text; the receipt says
so. Files that a person has put next to it are theirs, and stay.
"""

from __future__ import annotations

from shlex import quote

from hivemind_memory.access.rules import may_write
from hivemind_memory.curation.skill_memory import skills_lock
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.curation import FailedItem
from hivemind_memory.model.note_path import GLOBAL_NOTE
from hivemind_memory.model.value import replaced
from hivemind_memory.skills.files import (
    is_root_there,
    other_files,
    read_copy,
    remove_copy,
    skill_file,
)
from hivemind_memory.state.skills import SkillStore
from hivemind_memory.state.use_log import UseLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.purge_report import PurgeReport
    from hivemind_memory.state.skills import Skill, SkillCopy

_AGAIN = "purge again to finish"
_BESIDE = "a person put it beside the skill: delete it if it must go"
_MOVED = "its worktree is gone; if it was moved, delete the file where it is now"


def count_skills(report: PurgeReport) -> None:
    """Report the skills that were made of it, and its uses."""
    report.skills += _quoting(report)
    try:
        skills = _purged(report)
        report.skills += _out_of_reach(report, skills)
        _report(report, skills, [copy for skill in skills for copy in skill.copies])
        _report_uses(report, UseLog(report.context.state()).count(report.is_purged_in))
    except HivemindError as error:
        report.fail("skills", str(error))


def clean_skills(report: PurgeReport) -> None:
    """Remove the skills that were made of it, edited or not, and its uses."""
    context = report.context
    report.skills += _quoting(report)
    try:
        with skills_lock(context, ""):
            skills = _purged(report)
            copies = [copy for skill in skills for copy in skill.copies]
            edited = [copy for copy in copies if _is_edited(copy)]
            report.skills += _out_of_reach(report, skills)
            for skill in skills:
                _remove(report, skill)
        _report(report, skills, copies, edited)
        _report_uses(report, UseLog(context.state()).drop(report.is_purged_in))
    except HivemindError as error:
        report.fail("skills", f"{error}; {_AGAIN}")


def _quoting(report: PurgeReport) -> Iterator[FailedItem]:
    """Yield the skills of other memories that hold the text; a person decides."""
    probes = report.probes()
    caller = report.context.caller
    try:
        skills = SkillStore(report.context.state()).all()
    except HivemindError:
        return  # cleaning them says so
    for skill in skills:
        is_seen = caller.scopes is None or skill.scope in caller.scopes
        if not is_seen or report.is_purged_in(skill.scope, skill.ref):
            continue
        for copy in skill.copies:
            if any(probe in _text_of(copy) for probe in probes):
                why = (
                    f"the skill {skill.name} has the same words; edit its memory"
                    " and run `hm skill sync`, or demote it"
                )
                yield FailedItem(what=_named(report, skill, copy), why=why)


def _out_of_reach(report: PurgeReport, skills: list[Skill]) -> Iterator[FailedItem]:
    """Yield what stays of some skills: files of persons, lost copies, commits."""
    is_owner = report.context.caller.is_owner
    for skill in skills:
        for copy in skill.copies:
            named = _named(report, skill, copy)
            if copy.is_placed and not is_root_there(copy):
                yield FailedItem(what=named, why=_MOVED)
            for file in other_files(copy):
                what = file if is_owner else f"a file beside {named}"
                yield FailedItem(what=what, why=_BESIDE)
    copies = [copy for skill in skills for copy in skill.copies]
    for root in sorted({copy.root for copy in copies if copy.git_folder}):
        if is_owner:
            yield FailedItem(what=root, why=_in_git(root))


def _named(report: PurgeReport, skill: Skill, copy: SkillCopy) -> str:
    """Return the name of a copy; the caller may not know of worktrees of others."""
    is_owner = report.context.caller.is_owner
    return skill_file(copy) if is_owner else f"a copy of the skill {skill.name}"


def _purged(report: PurgeReport) -> list[Skill]:
    """Return the skills that were made from a purged memory."""
    caller = report.context.caller
    keys = {(target.scope, target.key) for target in report.targets if target.key}
    return [
        skill
        for skill in SkillStore(report.context.state()).all()
        if may_write(caller, f"{skill.scope}/x.md" if skill.scope else GLOBAL_NOTE)
        and (
            report.is_purged_in(skill.scope, skill.ref)
            or (skill.scope, skill.key) in keys
        )
    ]


def _remove(report: PurgeReport, skill: Skill) -> None:
    """Remove all copies of a skill, and what is known of it."""
    store = SkillStore(report.context.state())
    left: list[SkillCopy] = []
    gone: set[str] = set()
    for copy in skill.copies:
        gone.add(copy.folder)
        known = [other for each in store.all() for other in each.copies]
        others = [other for other in known if other.folder not in gone]
        try:
            if is_root_there(copy):
                data = read_copy(copy) if copy.is_placed else None
                locks = report.context.places.locks
                remove_copy(copy, before=data, others=others, locks=locks)
        except HivemindError as error:
            gone.discard(copy.folder)
            left.append(replaced(copy, kept=None))
            report.fail(_named(report, skill, copy), f"{error}; {_AGAIN}")
    if left:
        store.put(replaced(skill, copies=tuple(left)))
    else:
        store.drop(skill)


def _in_git(root: str) -> str:
    """Return what git may keep of a skill in a worktree."""
    return (
        "agents that read the skill may have put its text into commits:"
        f" `git -C {quote(root)} log --all --reflog -p` shows them"
    )


def _report(
    report: PurgeReport,
    skills: list[Skill],
    copies: list[SkillCopy],
    edited: list[SkillCopy] | None = None,
) -> None:
    """Report how many files of skills there are; none is not worth a line."""
    if not skills:
        return
    if edited is None:
        edited = [copy for copy in copies if _is_edited(copy)]
    more = f", {len(edited)} edited by hand" if edited else ""
    report.add_count("skills", len(copies), f"files{more}")


def _report_uses(report: PurgeReport, count: int) -> None:
    """Report how many uses were counted."""
    if count:
        report.add_count("uses", count, "counts")


def _is_edited(copy: SkillCopy) -> bool:
    """Return whether a person has changed a copy, as far as that can be read."""
    if not copy.is_placed:
        return copy.kept is not None
    try:
        data = read_copy(copy)
    except HivemindError:
        return True
    return data is not None and data != copy.base.encode()


def _text_of(copy: SkillCopy) -> str:
    """Return what a copy holds, wherever that is kept."""
    try:
        data = read_copy(copy) if copy.is_placed else copy.kept
    except HivemindError:
        data = None
    text = data.decode("utf-8", "replace") if data is not None else ""
    return f"{copy.base}\n{text}"
