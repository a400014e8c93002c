"""Output for a terminal: tables, color, indented text.

Imported only when standard output is a terminal. A command composes these and prints
the text that ``rendered`` returns. ``wrap`` decides where a line is broken.
"""

from __future__ import annotations

from shutil import get_terminal_size

from hivemind_memory.cli.reflow import reflowed
from hivemind_memory.cli.styled import Text, joined
from hivemind_memory.cli.wrap import break_offsets, cell_width, has_wide, held, released
from hivemind_memory.model.display import escape_line, escape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Text",
    "body",
    "columns_text",
    "facts",
    "hanging",
    "indented",
    "line_count",
    "names_text",
    "rendered",
    "shortened",
    "whole",
]

_GAP = 2
"""Blanks between two columns."""

_INDENT = 4
"""Blanks before what belongs to the line above it."""

_UNITS = ("B", "kB", "MB", "GB")

_MIN_INDENT = 2
"""Blanks before a line that would otherwise go over the edge."""

_MIN_LAST = 24
"""Width that the last column of a table needs to be read."""


def columns_text(
    heads: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    *,
    name: int = 0,
    keep: bool = False,
    is_cut: bool = False,
) -> str:
    """Return a table; one column is bold, and the last one takes the rest of the width.

    Where the others leave it too little, each row has a line of its own instead, above
    its last cell: a name or a place that is folded is no longer read as one.

    Args:
        heads: A title for each column; all empty: no line with titles.
        rows: A cell for each column.
        name: Number of the column that is bold.
        keep: The last cells are not broken, not even at blanks.
        is_cut: The last cells are cut to one line, whose width is the terminal's.
    """
    cells = [[_cell(cell) for cell in row] for row in rows]
    for row in cells:
        row[name].stylize("bold")
        row[-1].plain = held(row[-1].plain) if keep else row[-1].plain
    widths = _widths(heads, cells)[:-1]
    room = _columns() - sum(widths) - _GAP * len(widths)
    last = [row[-1] for row in cells]
    if is_cut:
        width = room if room >= _MIN_LAST else _columns() - _INDENT
        last = [cell.shortened(max(width, 1)) for cell in last]
        cells = [[*row[:-1], cell] for row, cell in zip(cells, last, strict=True)]
    wanted = min(max(cell.cell_len for cell in last), _MIN_LAST)
    longest = 0 if is_cut else max(map(_longest_word, last))
    if room < max(wanted, longest, cell_width(heads[-1])):
        return rendered([piece for row in cells for piece in _stacked(row)])
    return rendered(
        [*_head(heads, widths), *(_row(row, widths, room) for row in cells)]
    )


