"""Prints hits on a terminal: the best one whole, of the others the best lines.

All of them fit the screen if the best one leaves room, so that it is still in sight.
What is cut ends in "…", and its head says how many of the lines are shown.
"""

from __future__ import annotations

from shutil import get_terminal_size
from typing import NamedTuple

from hivemind_memory.cli.highlight import best_lines, spans
from hivemind_memory.cli.reflow import prose_lines, reflowed, reflowed_lines
from hivemind_memory.cli.terminal import (
    Text,
    hanging,
    indented,
    line_count,
    rendered,
    shortened,
    whole,
)
from hivemind_memory.model.display import count_text, escape_line, escape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_INDENT = 4
_MAX_LINES = 8
"""Lines of a hit that is not the best one."""

_MARK = "…"
"""Stands for what is left out."""

_REST_LINES = 4
"""Lines of the screen below the hits: how many there are, what is pending, a prompt."""


class ShownHit(NamedTuple):
    """The parts of a hit that a terminal shows."""

    place: str
    line_count: int
    """Lines of the note that it is."""

    score: str
    label: str
    is_fine: bool
    """There is no reason to doubt it."""

    date: str
    headings: str
    above: tuple[str, ...]
    """Lines between its head and its text."""

    snippet: str


def hits_text(hits: Sequence[ShownHit], query: str) -> str:
    """Return hits for the terminal, the first one whole."""
    if not hits:
        return ""
    size = get_terminal_size()
    width = size.columns - _INDENT
    first, *others = hits
    text = reflowed(escape_text(first.snippet).strip("\n").expandtabs(), width)
    pieces = [hanging(_head(first)), *_body(first, text, query), Text()]
    used = rendered(pieces).count("\n") + _REST_LINES
    used += sum(2 + len(hit.above) for hit in others)  # head, empty line
    limit = (size.lines - used) // max(len(others), 1)
    limit = max(1, min(limit, _MAX_LINES))
    for hit in others:
        lines, shown = _shown_lines(hit, query, limit, width)
        head = _head(hit, size.columns, shown)
        pieces += [hanging(head), *_body(hit, lines, query), Text()]
    return rendered(pieces)


def places_text(title: str, hits: Iterable[ShownHit]) -> str:
    """Return where hits are for the terminal, below a title and without their text."""
    return rendered([Text(title), *(indented(_head(hit)) for hit in hits)])


def _head(hit: ShownHit, width: int = 0, shown: int = 0) -> Text:
    """Return the line that says where a hit is and how good.

    Args:
        hit: The hit.
        width: Leaves out the end of its headings to be this wide; 0: all of them.
        shown: How many of its lines are shown; 0: all.
    """
    head = Text()
    head.append_text(whole(hit.place, "bold cyan"))
    if shown:
        head.append(f"  {shown} of {count_text(hit.line_count, 'line')}", "dim")
    head.append(hit.score, "green")
    if hit.label:
        label = f"  {escape_line(hit.label)}"
        head.append(label, "magenta" if hit.is_fine else "yellow")
    if hit.date:
        head.append(f"  {escape_line(hit.date)}", "dim")
    headings = escape_line(hit.headings)
    if width:
        headings = shortened(headings, width - head.cell_len - 2)
    if headings:
        head.append(f"  {headings}", "dim")
    return head


def _shown_lines(hit: ShownHit, query: str, limit: int, width: int) -> tuple[str, int]:
    """Return the lines of a hit that say most, and how many they are; 0: all.

    They fill *limit* lines of the screen at most. What is left out is marked.
    """
    text = escape_text(hit.snippet).strip("\n").expandtabs()
    lines = text.split("\n")
    prose = prose_lines(lines)
    for count in range(min(len(lines), limit), 0, -1):
        start, end = _filled(lines, *best_lines(text, query, count))
        shown = "\n".join(reflowed_lines(lines[start:end], prose[start:end], width))
        before = _MARK if start else ""
        after = _MARK if end < len(lines) else ""
        marked = " ".join(filter(None, (before, shown, after)))
        if line_count(marked, width) <= limit:
            return marked, (end - start) % len(lines)
    words = " ".join(shown.split())
    room = limit * width * 3 // 4 - len(before)
    cut = shortened(words, room) or words
    marked = f"{before} {cut}" if before else cut
    return marked, 1 if len(lines) > 1 else 0


def _filled(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Return a window without the empty lines at its ends."""
    while start < end - 1 and not lines[start].strip():
        start += 1
    while end - 1 > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _body(hit: ShownHit, lines: str, query: str) -> list[Text]:
    """Return the explanation, if any, and the lines of a hit, highlighted."""
    shown = Text(lines)
    for first, last in spans(lines, query):
        shown.stylize("bold yellow", first, last)
    above = (Text(line, "dim") for line in hit.above)
    return [indented(text) for text in (*above, shown)]
