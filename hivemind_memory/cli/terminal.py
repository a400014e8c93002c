"""What a person at a terminal sees: tables, colour, the words of the question lit up.

Imported only when standard output is a terminal. Returns text; ``render`` prints it.
"""

from __future__ import annotations

import sys
from shutil import get_terminal_size

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hivemind_memory.cli.escape import escape_for_terminal, escape_line
from hivemind_memory.cli.highlight import best_lines, spans
from hivemind_memory.cli.render import label_text, part_lines, place_text, size_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from hivemind_memory.model.query import Hit
    from hivemind_memory.model.results import Finding, ListedNote

_MIN_LINES, _MAX_LINES = 2, 8
"""Lines of one hit that are shown: as many as let all hits fit the screen."""


def hits_text(hits: Sequence[Hit], question: str) -> str:
    """Return hits, each with the lines of it that say most of the question."""
    if not hits:
        return ""
    # A head and an empty line for each hit, three lines of talk at the end.
    room = (get_terminal_size().lines - 3) // len(hits) - 2
    limit = max(_MIN_LINES, min(room, _MAX_LINES))
    pieces: list[RenderableType] = []
    is_cut = False
    for hit in hits:
        lines, has_more = _best_lines(hit, question, limit)
        pieces += [_hit_head(hit), *_hit_body(hit, lines, question), Text()]
        is_cut = is_cut or has_more
    if is_cut:
        place = escape_line(place_text(hits[0]))
        pieces.append(Text(f"hm get {place} prints all lines of the best hit", "dim"))
    return _rendered(pieces)


def notes_text(notes: Sequence[ListedNote]) -> str:
    """Return the table of notes."""
    if not notes:
        return "no notes yet: `hm write` or `hm edit` makes the first\n"
    # In a narrow pane the path matters most.
    columns = get_terminal_size().columns
    has_time, has_chunks = columns >= 64, columns >= 48
    table = _table()
    table.add_column("note", overflow="fold", style="bold")
    table.add_column("size", justify="right", no_wrap=True)
    if has_time:
        table.add_column("last change", no_wrap=True)
    if has_chunks:
        table.add_column("chunks", justify="right", no_wrap=True)
    for note in notes:
        row: list[str | Text] = [Text(escape_line(note.path))]
        row.append(size_text(note.size_bytes))
        row += [note.updated_at[:16].replace("T", " ")] if has_time else []
        row += [f"{note.chunk_count:,}"] if has_chunks else []
        table.add_row(*row)
    return _rendered([table])


def rows_text(rows: Sequence[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    table = _table(has_head=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(escape_line(value)))
    return _rendered([table])


def memory_text(place: str, facts: Sequence[tuple[str, str]], text: str) -> str:
    """Return one memory: where it stands, its text, what is known about it."""
    table = _table(has_head=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(name, Text(escape_line(value)))
    body = _indented(Text(escape_for_terminal(text).rstrip("\n"), overflow="fold"))
    return _rendered([Text(escape_line(place), "bold"), body, Text(), table])


def versions_text(versions: Sequence[tuple[str, str, str]]) -> str:
    """Return the versions of a memory: when and why, where, what it said."""
    pieces: list[RenderableType] = []
    for head, place, text in versions:
        pieces += [
            Text(escape_line(head), "bold", overflow="fold"),
            _indented(Text(escape_line(place), "dim", overflow="fold")),
            _indented(Text(escape_for_terminal(text).rstrip("\n"), overflow="fold")),
            Text(),
        ]
    return _rendered(pieces[:-1])


def findings_text(findings: Sequence[Finding]) -> str:
    """Return what the doctor found, and the verdict."""
    table = _table(has_head=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for finding in findings:
        verdict = Text("ok", "green") if finding.is_ok else Text("wrong", "bold red")
        detail = Text(escape_line(finding.detail))
        if finding.hint:
            detail.append(f"\n{escape_line(finding.hint)}", "yellow")
        table.add_row(verdict, finding.name, detail)
    wrong = sum(not finding.is_ok for finding in findings)
    verdict = Text(f"\n{wrong} of {len(findings)} need a hand", "bold red")
    return _rendered([table, verdict if wrong else Text("\nall is well", "green")])


def options_text(rows: Sequence[tuple[str, str, str]]) -> str:
    """Return the table of options: name, value, origin."""
    table = _table()
    table.add_column("option", style="bold", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", no_wrap=True)
    for name, value, origin in rows:
        style = "dim" if origin == "default" else ""
        table.add_row(name, Text(escape_line(value), style), Text(origin, style))
    return _rendered([table])


def sessions_text(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the table of sessions."""
    table = _table()
    table.add_column("session", style="bold", overflow="fold")
    table.add_column("agent", no_wrap=True)
    table.add_column("worktree", overflow="fold")
    table.add_column("since", no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(escape_line(cell)) for cell in row))
    return _rendered([table])


def _hit_head(hit: Hit) -> Text:
    """Return the line that says where a hit is and how good."""
    head = Text(overflow="fold")
    head.append(escape_line(place_text(hit)), "bold cyan")
    head.append(f"  {hit.score:.2f}", "green")
    if label := label_text(hit):
        is_fine = hit.standing == "active" and not hit.disputed_by
        head.append(f"  {escape_line(label)}", "magenta" if is_fine else "yellow")
    if hit.date:
        head.append(f"  {escape_line(hit.date)}", "dim")
    if hit.headings:
        head.append(f"  {escape_line(' > '.join(hit.headings))}", "dim")
    return head


def _best_lines(hit: Hit, question: str, limit: int) -> tuple[str, bool]:
    """Return the lines of a hit that say most, without empty ones; were there more?"""
    text = escape_for_terminal(hit.snippet)
    lines = [line for line in text.split("\n") if line.strip()]
    start, end = best_lines("\n".join(lines), question, limit)
    return "\n".join(lines[start:end]), len(lines) > end - start


def _hit_body(hit: Hit, lines: str, question: str) -> list[RenderableType]:
    """Return the explanation, if any, and the lines of a hit, lit up."""
    shown = Text(lines, overflow="fold")
    for first, last in spans(lines, question):
        shown.stylize("bold yellow", first, last)
    body = [Text(line, "dim") for line in part_lines(hit)]
    return [_indented(piece) for piece in (*body, shown)]


def _indented(piece: Text) -> RenderableType:
    """Return *piece* four columns to the right, also where it is folded."""
    return Padding(piece, (0, 0, 0, 4))


def _table(*, has_head: bool = True) -> Table:
    """Return a table without lines: they cost width and help nobody."""
    return Table(box=None, show_header=has_head, pad_edge=False, header_style="dim")


def _rendered(pieces: Sequence[RenderableType]) -> str:
    """Return what the terminal is to be sent, as wide as it is."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        for piece in pieces:
            console.print(piece)
    return "\n".join(line.rstrip(" ") for line in capture.get().split("\n"))
