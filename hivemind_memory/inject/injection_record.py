"""Makes the record of an injection for the log and ``--json``, without any text."""

from __future__ import annotations

import os
from dataclasses import asdict

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.errors import StateUnusableError
from hivemind_memory.inject.section import render_excerpt
from hivemind_memory.model.injection_outcomes import UNCHANGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.model.injection import Excerpt, InjectionResult
    from hivemind_memory.state.injection_log import InjectionLog


SCOPES = "scopes"
"""In the log only: what those could see for whom an injection was made."""

GIT_FOLDER = "git_folder"
"""In the log only: where the repository keeps the hashes of what was injected."""


_IN_LOG_ONLY = (SCOPES, GIT_FOLDER)


def record_of(injection: InjectionResult, at: str) -> dict[str, Any]:
    """Return an injection as a JSON object.

    Args:
        injection: What was done.
        at: When, ISO 8601.
    """
    plan = injection.planned
    return {
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
        "facets": [asdict(facet) for facet in plan.facets],
        "why_empty": plan.why_empty,
        "warnings": [*injection.warnings, *plan.warnings],
    }


def readable_records(
    log: InjectionLog,
    worktree: str,
    caller: Caller,
    is_there: Callable[[dict[str, Any]], bool],
) -> list[dict[str, Any]]:
    """Return the newest record about each file of a worktree that a caller may read.

    Each says whether its section ``is_there``: since then it may have been removed, by
    `hm eject`, a person, git, or an injection of other notes.
    """
    others = log.files_of_others(worktree)
    return [
        {
            **{name: record[name] for name in record if name not in _IN_LOG_ONLY},
            "is_there": record["file"] not in others and is_there(record),
        }
        for record in log.last_records(worktree)
        if may_read_record(caller, record)
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


def log_injection(log: InjectionLog, record: dict[str, Any], git_folder: str) -> None:
    """Add to the injection log; a failure to write it stops nothing."""
    record[GIT_FOLDER] = git_folder
    try:
        is_known = any(
            known["file"] == record["file"] and known.get(SCOPES) == record[SCOPES]
            for known in log.last_records(record["worktree"])
        )
        if record["outcome"] == UNCHANGED and is_known:
            kept = ("at", "worktree", "agent", "outcome", "file", GIT_FOLDER)
            record = {key: record[key] for key in kept}
        log.append(record)
    except StateUnusableError:
        return


def are_there(notes: str, excerpts: Sequence[Excerpt]) -> bool:
    """Return whether all memories of a section are still in their notes."""
    for excerpt in excerpts:
        try:
            with open(os.path.join(notes, *excerpt.path.split("/")), "rb") as file:
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
        "path": excerpt.path,
        "start_line": excerpt.start_line,
        "end_line": excerpt.end_line,
        "date": excerpt.date,
        "type": excerpt.type,
        "session": excerpt.session,
        "tokens": estimate_tokens(render_excerpt(excerpt)),
        "score": round(excerpt.score, 6),
        "parts": [asdict(reason) for reason in excerpt.reasons],
    }
