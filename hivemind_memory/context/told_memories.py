"""Which typed memories agents are told unasked, and which of their lines.

The one rule for sections and briefings is that of ``curation.replaced``: what is told
and not replaced by another that is told. Whoever reads sees them only in its own
scopes.
"""

from __future__ import annotations

from hivemind_memory.curation.replaced import find_replacements, read_edges
from hivemind_memory.errors import NoteNotFoundError, NoteUnreadableError
from hivemind_memory.markdown.entry import own_lines
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.notes.memory_header import is_forgotten

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
        known = find_replacements(found, edges, today)
        self.copies, self.replaced = known.copies, known.replaced
        self.told = [self.rows[path] for path in known.told.difference(self.replaced)]
        self.told.sort(key=lambda row: (row.created, row.path), reverse=True)
        self.told.sort(key=lambda row: -row.importance)


def _read(
    index: Index, scopes: frozenset[str] | None, access: Access
) -> tuple[list[MemoryRow], list[tuple[str, str, str]]]:
    """Return the memories of some scopes, and what they replace and dispute."""
    found = index.memories(scopes=scopes)
    return found, read_edges(index, found, access)


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
