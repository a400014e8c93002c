"""Makes the addresses of pages."""

from __future__ import annotations

from urllib.parse import quote

from hivemind_memory.dashboard.page import ROOT
from hivemind_memory.markdown.html import PLACE
from hivemind_memory.model.query import Hit

NOTES = f"{ROOT}/notes"
MAX_LINES = 2_000
"""Of a note, on one page."""


def segment(text: str) -> str:
    """Return a text as one part of a path: its slashes are no separators.

    >>> segment("projects/shop/tea.md")
    'projects%2Fshop%2Ftea.md'
    """
    return quote(text, safe="")


def memory_address(memory_id: str, path: str) -> str:
    """Return the page of a memory; of one without an id, the page of its note."""
    return f"{ROOT}/{segment(memory_id)}" if memory_id else note_address(path)


def note_address(path: str, line: int = 0) -> str:
    """Return the page of a note, or the place on it where a line is shown.

    >>> note_address("a b.md")
    '/memory/notes/a%20b.md'
    >>> note_address("a.md", 2_001)
    '/memory/notes/a.md?from=2001&line=2001#at'
    """
    address = f"{NOTES}/{quote(path)}"
    if not line:
        return address
    start = (line - 1) // MAX_LINES * MAX_LINES + 1
    begin = f"from={start}&" if start > 1 else ""
    return f"{address}?{begin}line={line}#{PLACE}"


def hit_address(hit: Hit) -> str:
    """Return where a hit is read: on the page of its memory, or in its note."""
    if hit.id and hit.type:
        return memory_address(hit.id, hit.path)
    return note_address(hit.path, hit.start_line)
