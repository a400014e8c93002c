"""Which typed memories agents are told unasked, and which of their lines.

The one rule for sections and briefings: active, from a trusted source, not over,
not a copy of another memory's file, and not replaced by another that is told, by the
rule of a search. Whoever reads sees them only in its own scopes.
"""

from __future__ import annotations

from hivemind_memory.curation.copies import copied_paths
from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.markdown.entry import own_lines
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.model.matches import ChunkLocation
from hivemind_memory.model.memories import ACTIVE, SUPERSEDED
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.notes.memory_header import (
    day_of_iso,
    is_expired_or_done,
    is_forgotten,
)
from hivemind_memory.search.supersession import find_replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory import Memory
    from hivemind_memory.model.filters import Access
    from hivemind_memory.model.memories import MemoryRow


class ToldMemories:
    """The typed memories of some scopes, and which of them may be told.

    Attributes:
        rows: Those that the caller may see, by path, whatever their status.
        copies: Paths of copies, as ``copied_paths`` returns them.
        replaced: Path of a memory -> that of the one which is told instead.
        told: The most important first; of equals the newest.
    """

    def __init__(
        self, memory: Memory, scopes: frozenset[str] | None, today: int
    ) -> None:
        """Read them.

        Args:
            memory: Of the caller.
            scopes: Those that it may see, or some of them; None: all.
            today: Days since the epoch.
        """
        found, edges = memory.index_handle.run_fresh(
            lambda index: _read(index, scopes, memory.access)
        )
        self.rows = {row.path: row for row in found}
        self.copies = copied_paths(found)
        told = {
            row.path
            for row in found
            if row.status == ACTIVE
            and is_trusted(row.source)
            and row.path not in self.copies
            and not is_over(row, today)
        }
        self.replaced = (
            find_replaced(map(_place, filter(_counts, found)), edges, told)
            if edges
            else {}
        )
        self.told = [self.rows[path] for path in told.difference(self.replaced)]
        self.told.sort(key=lambda row: (row.created, row.path), reverse=True)
        self.told.sort(key=lambda row: -row.importance)


def _read(
    index: Index, scopes: frozenset[str] | None, access: Access
) -> tuple[list[MemoryRow], list[tuple[str, str, str]]]:
    """Return the memories of some scopes, and what they replace and dispute."""
    found = index.memories(scopes=scopes)
    if not index.has_strong_edges():
        return found, []
    paths = [row.path for row in found if _counts(row)]
    return found, list(index.strong_edges(paths, access))


def _counts(row: MemoryRow) -> bool:
    """Return whether a memory can replace others, or be replaced."""
    return row.status in (ACTIVE, SUPERSEDED)


def _place(row: MemoryRow) -> ChunkLocation:
    """Return where a memory is, as the rule for replaced ones reads it."""
    return ChunkLocation(
        chunk_id=0,
        path=row.path,
        start_line=1,
        end_line=1,
        day=day_of_iso(row.created),
        scope=row.scope,
        status=row.status,
        key=row.key,
        memory_id=row.memory_id,
    )


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
