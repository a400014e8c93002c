"""Makes the record of an injection for the log and ``--json``, without any text.

Neither that of a memory nor that of a commit, a branch or a changed file: a purge has
to leave nothing of a memory, and each of these may repeat it or hold a secret.
"""

from __future__ import annotations

import os
from contextlib import suppress

from hivemind_memory.context.facets import FOLDER, PROJECT
from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.errors import StateUnusableError
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.inject.section import render_excerpt
from hivemind_memory.model.injection_outcomes import BEGUN, UNCHANGED
from hivemind_memory.model.value import as_dict
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.briefing import BriefingSource
    from hivemind_memory.model.injection import Excerpt, InjectionResult, SectionPlan
    from hivemind_memory.state.injection_log import InjectionLog


SCOPES = "scopes"
"""In the log only: what those could see for whom an injection was made."""

GIT_FOLDER = "git_folder"
"""In the log only: where the repository keeps the hashes of what was injected."""


_FACETS = "facets"

_NAMED_FACETS = frozenset({PROJECT, FOLDER})
"""Their text is the name of a folder or a repository. That of others is not kept."""

_IN_LOG_ONLY = (SCOPES, GIT_FOLDER)
_QUOTED = ("memories", "briefing")
"""The lists of what a section says."""

_KEPT = ("at", "worktree", "agent", "outcome", "file")
"""What the log tells of a section that is as it was."""


def record_of(injection: InjectionResult, at: str) -> dict[str, Any]:
    """Return an injection as a JSON object.

    Args:
        injection: What was done.
        at: When, ISO 8601.
    """
    plan = injection.planned
    record = {
        "at": at,
        "worktree": injection.worktree,
        "agent": injection.agent,
        "outcome": injection.outcome,
        "file": injection.file,
        "is_ours": injection.is_ours,
        "tokens": plan.tokens,
        "budget_tokens": plan.budget_tokens,
        "memories": [_memory_record(excerpt) for excerpt in plan.choice.excerpts],
        "left_out": [
            {**_memory_record(memory.excerpt), "why": memory.why}
            for memory in plan.choice.left_out
        ],
        "briefing": [
            {"id": source.id, "path": source.path, "type": source.type}
            for source in sources_of(plan)
        ],
        _FACETS: [as_dict(facet) for facet in plan.facets],
        "why_empty": plan.why_empty,
        "warnings": [*injection.warnings, *plan.warnings],
    }
    return without_text(record)


def sources_of(plan: SectionPlan) -> tuple[BriefingSource, ...]:
    """Return the memories that the briefing of a section was made from."""
    return plan.briefing.sources if plan.briefing else ()


