"""Joins the lines of a Markdown paragraph, so that a terminal folds it as one. Pure.

Paragraphs alone: in code, lists, tables, headings and quotes a line means something.
"""

from __future__ import annotations

from hivemind_memory.cli.wrap import cell_width, has_wide
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FENCE = lazy_re(r" {0,3}(`{3,}|~{3,})")
_STRUCTURE = lazy_re(
    r"\s"  # code, or part of a list item
    r"|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)"  # a list item
    r"|#{1,6}(?:\s|$)|[>|<]|\[[^\]]+\]:"  # a heading, quote, table, HTML, definition
    r"|[=-]+\s*$|(?:[-*_]\s*){3,}$"  # underlines and rules
)
_FIELD = lazy_re(r"[\w-]+:(?:\s|$)")
_HEADING = lazy_re(r"#{1,6}\s")
_HARD_BREAK = lazy_re(r"(?: {2}|\\)$")
_TABLE_SIGNS = frozenset(" \t|:-")


def prose_lines(lines: Sequence[str]) -> list[bool]:
    """Return which lines are of a paragraph whose line breaks mean nothing.

    >>> prose_lines(["We deploy", "on Tuesdays.", "", "- bread", "and butter"])
    [True, True, False, False, False]
    """
    prose = [False] * len(lines)
    fence, start = "", 0
    for at, line in enumerate([*lines, ""]):
        found = _FENCE.match(line)
        if fence:
            is_end = found and found[1].startswith(fence) and not line.strip("`~ \t")
            fence, start = ("" if is_end else fence), at + 1
        elif found or not line.strip():
            _mark_paragraph(lines, prose, start, at)
            fence, start = (found[1] if found else ""), at + 1
    return prose


def reflowed(text: str, width: int) -> str:
    """Return a text in which each paragraph that is too wide is one line.

    Args:
        text: Any Markdown.
        width: Columns that its lines may fill; a paragraph that fits stays as it is.
    """
    lines = text.split("\n")
    return "\n".join(reflowed_lines(lines, prose_lines(lines), width))


def reflowed_lines(
    lines: Sequence[str], prose: Sequence[bool], width: int
) -> list[str]:
    """Return lines, those of each paragraph that is too wide joined to one.

    Args:
        lines: Some lines of a text.
        prose: Which of them are of a paragraph, see ``prose_lines``.
        width: Columns that a line may fill.
    """
    shown: list[str] = []
    paragraph: list[str] = []
    for line, is_prose in zip([*lines, ""], [*prose, False], strict=True):
        if is_prose:
            paragraph.append(line)
        if paragraph and (not is_prose or _HARD_BREAK.search(line)):
            is_wide = len(paragraph) > 1 and max(map(cell_width, paragraph)) > width
            shown += [_joined(paragraph)] if is_wide else paragraph
            paragraph = []
        if not is_prose:
            shown.append(line)
    return shown[:-1]


def _joined(paragraph: Sequence[str]) -> str:
    """Return lines as one; a script without blanks gets none."""
    whole = ""
    for line in map(str.strip, paragraph):
        has_blank = whole and not (has_wide(whole[-1]) and has_wide(line[:1]))
        whole += f" {line}" if has_blank else line
    return whole


def _mark_paragraph(
    lines: Sequence[str], prose: list[bool], start: int, end: int
) -> None:
    """Mark the lines between two empty ones, up to the first that is no prose."""
    block = lines[start:end]
    fields = sum(1 for line in block if _FIELD.match(line))
    if fields > 1 or any(map(_is_table_rule, block)):
        return
    at = start
    while at < end and _HEADING.match(lines[at]):
        at += 1
    while at < end and not _STRUCTURE.match(lines[at]):
        prose[at] = True
        at += 1


def _is_table_rule(line: str) -> bool:
    """Return whether a line is between the head of a table and its rows."""
    return "|" in line and "-" in line and _TABLE_SIGNS.issuperset(line)
