"""Cuts a chunk that is longer than the limit.

Arithmetic on line starts, and on a mark for each line that says how good a place its
beginning is for a cut. Knows nothing of Markdown.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right

from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hivemind_memory.markdown.outline import ParsedLines


# How good it is to cut before a line, best first. 0 to DEEPEST: a block begins there,
# at that depth of nesting.
DEEPEST = 6
IN_BLOCK = 7
"""Inside a paragraph, or inside a fence or table too long to be kept whole."""

AFTER_HEADING = 8
IN_WHOLE = 9
"""Inside a fence or table that is kept whole."""

_SENTENCE_END = lazy_re(r"[.!?…][\"')\]]*\s+|[。．！？｡][」』）”]*\s*")
_WORD_END = lazy_re(r"\s+|[、，；：]")
_JOINERS = "\u200d\ufe0e\ufe0f"


# A plain tuple, not a dataclass: there are two for each chunk.
class CutPoint(NamedTuple):
    """Where a piece ends and the next begins."""

    at: int
    """Offset of the next piece's first character."""

    line: int
    """Index of the line that holds it: cut within, unless it starts there."""


def cut_points(
    page: ParsedLines, marks: Sequence[int], first: int, stop: int, *, limit: int
) -> Iterator[CutPoint]:
    """Yield where lines *first* up to *stop* are cut, in order.

    Each piece holds at most *limit* characters, the newline at its end not counted.
    Only a line that is itself longer than *limit* is cut within.

    Args:
        page: The whole note.
        marks: For each line of the note, and for *stop*, how good a cut before it is.
        first: Index of the first line.
        stop: Index of the line after the last.
        limit: At least 1.
    """
    starts = page.starts
    end = starts[stop] - 1
    cut = CutPoint(starts[first], first)
    while end - cut.at > limit:
        reach = cut.at + limit
        # The first line that does not fit as a whole.
        full = bisect_right(starts, reach + 1, cut.line) - 1
        line = _best_line(page, marks, cut, full, limit=limit)
        if line:
            cut = CutPoint(starts[line], line)
        else:
            begin = max(cut.at, starts[full])
            cut = CutPoint(_within_line(page.text, begin, reach), full)
        yield cut


def _best_line(
    page: ParsedLines, marks: Sequence[int], last: CutPoint, full: int, *, limit: int
) -> int:
    """Return the line before which to cut, or 0 to cut within line *full*.

    A block's start in the second half of the piece is best, the less nested the better.
    An earlier one is good if that saves the next block from being cut at all.
    """
    starts = page.starts
    half = last.at + limit // 2
    late = early = 0  # block starts; line 0 is never one to cut before
    other: dict[int, int] = {}
    for line in range(full, last.line, -1):
        mark = marks[line]
        if mark > DEEPEST:
            other.setdefault(mark, line)
        elif starts[line] < half:
            early = line
            break
        elif not late or mark < marks[late]:
            late = line
    if late:
        return late
    if early and _block_end(page, marks, early, limit=limit) <= starts[early] + limit:
        return early
    begin = max(last.at, starts[full])
    is_overlong = starts[full + 1] - 1 - starts[full] > limit
    if is_overlong and (last.at + limit - begin) * 4 >= limit:
        return 0
    in_block = other.get(IN_BLOCK, 0)
    return in_block or early or other.get(AFTER_HEADING) or other.get(IN_WHOLE) or 0


def _block_end(
    page: ParsedLines, marks: Sequence[int], line: int, *, limit: int
) -> int:
    """Return the end of the block that starts at *line*, or some end too far."""
    starts = page.starts
    reach = starts[line] + limit
    stop = line + 1
    while marks[stop] > DEEPEST and starts[stop] - 1 <= reach:
        stop += 1
    return starts[stop] - 1


def _within_line(text: str, begin: int, reach: int) -> int:
    """Return where to cut between *begin*, excluded, and *reach*.

    After the last sentence in the second half, else after the last word there, else at
    *reach*, but not between a letter and the marks that belong to it.
    """
    middle = begin + (reach - begin) // 2
    window = text[middle:reach]
    for pattern in (_SENTENCE_END, _WORD_END):
        last = 0
        for match in pattern.finditer(window):
            last = match.end()
        if last:
            return middle + last
    cut = reach
    while cut > middle + 1 and reach - cut < 16 and _is_joined(text, cut):
        cut -= 1
    return cut


def _is_joined(text: str, cut: int) -> bool:
    """Return whether the character at *cut* belongs to the one before it."""
    return (
        text[cut - 1] == "\u200d"
        or text[cut] in _JOINERS
        or unicodedata.category(text[cut])[0] == "M"
    )