def names_text(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of names with short facts, which are on the right.

    A name that leaves them no room has its line to itself.
    """
    cells = [[_cell(cell) for cell in row] for row in rows]
    names, *others = _widths(heads, cells)
    heads = [heads[0], *map(str.rjust, heads[1:], others)]
    room = _columns() - sum(others) - _GAP * len(others)
    widths = [max(min(names, room), cell_width(heads[0]))]
    widths += others[:-1]
    pieces = _head(heads, widths)
    for row in cells:
        row[0].stylize("bold")
        facts = zip(row[1:], others, strict=True)
        row[1:] = [Text(" " * (width - cell.cell_len)) + cell for cell, width in facts]
        if row[0].cell_len > widths[0]:
            pieces.append(_fixed(row[0]))
            row[0] = Text()
        pieces.append(_row(row, widths, others[-1]))
    return rendered(pieces)


def facts(rows: Sequence[tuple[str, str]]) -> list[Text]:
    """Return names and values; a value that is too wide is below its name."""
    wide = max(cell_width(name) for name, _ in rows)
    room = _columns() - wide - _GAP
    pieces = []
    for name, value in rows:
        shown = Text(_with_sizes_held(escape_line(value)))
        if _longest_word(shown) > room:
            pieces += [_fixed(Text(name, "dim")), indented(shown)]
        else:
            pieces.append(_row([Text(name, "dim"), shown], [wide], room))
    return pieces


def _with_sizes_held(text: str) -> str:
    """Return an escaped text that is not broken between a number and its unit."""
    for unit in _UNITS:
        text = text.replace(f" {unit})", held(f" {unit})"))
    return text


def body(text: str) -> Text:
    """Return the text of a note, indented and folded."""
    shown = escape_text(text).rstrip("\n").expandtabs()
    return indented(Text(reflowed(shown, _columns() - _INDENT)))


def whole(text: str, style: str = "") -> Text:
    """Return a path or a name, at whose blanks no line is broken."""
    return Text(held(escape_line(text)), style)


def indented(piece: Text, indent: int = _INDENT) -> Text:
    """Return *piece* some columns to the right, also where it is folded.

    Only a line whose one word would otherwise go over the edge is less far right.
    """
    columns = _columns()
    lines = _folded(piece, columns - indent)
    shown = (_indented_line(line, indent, columns) for line in lines)
    return _fixed(joined(Text("\n"), shown))


def hanging(piece: Text) -> Text:
    """Return *piece*, with all lines but the first to the right if it is folded."""
    columns = _columns()
    first = next(iter(_folded(piece, columns)), piece)
    start = len(first.plain)
    while piece.plain.startswith(" ", start):
        start += 1
    if start >= len(piece.plain):
        return piece
    rest = indented(piece.part(start, len(piece.plain)))
    return _fixed(joined(Text("\n"), [first, rest]))


def _indented_line(line: Text, indent: int, columns: int) -> Text:
    """Return one folded line behind its indent; an empty one has none."""
    room = columns - line.cell_len
    if _MIN_INDENT <= room < indent:
        indent = room
    return Text(" " * indent) + line if line else line


def shortened(text: str, width: int) -> str:
    """Return the words of one line that fit a width; empty: not even the first."""
    if cell_width(text) <= width:
        return text
    kept = ""
    for word in text.split(" "):
        longer = f"{kept} {word}" if kept else word
        if cell_width(longer) + 2 > width:
            break
        kept = longer
    return f"{kept} …" if kept else ""


def line_count(text: str, width: int) -> int:
    """Return how many lines of the screen a text fills."""
    width = max(width, 1)
    lines = _folded(Text(text), width)
    # A word that is wider than the screen goes on in its next lines.
    return sum(max(1, -(-line.cell_len // width)) for line in lines)


def rendered(pieces: Sequence[Text]) -> str:
    """Return what is sent to the terminal, as wide as it is."""
    fixed = (piece if piece.is_fixed else indented(piece, 0) for piece in pieces)
    shown = "".join(f"{piece.encoded()}\n" for piece in fixed)
    return "\n".join(line.rstrip(" ") for line in released(shown).split("\n"))


def _columns() -> int:
    """Return the width of the terminal."""
    return get_terminal_size().columns


def _cell(cell: str | Text) -> Text:
    """Return what is in a cell."""
    return cell if isinstance(cell, Text) else Text(escape_line(cell))


def _widths(heads: Sequence[str], cells: Sequence[Sequence[Text]]) -> list[int]:
    """Return how wide each column must be to hold its cells."""
    columns = zip(heads, zip(*cells, strict=True), strict=True)
    return [
        max(cell_width(head), *(cell.cell_len for cell in column))
        for head, column in columns
    ]


def _head(heads: Sequence[str], widths: Sequence[int]) -> list[Text]:
    """Return the line of titles, if there are any."""
    cells = [Text(head, "dim") for head in heads]
    return [_row(cells, widths, cell_width(heads[-1]))] if any(heads) else []


def _row(cells: Sequence[Text], widths: Sequence[int], room: int) -> Text:
    """Return one row: each cell as wide as its column, the last one folded."""
    *others, last = cells
    line = Text()
    for cell, width in zip(others, widths, strict=True):
        line += cell
        line.append(" " * (width - cell.cell_len + _GAP))
    hang = Text("\n" + " " * line.cell_len)
    return _fixed(line + joined(hang, _folded(last, max(room, 1))))


def _stacked(row: Sequence[Text]) -> list[Text]:
    """Return a row that does not fit: its cells in lines, the last one below."""
    columns = _columns()
    lines: list[Text] = []
    for cell in row[:-1]:
        room = columns - (_INDENT if len(lines) > 1 else 0)
        if not cell:
            continue
        if lines and lines[-1].cell_len + _GAP + cell.cell_len <= room:
            lines[-1] = lines[-1] + Text(" " * _GAP) + cell
        else:
            lines.append(cell)
    below = (_indented_line(line, _INDENT, columns) for line in lines[1:])
    return [*map(_fixed, [*lines[:1], *below]), indented(row[-1])]


def _folded(text: Text, width: int) -> list[Text]:
    """Return the lines of a text, each within the width unless a word is longer."""
    lines: list[Text] = []
    for line in text.lines():
        pieces = line.divided(break_offsets(line.plain, max(width, 1)))
        lines += [piece.stripped() for piece in pieces]
    return lines


def _longest_word(text: Text) -> int:
    """Return the width of the longest word that is not broken."""
    words = (word for word in text.plain.split() if not has_wide(word))
    return max(map(cell_width, words), default=0)


def _fixed(text: Text) -> Text:
    """Return a text whose lines are not broken any more."""
    text.is_fixed = True
    return text