def without_text(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without the text that was searched for.

    Records of earlier versions have it. The names of the project and of the folder
    stay, with secrets masked.
    """
    facets = record.get(_FACETS)
    if not isinstance(facets, list):
        return dict(record)
    cleaned = [
        {**facet, "text": mask(facet["text"])}
        if facet["name"] in _NAMED_FACETS
        else {**facet, "text": ""}
        for facet in facets
    ]
    return {**record, _FACETS: cleaned}


def readable_records(
    log: InjectionLog,
    worktree: str,
    caller: Caller,
    is_there: Callable[[dict[str, Any]], bool],
) -> list[dict[str, Any]]:
    """Return the newest record about each file of a worktree that a caller may read.

    Each says whether its section ``is_there``: since then it may have been removed, by
    `hm eject`, a person, git, or an injection of other notes. One that was begun counts
    only if its file has a section.
    """
    others = log.files_of_others(worktree)
    return [
        {
            **{
                name: value
                for name, value in without_text(record).items()
                if name not in _IN_LOG_ONLY
            },
            "is_there": record["file"] not in others and is_there(record),
        }
        for record in log.last_records(worktree)
        if may_read_record(caller, record)
        and (record["outcome"] != BEGUN or is_there(record))
    ]


def may_read_record(caller: Caller, record: Mapping[str, Any]) -> bool:
    """Return whether a caller may read a record of the log: all of it or nothing.

    It may if it sees what those saw for whom the injection was made. Records of earlier
    versions don't say what that was.
    """
    if caller.scopes is None:
        return True
    seen = record.get(SCOPES)
    return seen is not None and caller.scopes.issuperset(seen)


def is_for_others(log: InjectionLog, worktree: str, file: str, caller: Caller) -> bool:
    """Return whether the section in a file was made for other scopes than a caller's.

    Records of earlier versions don't say for whom; their sections count as its own.

    Raises:
        StateUnusableError: The log cannot be read.
    """
    if file in log.files_of_others(worktree):
        return True
    own = sorted(caller.scopes or ())
    return any(
        record["file"] == file and record.get(SCOPES, own) != own
        for record in log.last_records(worktree)
    )


class InjectionEntry:
    """One injection in the log: it is there before the section is.

    So a purge finds every section, also one whose writer was killed. What says that it
    began is replaced at the end. A failure to write the log stops nothing.
    """

    def __init__(self, log: InjectionLog, git_folder: str) -> None:
        """Take the log, and where hashes are kept of what is injected."""
        self._log = log
        self._git_folder = git_folder
        self._known: list[dict[str, Any]] = []
        self._file = ""

    def begin(self, record: Mapping[str, Any]) -> None:
        """Record that a section is about to be written."""
        self._file = record["file"]
        with suppress(StateUnusableError):
            self._known = self._log.last_records(record["worktree"])
            self._log.append(self._complete({**record, "outcome": BEGUN}))

    def cancel(self, worktree: str) -> None:
        """Record that none was written."""
        with suppress(StateUnusableError):
            self._log.drop_begun(worktree, self._file)

    def fail(self, record: Mapping[str, Any]) -> None:
        """Record that none could be written, though hashes are kept by now.

        A purge has to find those, and no section.
        """
        told = {key: record[key] for key in _KEPT}
        told.update(outcome=UNCHANGED, file="")
        with suppress(StateUnusableError):
            self._log.append(self._complete(told), ends=self._file)

    def finish(self, record: Mapping[str, Any]) -> None:
        """Record what was done."""
        is_known = record["outcome"] == UNCHANGED and any(
            known["file"] == record["file"]
            and known.get(SCOPES) == record[SCOPES]
            and not known["begun_at"]
            and _quoted_in(known) == _quoted_in(record)
            for known in self._known
        )
        told = {key: record[key] for key in _KEPT} if is_known else record
        with suppress(StateUnusableError):
            self._log.append(self._complete(told), ends=self._file)

    def _complete(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record as it is logged."""
        return {**record, GIT_FOLDER: self._git_folder}


def _quoted_in(record: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return the ids and paths of what a section quotes: a note may have moved."""
    return {
        (str(memory.get("id", "")), str(memory.get("path", "")))
        for kind in _QUOTED
        for memory in record.get(kind) or ()
    }


def quotes_hold(memory: Memory, plan: SectionPlan) -> bool:
    """Return whether all that a section quotes is still there.

    A briefing goes from ``state.db`` when one of its memories is forgotten; a purge
    takes the notes first.
    """
    quoted: list[Excerpt | BriefingSource] = [*plan.choice.excerpts, *sources_of(plan)]
    if not _are_there(memory.places.notes, quoted):
        return False
    if plan.briefing is None:
        return True
    from hivemind_memory.context.briefing import is_kept

    return is_kept(memory, plan.briefing)


def _are_there(notes: str, memories: Iterable[Excerpt | BriefingSource]) -> bool:
    """Return whether all memories are still in their notes."""
    for excerpt in memories:
        try:
            with open(
                os.path.join(notes, *excerpt.path.split("/")), "rb", opener=open_regular
            ) as file:
                if excerpt.id.encode() not in file.read():
                    return False
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            continue  # it cannot be read now
    return True


def _memory_record(excerpt: Excerpt) -> dict[str, Any]:
    """Return a memory without its text."""
    return {
        "id": excerpt.id,
        "path": excerpt.path,
        "start_line": excerpt.start_line,
        "end_line": excerpt.end_line,
        "date": excerpt.date,
        "type": excerpt.type,
        "session": excerpt.session,
        "agent": excerpt.agent,
        "tokens": estimate_tokens(render_excerpt(excerpt)),
        "score": round(excerpt.score, 6),
        "parts": [as_dict(reason) for reason in excerpt.reasons],
    }
