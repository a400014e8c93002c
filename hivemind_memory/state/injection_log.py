"""What was injected when, into which file, and why: one JSON line for each injection.

Append-only and private. It holds places and figures, never the text of a memory, so
that forgetting one does not have to come here.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict

from hivemind_memory.context.tokens import estimate_tokens
from hivemind_memory.files import descriptors
from hivemind_memory.inject.section import render_excerpt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.model.injection import Excerpt, InjectionResult


INJECTION_LOG_FILE = "injections.jsonl"
_MAX_BYTES = 8 * 1024 * 1024
_READ_BYTES = 1024 * 1024


def record_of(injection: InjectionResult, at: str) -> dict[str, Any]:
    """Return an injection as the ledger and ``--json`` tell it."""
    planned = injection.planned
    return {
        "at": at,
        "worktree": injection.worktree,
        "agent": injection.agent,
        "outcome": injection.outcome,
        "file": injection.file,
        "is_ours": injection.is_ours,
        "tokens": planned.tokens,
        "budget_tokens": planned.budget_tokens,
        "memories": [_memory_record(excerpt) for excerpt in planned.choice.excerpts],
        "left_out": [
            {**_memory_record(one.excerpt), "why": one.why}
            for one in planned.choice.left_out
        ],
        "facets": [asdict(facet) for facet in planned.facets],
        "why_empty": planned.why_empty,
        "warnings": [*injection.warnings, *planned.warnings],
    }


def append(home: str, record: dict[str, Any]) -> None:
    """Add a line to the ledger of a home folder.

    The line goes in with one call, so that lines of several processes never mix. A
    ledger of more than 8 MB becomes the old one, and the one before it is gone.
    """
    descriptors.make_private_folder(home)
    path = os.path.join(home, INJECTION_LOG_FILE)
    flags = descriptors.APPEND | os.O_CREAT
    fd = os.open(path, flags, descriptors.PRIVATE_FILE)
    try:
        descriptors.set_mode(fd, descriptors.PRIVATE_FILE)
        line = json.dumps(record, separators=(",", ":")) + "\n"
        descriptors.write_all(fd, line.encode())
        is_large = os.fstat(fd).st_size > _MAX_BYTES
    finally:
        os.close(fd)
    if is_large:
        os.replace(path, f"{path}.old")


def last_records(home: str, worktree: str) -> list[dict[str, Any]]:
    """Return the newest line about each file of a worktree that names its memories.

    The file that was looked at last comes first. When its section was left as it was,
    ``seen_at`` says when.
    """
    seen_at: dict[str, str] = {}
    found: dict[str, dict[str, Any]] = {}
    for record in _newest_first(os.path.join(home, INJECTION_LOG_FILE)):
        if record.get("worktree") != worktree:
            continue
        file = str(record.get("file", ""))
        if record.get("outcome") == "unchanged" and "memories" not in record:
            seen_at.setdefault(file, str(record.get("at", "")))
            found.setdefault(file, {})  # it keeps its place
        elif not found.get(file):
            found[file] = {**record, "seen_at": seen_at.get(file, "")}
    return [record for record in found.values() if record]


def _newest_first(path: str) -> list[dict[str, Any]]:
    """Return the last lines of a ledger; what is torn is passed over."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _READ_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    records = []
    for line in reversed(lines):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def _memory_record(excerpt: Excerpt) -> dict[str, Any]:
    """Return a memory without its text."""
    return {
        "path": excerpt.path,
        "start_line": excerpt.start_line,
        "end_line": excerpt.end_line,
        "date": excerpt.date,
        "type": excerpt.type,
        "tokens": estimate_tokens(render_excerpt(excerpt)),
        "score": round(excerpt.score, 6),
        "parts": [asdict(reason) for reason in excerpt.reasons],
    }
