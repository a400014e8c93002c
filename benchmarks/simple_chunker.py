"""The least a chunker can do: the floor that the first index is compared with.

It also counts the chunks of the benchmark's corpus, so that its size does not move
when the product's own chunker changes.
"""

from __future__ import annotations

from typing import NamedTuple

LIMIT_CHARS = 800


class Piece(NamedTuple):
    """Some lines of a note."""

    start_line: int
    end_line: int
    text: str


def simple_chunks(text: str, *, limit_chars: int = LIMIT_CHARS) -> list[Piece]:
    """Return *text* cut at H1 to H3, after two blank lines, and at the limit.

    A line is never cut, and fences are respected only as far as headings go.

    >>> [piece.start_line for piece in simple_chunks("# One\\n\\ntext\\n\\n## Two\\n")]
    [1, 5]
    """
    pieces: list[Piece] = []
    lines: list[str] = []
    first, size, blanks, is_fenced = 1, 0, 0, False
    for number, line in enumerate(text.splitlines(), start=1):
        is_heading = not is_fenced and line.startswith(("# ", "## ", "### "))
        is_apart = not is_fenced and blanks >= 2 and line != ""
        if lines and (is_heading or is_apart or size + len(line) >= limit_chars):
            _add(pieces, lines, first)
            lines, first, size = [], number, 0
        if line.startswith("```"):
            is_fenced = not is_fenced
        lines.append(line)
        size += len(line) + 1
        blanks = 0 if line.strip() else blanks + 1
    _add(pieces, lines, first)
    return pieces


def _add(pieces: list[Piece], lines: list[str], first: int) -> None:
    """Add the lines as a piece, unless all of them are blank."""
    text = "\n".join(lines).strip("\n")
    if text.strip():
        pieces.append(Piece(first, first + len(lines) - 1, text))
