"""What a person at a terminal sees: tables, colour, the words of the question lit up.

Imported only when standard output is a terminal. Returns text; ``render`` prints it.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hivemind_memory.cli.escape import for_terminal, on_one_line
from hivemind_memory.cli.highlight import best_lines, spans
from hivemind_memory.cli.render import part_lines, size_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from hivemind_memory.model.answers import Finding, ListedNote
    from hivemind_memory.model.query import Hit

_SHOWN_LINES = 6
"""Lines of one hit that are shown; ten hits then fit two screens."""


def hits_text(hits: Sequence[Hit], question: str) -> str:
    """Return hits, each with the lines of it that say most of the question."""
    pieces: list[RenderableType] = []
    for hit in hits:
        pieces += [_hit_head(hit), *_hit_body(hit, question), Text()]
    return _rendered(pieces)


def notes_text(notes: Sequence[ListedNote]) -> str:
    """Return the table of notes."""
    if not notes:
        return "no notes yet: `hm write` or `hm edit` makes the first\n"
    table = _table()
    table.add_column("note", overflow="fold", style="bold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("last change", no_wrap=True)
    table.add_column("chunks", justify="right", no_wrap=True)
    for note in notes:
        table.add_row(
            Text(on_one_line(note.path)),
            size_text(note.size_bytes),
            note.updated_at[:16].replace("T", " "),
            f"{note.chunk_count:,}",
        )
    return _rendered([table])


def rows_text(rows: Sequence[tuple[str, str]]) -> str:
    """Return a table of names and values."""
    table = _table(has_head=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(on_one_line(value)))
    return _rendered([table])


def findings_text(findings: Sequence[Finding]) -> str:
    """Return what the doctor found, and the verdict."""
    table = _table(has_head=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for finding in findings:
        verdict = Text("ok", "green") if finding.is_ok else Text("wrong", "bold red")
        detail = Text(on_one_line(finding.detail))
        if finding.hint:
            detail.append(f"\n{on_one_line(finding.hint)}", "yellow")
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
        table.add_row(name, Text(on_one_line(value), style), Text(origin, style))
    return _rendered([table])


def _hit_head(hit: Hit) -> Text:
    """Return the line that says where a hit is and how good."""
    head = Text(no_wrap=False, overflow="fold")
    place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
    head.append(on_one_line(place), "bold cyan")
    head.append(f"  {hit.score:.2f}", "green")
    if hit.date:
        head.append(f"  {on_one_line(hit.date)}", "dim")
    if hit.headings:
        head.append(f"  {on_one_line(' > '.join(hit.headings))}", "dim")
    return head


def _hit_body(hit: Hit, question: str) -> list[RenderableType]:
    """Return the explanation, if any, and the best lines of a hit, lit up."""
    text = for_terminal(hit.snippet).strip("\n")
    start, end = best_lines(text, question, _SHOWN_LINES)
    lines = text.split("\n")
    shown = Text("\n".join(lines[start:end]), overflow="fold")
    for first, last in spans(shown.plain, question):
        shown.stylize("bold yellow", first, last)
    body = [Text(line, "dim") for line in part_lines(hit)]
    body.append(shown)
    if len(lines) > end - start:
        rest = f"({len(lines) - end + start} more lines: hm get "
        place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
        body.append(Text(f"{rest}{on_one_line(place)})", "dim"))
    return [_indented(piece) for piece in body]


def _indented(piece: Text) -> RenderableType:
    """Return *piece* four columns to the right, also where it is folded."""
    from rich.padding import Padding

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
