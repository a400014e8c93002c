"""Requests and results of making skills from memories."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TO_ALL = "all"
SKILL_FOLDERS: Mapping[str, str] = {
    "claude": ".claude/skills",
    "codex": ".agents/skills",
}
"""Whom a skill is for -> the folder, below a worktree or home, that it reads.

The second is the common one: Gemini CLI, OpenCode, Cursor and others read it, too."""

UP_TO_DATE, OUTDATED, EDITED, MISSING, AWAY, UNREADABLE = (
    "up to date",
    "out of date",
    "edited",
    "missing",
    "taken away",
    "unreadable",
)
"""States of a copy, by what its file holds."""

WRITTEN, MERGED, KEPT, CONFLICT, GONE, FAILED = (
    "written",
    "merged",
    "kept",
    "conflict",
    "gone",
    "failed",
)
"""What a sync did with a copy, besides leaving it ``UP_TO_DATE`` or taking it
``AWAY``. Gone: its worktree is not there any more."""

IN_NO_FOLDER = "is no longer in any folder"
"""What is wrong with a skill that was removed wherever it was."""

SYNC = "hm skill sync"
"""The command that brings skills up to date."""

KEEP, REPLACE = "keep", "replace"
"""What a person wants of an edited copy: stay as it is, or be written anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRequest:
    """What to make a skill of, and where to put it."""

    ref: str
    """Key, id or path of the memory."""

    scope: str = ""
    """As a caller names it; empty: where the memory is found."""

    name: str = ""
    """Empty: made of the key."""

    description: str = ""
    """Empty: made of the memory."""

    to: str = TO_ALL
    """A name in ``SKILL_FOLDERS``, or all of them."""

    is_for_user: bool = False
    """In the home folder of the user rather than in the worktree."""

    is_dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedCopy:
    """What a sync did with one copy."""

    name: str
    file: str
    outcome: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotedSkill:
    """What a promotion did."""

    name: str
    version: int
    path: str
    """The note of the memory."""

    text: str
    """The whole ``SKILL.md``."""

    written: tuple[str, ...] = ()
    """Files that are new."""

    already: tuple[str, ...] = ()
    """Files that were there before."""

    synced: tuple[SyncedCopy, ...] = ()
    """What a new description did with those that were there before."""

    late_folders: tuple[str, ...] = ()
    """Folders of skills that were not there: running agents do not watch them."""

    is_dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillPlace:
    """A copy of a skill."""

    file: str
    state: str
    """One of ``UP_TO_DATE``, ``OUTDATED``, ``EDITED``, ``MISSING``, ``AWAY``,
    ``UNREADABLE``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillInfo:
    """A skill with its copies."""

    name: str
    scope: str
    key: str
    version: int
    path: str = ""
    """The note of the active memory; empty: there is none."""

    problem: str = ""
    """Why it is not what its memory says now; empty: it is."""

    hint: str = ""
    """The command that mends that."""

    is_edited: bool = False
    """A person has changed a copy."""

    text: str = ""
    """``SKILL.md`` as it is made from the memory now; empty: it cannot be."""

    places: tuple[SkillPlace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSync:
    """What a sync did."""

    copies: tuple[SyncedCopy, ...] = ()
    problems: tuple[str, ...] = ()
    """Skills that cannot be brought up to date, and why, in sentences."""

    is_dry_run: bool = False

    @property
    def is_complete(self) -> bool:
        """Everything is as it should be."""
        bad = {CONFLICT, FAILED}
        return not self.problems and not any(
            copy.outcome in bad for copy in self.copies
        )
