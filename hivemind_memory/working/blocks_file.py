"""Changes a file of blocks; commands that do so at once wait for each other."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from hivemind_memory.errors import NotSavedError, UsageError
from hivemind_memory.files.locks import exclusive
from hivemind_memory.working.block_json import block_from_json
from hivemind_memory.working.blocks import MemoryBlock
from hivemind_memory.working.loading import MEMORY_PREFIX
from hivemind_memory.working.working_memory import WorkingMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LOCK_WAIT_S = 10.0


@contextmanager
def changed_file(working: WorkingMemory, path: str, locks: str) -> Iterator[None]:
    """Load the blocks of a file, if there is one, and write them back at the end.

    Args:
        working: Takes the blocks.
        path: The file.
        locks: Folder for the lock.

    Raises:
        UsageError: The file holds something else; it is as it was.
        NotSavedError: It cannot be written, or another process holds it for long.
    """

    def refused(problem: str, hint: str) -> NotSavedError:
        return NotSavedError(problem, hint=hint, effect=f"{path} is as it was")

    name = blake2b(os.path.realpath(path).encode(), digest_size=12).hexdigest()
    lock = os.path.join(locks, f"blocks-{name}.lock")
    with exclusive(lock, wait_s=_LOCK_WAIT_S, refused=refused):
        if os.path.lexists(path):
            working.load(path)
        yield
        working.save(path)


def parse_blocks(text: str) -> list[MemoryBlock]:
    """Return the blocks of a JSON object, or of an array of them.

    Raises:
        UsageError: It is no JSON, or a field is wrong.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"Standard input is not JSON: {error}.") from error
    return [
        block_from_json(item)
        for item in (value if isinstance(value, list) else [value])
    ]


def block_named(name: str, **fields: Any) -> MemoryBlock:
    """Return the block that a word on the command line means.

    ``hm:KEY`` is a memory; else it is a file, or lines of it: ``cart.py:10-40``.

    Raises:
        UsageError: The lines are none.
    """
    given = {key: value for key, value in fields.items() if value is not None}
    if name.startswith(MEMORY_PREFIX):
        given |= {"type": "knowledge", "topic": name.removeprefix(MEMORY_PREFIX)}
        return block_from_json({**given, "location": name})
    path, colon, lines = name.rpartition(":")
    first, dash, last = lines.partition("-")
    is_range = bool(colon and path) and lines.isascii()
    is_range = is_range and first.isdigit() and (last.isdigit() or not dash)
    if not is_range:
        return block_from_json({"type": "file", "location": name, **given})
    given |= {"start_line": int(first), "end_line": int(last or first)}
    return block_from_json({"type": "file", "location": path, **given})
