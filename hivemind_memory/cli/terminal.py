"""Pieces of what a person at a terminal sees: tables, colour, indented text.

Imported only when standard output is a terminal, for rich takes longer to import than
most answers. A command composes these and prints the text that ``rendered`` returns.
"""

from __future__ import annotations

import sys

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
    "rendered",
    "rows_table",
    "table",
]


def columns_text(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; its first column is bold, long cells are folded."""
    shown = table()
    for number, head in enumerate(heads):
        shown.add_column(head, style="" if number else "bold", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(escape_line(cell)) for cell in row))
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


def rendered(pieces: Sequence[RenderableType]) -> str:
    """Return what is sent to the terminal, as wide as it is."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        for piece in pieces:
            console.print(piece)
    return "\n".join(line.rstrip(" ") for line in capture.get().split("\n"))
