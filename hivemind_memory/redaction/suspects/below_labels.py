"""Keeps the lines below labels on which their values may be.

A file may be nothing but labels, so no line is looked at again for each label above it:
whether a line may hold a value depends on the line alone, and where a list ends on the
line and the signs of the list's table.
"""

from __future__ import annotations

from bisect import bisect_right

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.spans import has_any

BELOW = 8
"""Lines with text below a label on which its value may be."""

SHORT_LINE = 16  # a brace, a fence, ``data:``: what holds a form together
MAX_TABLE = 200
SIGNS_OF_TABLES = ("|", ",", ";", "\t", "  ")
# What a line below a label has that is no sentence: a value, groups, or words drawn.
MAY_BE_BELOW = lazy_re(
    r"[0-9]|[!#$%&*+@^~?_][A-Za-z]|[A-Za-z][!#$%&*+@^~][A-Za-z]|[a-z][A-Z]"
    r"|(?<![a-z-])[a-z]{3,12}-[a-z]{3,12}-[a-z]"
    r"|[\"'`*“„«][a-z]+[ .+][a-z]+[ .+][a-z]+[ .+]"
    r"|(?:[a-z]{4}[ -]){3}[a-z]{4}|(?:[a-z]{3,8}[ ,]+){11}[a-z]|[^\x00-\x7f]"
)


class BelowLabels:
    """The lines of a text, as they are kept below one label after the other."""

    __slots__ = ("_ends", "_kept_to", "_lines", "_with_text")

    def __init__(self, lines: list[str]) -> None:
        """Take the lines of the text."""
        self._lines = lines
        self._with_text: list[int] | None = None
        """Numbers of the lines that are not blank; None: no label has asked yet."""

        self._kept_to = 0
        """Lines before this one are kept already, if they are below a label at all."""

        self._ends: dict[tuple[str, ...], int] = {}
        """Signs of a table -> the last line found that ends a list with these."""

    def keep(self, row: int, is_kept: list[bool]) -> None:
        """Keep the lines below a label that may hold its values.

        Args:
            row: The line of the label; labels are given from top to bottom.
            is_kept: For each line whether it is kept; changed.
        """
        stop = min(self._end_of_list(row), row + MAX_TABLE, len(self._lines))
        for below in range(max(row + 1, self._kept_to), stop):
            line = self._lines[below]
            # Short lines may be a list of codes or words.
            if _is_short(line) or MAY_BE_BELOW.search(line):
                is_kept[below] = is_kept[below] or not _is_blank(line)
        self._kept_to = max(self._kept_to, stop)

    def _end_of_list(self, row: int) -> int:
        """Return the first line that is too far below a label and not in its list."""
        if self._with_text is None:
            self._with_text = [
                place for place, line in enumerate(self._lines) if not _is_blank(line)
            ]
        with_text = self._with_text
        first = bisect_right(with_text, row) + BELOW
        if first >= len(with_text):
            return len(self._lines)
        label = self._lines[row].strip()
        signs = tuple(sign for sign in SIGNS_OF_TABLES if sign in label)
        end = self._ends.get(signs, 0)
        if end < with_text[first]:
            end = self._ends[signs] = next(
                (
                    with_text[place]
                    for place in range(first, len(with_text))
                    if not _is_in_list(self._lines[with_text[place]], signs)
                ),
                len(self._lines),
            )
        return end


def _is_in_list(line: str, signs: tuple[str, ...]) -> bool:
    """Whether a line goes on with a list of short lines, or with a table."""
    return _is_short(line) or has_any(line, signs)


def _is_short(line: str) -> bool:
    return len(line) <= 2 * SHORT_LINE


def _is_blank(line: str) -> bool:
    return not line or line.isspace()
