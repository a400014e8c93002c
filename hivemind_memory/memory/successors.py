"""Finds the memory that replaced a superseded hit. Reads the index only."""

from __future__ import annotations

from hivemind_memory.model.memories import UPDATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.index.port import Index
    from hivemind_memory.model.filters import Access


def successor_of(index: Index, path: str, access: Access) -> str:
    """Return the newest note that replaced one, as far as the caller sees it.

    Empty: nothing did. Of several, the first by path; a circle ends where it began.
    """
    seen, newest = {path}, ""
    while True:
        newer = {
            edge.from_path
            for edge in index.edges_of(newest or path, scopes=access.scopes)
            if edge.kind == UPDATES and edge.to_path == (newest or path)
        }
        # Only edges of notes that the caller sees count, and of none
        # that a person has not accepted.
        shown = index.strong_edges(newer - seen, access)
        found = sorted({start for start, kind, _ in shown if kind == UPDATES})
        if not found:
            return newest
        newest = found[0]
        seen.add(newest)
