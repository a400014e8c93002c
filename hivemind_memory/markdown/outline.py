"""The outline of a text: its blocks, and a scan that finds them without a parser.

``note_parser`` finds outlines with markdown-it, which takes microseconds for a line
however short it is. For ordinary notes that is nothing; for a megabyte of ``>`` it is
half a minute. Such text is scanned here, with expressions in linear time: they find
fences, headings, items and paragraphs, but not their nesting.

All other text is parsed, with the rules of ``block_rules``.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from hivemind_memory.markdown.text import is_blank
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


MAX_TITLE_CHARS = 200
"""A heading is repeated in each of its chunks, and a setext heading may be a page."""

# What a parser takes, measured: for any line; for one that is neither prose nor a
# plain list item; for each character of the markers it begins with, which may open
# containers. And what it may take: 1 s for a megabyte, 10 ms for any text at all.
_ANY_LINE_US = 4
_LINE_US = 10
_MARKER_US = 4
_CHAR_US = 1
_FREE_US = 10_000

_MAX_LINES = 100_000
"""A text too dense to parse that has more lines is no text: it has no outline."""

_MARKERS = lazy_re(
    r"^[ \t]*+(?!(?:[-*+]|[0-9]{1,9}[.)]) {1,4}[^\W\d_])"
    r"((?:[-*+>|#=_<\[][ \t]*+|[0-9]++[.)][ \t]*+){1,12}+|[`~](?=[`~]{2}))",
    re.MULTILINE,
)
_OPENING = lazy_re(
    r"^(?: {0,3}(#{1,6})(?:[ \t](.*)|\r?)|[ \t]*+(?:(`{3,})[^`\n]*|(~{3,}).*))$",
    re.MULTILINE,
)
_ITEM = lazy_re(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]")


# Plain tuples, not dataclasses: a megabyte may hold 250,000 headings.
class Heading(NamedTuple):
    """A heading at the top level of a text. Lines are indexes, from 0."""

    line: int
    stop: int
    """The line after its last."""

    level: int
    """1 to 6."""

    title: str


class Outline(NamedTuple):
    """The blocks of a text. Lines are indexes, from 0."""

    blocks: Sequence[tuple[int, int]] = ()
    """(first line, depth of nesting) of each block; 0 is the top level."""

    wholes: Sequence[tuple[int, int]] = ()
    """(first line, line after the last) of fences, code, HTML and tables, in order."""

    headings: Sequence[Heading] = ()


class ParsedLines(NamedTuple):
    """A note's text and its lines."""

    text: str
    lines: Sequence[str]
    starts: Sequence[int]
    """Offset of each line, and where one line more would start: line i ends at
    ``starts[i + 1] - 1``, its newline not counted."""


def is_too_dense(page: ParsedLines, first: int, stop: int) -> bool:
    """Return whether a parser would take longer than 1 s for a megabyte of these lines.

    It depends on the text alone, so a note has the same chunks on every machine.
    """
    begin, end = page.starts[first], page.starts[stop]
    chars = end - begin
    free_us = chars * _CHAR_US + _FREE_US
    cost_us = (stop - first) * _ANY_LINE_US
    if cost_us + (stop - first) * (_LINE_US + 6 * _MARKER_US) > free_us:
        markers = _MARKERS.findall(page.text, begin, end)
        cost_us += len(markers) * _LINE_US + sum(map(len, markers)) * _MARKER_US
    return cost_us > free_us


def scan(page: ParsedLines, first: int, stop: int) -> Outline:
    """Return the outline of lines *first* up to *stop*, roughly."""
    if stop - first > _MAX_LINES:
        return Outline()
    text, starts, lines = page.text, page.starts, page.lines
    wholes: list[tuple[int, int]] = []
    headings: list[Heading] = []
    at, end = starts[first], starts[stop]
    while found := _OPENING.search(text, at, end):
        line = bisect_right(starts, found.start()) - 1
        fence = found[3] or found[4]
        after = _fence_end(page, fence, line + 1, stop) if fence else line + 1
        if fence:
            wholes.append((line, after))
        else:
            title = (found[2] or "").strip().rstrip("#").rstrip()
            headings.append(
                Heading(line, after, len(found[1]), title[:MAX_TITLE_CHARS])
            )
        at = starts[after]
        if after >= stop:
            break
    blocks = [
        (line, 0)
        for line in range(first, stop)
        if lines[line]
        and (line == first or is_blank(lines[line - 1]) or _ITEM.match(lines[line]))
    ]
    blocks += [(heading.line, 0) for heading in headings]
    return Outline(blocks, wholes, headings)


def _fence_end(page: ParsedLines, fence: str, line: int, stop: int) -> int:
    """Return the line after the one that closes a *fence*, or *stop*."""
    mark, starts = re.escape(fence[0]), page.starts
    closing = re.compile(rf"^[ \t]*+{mark}{{{len(fence)},}}[ \t\r]*$", re.MULTILINE)
    found = closing.search(page.text, starts[line], starts[stop])
    return bisect_right(starts, found.start()) if found else stop
