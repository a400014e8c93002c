"""A working memory in one file, and what changed between two moments.

The file holds the blocks and, for each file among them, the digest of its bytes; not
the text of files and memories. It is JSON with a version, readable by its owner alone
and replaced whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hivemind_memory.errors import HivemindError, NotSavedError, UsageError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.errors import cause_of, hint_for_given, reason_of
from hivemind_memory.working.block_json import block_from_json, block_to_json
from hivemind_memory.working.blocks import MemoryBlock

FORMAT = "hivemind-working-memory"
VERSION = 1
MAX_BYTES = 64 << 20

CHANGED, MISSING = "changed", "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The blocks at one time, and the digests of the files among them."""

    blocks: Mapping[str, MemoryBlock]
    """Id -> block."""

    digests: Mapping[str, str] = field(default_factory=dict)
    """Id -> digest of the file; empty: it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed from one moment to a later one: ids, sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """The block says something else, or its file does."""


def difference(before: Moment, after: Moment) -> Difference:
    """Return what changed between two moments."""
    both = before.blocks.keys() & after.blocks.keys()
    changed = [
        name
        for name in both
        if before.blocks[name] != after.blocks[name]
        or before.digests.get(name) != after.digests.get(name)
    ]
    return Difference(
        added=tuple(sorted(after.blocks.keys() - before.blocks.keys())),
        removed=tuple(sorted(before.blocks.keys() - after.blocks.keys())),
        changed=tuple(sorted(changed)),
    )


def write_snapshot(path: str, moment: Moment, recent_files: Iterable[str]) -> None:
    """Write a moment to a file, whole or not at all.

    Raises:
        NotSavedError: The system refused; what was there is as it was.
    """
    blocks = []
    for block_id, block in moment.blocks.items():
        written = block_to_json(block)
        if block_id in moment.digests:
            written["seen_digest"] = moment.digests[block_id]
        blocks.append(written)
    value = {
        "format": FORMAT,
        "version": VERSION,
        "recent_files": list(recent_files),
        "blocks": blocks,
    }
    data = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    try:
        write_file(os.path.abspath(path), data + b"\n")
    except OSError as error:
        cause, hint = cause_of(error)
        effect = f"Nothing was saved to {path}"
        raise NotSavedError(f"{cause}.", hint=hint, effect=effect) from error


def read_snapshot(path: str) -> tuple[Moment, tuple[str, ...]]:
    """Return what a file holds: blocks with digests, and the files in use.

    A plain JSON array of blocks will do, too.

    Raises:
        HivemindError: It cannot be read.
        UsageError: It holds no blocks; the message names the field.
    """
    value = _parsed(path)
    if isinstance(value, list):
        value = {"version": VERSION, "blocks": value}
    if not isinstance(value, dict) or not isinstance(value.get("blocks"), list):
        hint = 'It is an array of blocks, or an object with the key "blocks".'
        raise UsageError(f"{path} holds no blocks.", hint=hint)
    version = value.get("version", VERSION)
    if version != VERSION:
        hint = "Install a newer version of Hivemind Memory, or begin a new file."
        raise UsageError(f"{path} has version {version!r}, not {VERSION}.", hint=hint)
    blocks: dict[str, MemoryBlock] = {}
    digests: dict[str, str] = {}
    for number, item in enumerate(value["blocks"], start=1):
        seen = item.pop("seen_digest", None) if isinstance(item, dict) else None
        try:
            block = block_from_json(item)
        except UsageError as error:
            problem = f"{path}: block {number}: {error.problem}"
            raise UsageError(problem) from error
        blocks.pop(block.id, None)
        blocks[block.id] = block
        if isinstance(seen, str):
            digests[block.id] = seen
    recent = value.get("recent_files", [])
    files = tuple(path for path in recent if isinstance(path, str)) if recent else ()
    return Moment(blocks=blocks, digests=digests), files


def _parsed(path: str) -> Any:
    """Return the JSON in a file."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"{path} cannot be read: {reason_of(error)}."
        raise HivemindError(message, hint=hint_for_given(error)) from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES >> 20} MB.")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}.") from error
