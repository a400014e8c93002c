"""Finds the blocks of a short, simple note without a parser.

That is what most notes are, and starting the parser takes longer than reading them. One
expression either takes every line of such a text, or says nothing: then the parser has
to look. What it takes has the outline that the parser finds; a test compares them.
"""

from __future__ import annotations

from hivemind_memory.markdown.block_rules import INERT
from hivemind_memory.markdown.outline import MAX_TITLE_CHARS, Heading, Outline
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.markdown.outline import ParsedLines

MAX_CHARS = 1000
"""A longer text is left to the parser: it may be one that a parser must not see."""

_HEADING = r"#{1,6} [^\s\0#][^\n\r\0#]*"
# From the left edge: what is indented may be code, or belong to an item above.
_PROSE = rf"(?:(?:[-*+]|[0-9]{{1,9}}[.)]) {{1,4}})?(?={INERT})[^\n\r\0]*"
_LINE = rf"(?>{_HEADING}|{_PROSE}|[ \t]*)"
_SIMPLE = lazy_re(rf"(?:{_LINE}\n)*+{_LINE}")


def simple_outline(page: ParsedLines, first: int, stop: int) -> Outline | None:
    """Return the headings of lines *first* up to *stop*, if the text is simple.

    The other blocks are left out: they decide where to cut, and so short a text is not
    cut.

    Returns:
        None: Only the parser knows.
    """
    begin, end = page.starts[first], page.starts[stop]
    if not is_simple(page.text, begin, end):
        return None
    headings = []
    if page.text.find("#", begin, end) >= 0:
        for number, line in enumerate(page.lines[first:stop], first):
            heading = heading_on(line, number)
            if heading is not None:
                headings.append(heading)
    return Outline(headings=headings)


def is_simple(text: str, begin: int, end: int) -> bool:
    """Return whether a part of a text has a simple outline."""
    return end - begin <= MAX_CHARS and _SIMPLE.fullmatch(text, begin, end) is not None


def heading_on(line: str, number: int) -> Heading | None:
    """Return the heading that a line of a simple text is, if it is one."""
    if line[:1] != "#":
        return None
    marks, _, title = line.partition(" ")
    # #tag is not a heading: there is no space after the mark.
    if marks.strip("#"):
        return None
    title = " ".join(title.split())[:MAX_TITLE_CHARS]
    return Heading(number, number + 1, len(marks), title)
