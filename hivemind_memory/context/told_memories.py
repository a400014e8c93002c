"""Which typed memories agents are told unasked, and which of their lines.

The one rule for sections and briefings: active, from a trusted source, not over, and
not a copy of another memory's file. Whoever reads sees them only in its own scopes.
"""

from __future__ import annotations

from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.markdown.entry import own_lines
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.notes.memory_header import is_expired_or_done, is_forgotten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.memories import MemoryRow


def told_rows(
    rows: Iterable[MemoryRow], copies: Collection[str], today: int
) -> list[MemoryRow]:
    """Return the memories that may be told, the most important first.

    Of equals the newest comes first.

    Args:
        rows: What the caller may see.
        copies: Paths of copies, as ``copied_paths`` returns them.
        today: Days since the epoch.
    """
    found = [
        row
        for row in rows
        if row.status == ACTIVE
        and is_trusted(row.source)
        and row.path not in copies
        and not is_over(row, today)
    ]
    found.sort(key=lambda row: (row.created, row.path), reverse=True)
    found.sort(key=lambda row: -row.importance)
    return found


def is_over(row: MemoryRow, today: int) -> bool:
    """Return whether a memory has expired or is done."""
    return is_expired_or_done(row.expires_day, row.done_day, today=today)


def read_own_lines(memory: Memory, path: str) -> tuple[int, list[str]]:
    """Return the number of the first line of a memory's text, and its lines.

    An entry that was appended to the file has a source of its own, perhaps an external
    one, so the memory ends before it. No lines: it is empty, forgotten, or no
    longer there.
    """
    try:
        text = memory.read(path).text
    except (NoteNotFoundError, NoteUnreadableError):
        return 1, []
    lines = text.split("\n")
    front = split_front_matter(text)
    if is_forgotten(front.values):
        return 1, []
    start = front.line_count
    while start < len(lines) and not lines[start].strip():
        start += 1
    return start + 1, own_lines(lines[start:])
