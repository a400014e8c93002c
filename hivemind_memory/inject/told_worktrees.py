"""Finds what each worktree was told, for whoever may read that. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.errors import HivemindError
from hivemind_memory.inject.injection_record import may_read_record, readable_records
from hivemind_memory.model.injection_outcomes import WITH_SECTION
from hivemind_memory.state.injection_log import InjectionLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.memory import Memory

MAX_WORKTREES = 100
"""Listed at most, those injected into last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionInSection:
    """What became of a memory in the newest section of a worktree."""

    worktree: str
    file: str
    at: str
    """ISO 8601."""

    why_left_out: str
    """As ``LeftOut.why`` has it; empty: the section shows it."""


def list_told(memory: Memory) -> list[dict[str, Any]]:
    """Return the newest record of each worktree that the caller may read.

    The worktree that was injected into last comes first.

    Raises:
        StateUnusableError: The log cannot be read.
    """
    log = InjectionLog(memory.state())
    found = []
    for worktree in log.worktrees():
        records = log.last_records(worktree)
        readable = [
            record for record in records if may_read_record(memory.caller, record)
        ]
        found += readable[:1]
        if len(found) == MAX_WORKTREES:
            break
    return found


def why_told(
    memory: Memory, injector: Injector, worktree: str
) -> dict[str, Any] | None:
    """Return what ``Injector.why`` does; of a worktree that is gone, its last record.

    None: nothing was injected there, or the caller may not know of it.

    Raises:
        StateUnusableError: The log cannot be read.
    """
    log = InjectionLog(memory.state())
    # Only what the log names is looked at: a page may ask for any folder.
    if worktree not in log.worktrees():
        return None
    records = readable_records(log, worktree, memory.caller, lambda _: False)
    try:
        return injector.why(worktree) if records else None
    except (HivemindError, OSError):
        return {**records[0], "others": records[1:]}


def mentions_of(memory: Memory, path: str) -> list[MentionInSection]:
    """Return in which newest sections a memory is, or was left out of; newest first.

    Raises:
        StateUnusableError: The log cannot be read.
    """
    found = []
    for record in InjectionLog(memory.state()).newest_naming(path):
        if not may_read_record(memory.caller, record):
            continue
        is_told = record["outcome"] in WITH_SECTION and any(
            told["path"] == path for told in record["memories"]
        )
        why = next(
            (left["why"] for left in record["left_out"] if left["path"] == path), ""
        )
        if is_told or why:
            mention = MentionInSection(
                worktree=record["worktree"],
                file=record["file"],
                at=record["at"],
                why_left_out="" if is_told else why,
            )
            found.append(mention)
    return found
