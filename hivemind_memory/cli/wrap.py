"""Wraps lines for a terminal: between words, and never within one. Pure.

A path, a key or a command of which one half stands in each line cannot be copied. A
word that is wider than the terminal is left whole: the terminal itself continues it on
the next line, and copies it as one. Only scripts without blanks break within a word.
"""

from __future__ import annotations

from unicodedata import category, east_asian_width

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_JOINT = "\ue000"
"""Stands for a blank that is kept; ``escape_line`` leaves none of its own."""

_WORD = lazy_re(r"(?:\A\s*+)?\S++\s*+")
_CODE = lazy_re(r"`[^`]+`")


def cell_width(text: str) -> int:
    """Return how many columns of a terminal a text fills.

    >>> cell_width("deploy"), cell_width("火曜日")
    (6, 6)
    """
    return len(text) if text.isascii() else sum(map(_cells, text))


def break_offsets(line: str, width: int, hang: int = 0) -> list[int]:
    """Return where a line is broken to fit a width: the start of each further line.

    Args:
        line: Without a newline.
        width: Columns of the terminal, at least 1.
        hang: Columns by which further lines are indented.

    >>> break_offsets("kept as notes/deploy-day.md", 12)
    [8]
    """
    offsets: list[int] = []
    column = 0
    for word in _WORD.finditer(line):
        start, text = word.start(), word[0].rstrip()
        if column and column + cell_width(text) > width and not _is_wide(text[:1]):
            offsets.append(start)
            column = hang
        for at, letter in enumerate(text, start) if has_wide(text) else ():
            ahead = sum(map(_cells, line[start:at])) + _cells(letter)
            if column + ahead > width and at > start and _is_wide(letter):
                offsets.append(at)
                start, column = at, hang
        column += cell_width(line[start : word.end()])
    return offsets


def wrap_line(
    line: str, width: int, *, hang: str = "", keep: Iterable[str] = ()
) -> str:
    """Return a line broken to fit a width, without blanks at the ends.

    Args:
        line: Without a newline.
        width: Columns of the terminal.
        hang: What further lines begin with.
        keep: Parts with blanks that are not broken, such as paths; what is in
            backquotes never is.

    >>> print(wrap_line("`hm restore 01M8` brings it back", 20))
    `hm restore 01M8`
    brings it back
    """
    if cell_width(line) <= width:
        return line
    for part in (*keep, *_CODE.findall(line)):
        line = line.replace(part, held(part))
    offsets = break_offsets(line, max(width, 20), len(hang))
    first, *others = [line[a:b].rstrip() for a, b in _spans(offsets, len(line))]
    # What is too wide is not pushed further over the edge.
    rooms = (max(0, width - cell_width(piece)) for piece in others)
    indented = (f"{hang[:room]}{x}" for room, x in zip(rooms, others, strict=True))
    lines = [first, *indented]
    return released("\n".join(lines))


def held(text: str) -> str:
    """Return an escaped name or command, at whose blanks no line is broken."""
    return text.replace(" ", _JOINT)


def released(text: str) -> str:
    """Return what was made of held texts, with their blanks."""
    return text.replace(_JOINT, " ")


def has_wide(text: str) -> bool:
    """Whether any character of a text fills two columns."""
    return not text.isascii() and any(map(_is_wide, text))


def _spans(offsets: list[int], end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each piece between offsets."""
    yield from zip([0, *offsets], [*offsets, end], strict=True)


def _cells(character: str) -> int:
    """Return the columns that one character fills."""
    # Marks, joiners and the selectors of emoji attach to what is before them.
    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if _is_wide(character) else 1


def _is_wide(character: str) -> bool:
    """Whether a character fills two columns; a line may begin with it."""
    return bool(character) and east_asian_width(character) in "WF"
