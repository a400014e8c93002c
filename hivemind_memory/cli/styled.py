r"""Text with colors: a style for each of its characters. Pure but for ``NO_COLOR``.

A style is a few words, such as ``bold cyan``. Where two meet, both hold; of two colors
the later one does.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import groupby, pairwise

from hivemind_memory.cli.wrap import cell_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Parameters of the sequence "Select Graphic Rendition", ECMA-48, 8.3.117.
_WEIGHTS = {"bold": "1", "dim": "2"}
_COLORS = {"red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}
_NO_SEQUENCES = ("", "dumb", "unknown")


class Text:
    """Characters and the style of each; what is shown may have many lines."""

    __slots__ = ("is_fixed", "plain", "styles")

    def __init__(self, plain: str = "", style: str = "") -> None:
        self.plain = plain
        self.styles = [style] * len(plain)
        self.is_fixed = False
        """Its lines are not broken any more."""

    def __bool__(self) -> bool:
        return bool(self.plain)

    def __add__(self, other: Text) -> Text:
        both = Text()
        both.plain = self.plain + other.plain
        both.styles = self.styles + other.styles
        return both

    @property
    def cell_len(self) -> int:
        """How many columns of a terminal it fills."""
        return cell_width(self.plain)

    def append(self, plain: str, style: str = "") -> None:
        """Add characters at the end."""
        self.plain += plain
        self.styles += [style] * len(plain)

    def append_text(self, other: Text) -> None:
        """Add another text at the end, with its styles."""
        self.plain += other.plain
        self.styles += other.styles

    def stylize(self, style: str, first: int = 0, last: int | None = None) -> None:
        """Add a style to the characters from *first* up to *last*."""
        old = self.styles[first:last]
        self.styles[first:last] = [_both(below, style) for below in old]

    def part(self, first: int, last: int) -> Text:
        """Return the characters from *first* up to *last*."""
        part = Text(self.plain[first:last])
        part.styles = self.styles[first:last]
        return part

    def divided(self, offsets: Iterable[int]) -> list[Text]:
        """Return its pieces, of which each but the first begins at an offset."""
        ends = [0, *offsets, len(self.plain)]
        return [self.part(first, last) for first, last in pairwise(ends)]

    def lines(self) -> list[Text]:
        """Return its lines, without the newlines."""
        lines, start = [], 0
        for line in self.plain.split("\n"):
            lines.append(self.part(start, start + len(line)))
            start += len(line) + 1
        return lines

    def stripped(self) -> Text:
        """Return it without the blanks at its end."""
        return self.part(0, len(self.plain.rstrip()))

    def shortened(self, width: int) -> Text:
        """Return as much of it as fits a width, with an ellipsis if that is not all.

        >>> Text("deploys").shortened(7).plain, Text("deploys").shortened(6).plain
        ('deploys', 'deplo…')
        """
        if self.cell_len <= width:
            return self
        count, room = 0, width - 1
        while count < len(self.plain) and room >= cell_width(self.plain[count]):
            room -= cell_width(self.plain[count])
            count += 1
        short = self.part(0, count)
        short.append("…", self.styles[count])
        return short

    def encoded(self) -> str:
        """Return it with the sequences that a terminal obeys."""
        if os.environ.get("TERM", "").strip().lower() in _NO_SEQUENCES:
            return self.plain
        with_color = not os.environ.get("NO_COLOR")
        return "\n".join(_encoded(line, with_color) for line in self.lines())


def joined(between: Text, texts: Iterable[Text]) -> Text:
    """Return texts as one, with another one between each two."""
    whole = Text()
    for number, text in enumerate(texts):
        if number:
            whole.append_text(between)
        whole.append_text(text)
    return whole


def _encoded(line: Text, with_color: bool) -> str:
    """Return one line; each run of one style ends its own sequence."""
    shown, start = "", 0
    for style, run in groupby(line.styles):
        end = start + sum(1 for _ in run)
        codes = _codes(style, with_color)
        text = line.plain[start:end]
        shown += f"\x1b[{codes}m{text}\x1b[0m" if codes else text
        start = end
    return shown


@cache
def _codes(style: str, with_color: bool) -> str:
    """Return the parameters for a style."""
    known = {**_WEIGHTS, **_COLORS} if with_color else _WEIGHTS
    return ";".join(known[word] for word in style.split() if word in known)


@cache
def _both(style: str, later: str) -> str:
    """Return the style of what has two."""
    words = set(later.split())
    has_color = not words.isdisjoint(_COLORS)
    words |= {word for word in style.split() if not (has_color and word in _COLORS)}
    return " ".join(word for word in (*_WEIGHTS, *_COLORS) if word in words)
