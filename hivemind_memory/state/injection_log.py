"""What was injected when, into which file, and why: one JSON line for each injection.

Append-only and private. It holds places and figures, never the text of a memory, so
that forgetting one does not have to come here.
"""

from __future__ import annotations

import json
import os

from hivemind_memory.files import descriptors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


INJECTION_LOG_FILE = "injections.jsonl"
_MAX_BYTES = 8 * 1024 * 1024
_READ_BYTES = 1024 * 1024


def append(home: str, record: dict[str, Any]) -> None:
    """Add a line to the injection log of a home folder.

    The line goes in with one call, so that lines of several processes never mix. A
    log of more than 8 MB becomes the old one, and the one before it is deleted.
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
    """Return the last records of a log; torn lines are skipped."""
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
