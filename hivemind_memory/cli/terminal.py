"""Pieces of what a person at a terminal sees: tables, colour, indented text.

Imported only when standard output is a terminal, for rich takes longer to import than
most answers. A command composes these and prints the text that ``rendered`` returns.
"""

from __future__ import annotations

import sys
from shutil import get_terminal_size

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hivemind_memory.model.escape import escape_line, escape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

__all__ = [
    "Text",
    "body",
    "columns_text",
    "indented",
    "line_count",
    "rendered",
    "rows_table",
    "shortened",
    "table",
]

_GAP = 2
"""Blanks between two columns, as rich sets them without lines."""

_MIN_LAST = 24
"""Width that the last column of a table needs to be read."""


def columns_text(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; its first column is bold, and its last one takes what is left.

    Where the others leave it too little, each row has a line of its own instead, above
    its last cell: a name or a place that is folded is no longer read as one.
    """
    cells = [[Text(escape_line(cell)) for cell in row] for row in rows]
    *names, last = zip(*cells, strict=True)
    heads_wide = [cell_len(head) for head in heads]
    width = sum(
        max(wide, *(cell.cell_len for cell in column)) + _GAP
        for wide, column in zip(heads_wide, names, strict=False)
    )
    words = (cell_len(word) for cell in last for word in cell.plain.split())
    wanted = max(min(max(cell.cell_len for cell in last), _MIN_LAST), *words, 0)
    if width + max(wanted, heads_wide[-1]) > get_terminal_size().columns:
        return rendered([piece for row in cells for piece in _stacked(row)])
    shown = table()
    for number, head in enumerate(heads):
        is_last = number == len(heads) - 1
        style = "" if number else "bold"
        shown.add_column(head, style=style, no_wrap=not is_last, overflow="fold")
    for row in cells:
        shown.add_row(*row)
    return rendered([shown])


def rows_table(rows: Sequence[tuple[str, str]]) -> Table:
    """Return a table of names and values."""
    shown = table(has_head=False)
    shown.add_column(style="dim", no_wrap=True)
    shown.add_column(overflow="fold")
    for name, value in rows:
        shown.add_row(name, Text(escape_line(value)))
    return shown


def table(*, has_head: bool = True) -> Table:
    """Return a table without lines, which would only cost width."""
    return Table(box=None, show_header=has_head, pad_edge=False, header_style="dim")


def body(text: str) -> RenderableType:
    """Return the text of a note, indented and folded."""
    return indented(Text(escape_text(text).rstrip("\n"), overflow="fold"))


def indented(piece: Text) -> RenderableType:
    """Return *piece* four columns to the right, also where it is folded."""
    return Padding(piece, (0, 0, 0, 4))


def shortened(text: str, width: int) -> str:
    """Return the words of one line that fit a width; empty: not even the first."""
    if cell_len(text) <= width:
        return text
    kept = ""
    for word in text.split(" "):
        longer = f"{kept} {word}" if kept else word
        if cell_len(longer) + 2 > width:
            break
        kept = longer
    return f"{kept} …" if kept else ""


def line_count(text: str, width: int) -> int:
    """Return how many lines of the screen a text fills."""
    shown = Text(text, overflow="fold").wrap(Console(), max(width, 1), overflow="fold")
    return len(shown)


def rendered(pieces: Sequence[RenderableType]) -> str:
    """Return what is sent to the terminal, as wide as it is."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        for piece in pieces:
            console.print(piece)
    return "\n".join(line.rstrip(" ") for line in capture.get().split("\n"))


def _stacked(row: Sequence[Text]) -> list[RenderableType]:
    """Return a row that does not fit: its cells in a line, the last one below."""
    row[0].stylize("bold")
    cells = [cell for cell in row[:-1] if cell.plain]
    above = [Text("  ").join(cells)] if cells else []
    return [*above, indented(row[-1])]
