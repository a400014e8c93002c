"""hm get: a note, or some of its lines."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON, NOTE
from hivemind_memory.cli.output import (
    count_text,
    is_terminal,
    print_json,
    print_notices,
    write_stdout,
)
from hivemind_memory.errors import UsageError
from hivemind_memory.model.escape import escape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.results import NoteLines


@command(
    "get",
    description="PATH may name lines as a search prints them: deploy.md:12-18.",
    arguments=(NOTE,),
    flags=(
        Flag(("--from",), "int", "First line to print.", metavar="N", low=1),
        Flag(("--lines",), "int", "Number of lines to print.", metavar="M", low=0),
        JSON,
    ),
    examples=("hm get global.md", "hm get deploy.md:12-18"),
)
def get(request: CommandRequest) -> int:
    """Print a note or some of its lines."""
    values = request.values
    path, first, count = split_lines(values["path"])
    if first and (values["from"] is not None or values["lines"] is not None):
        message = "PATH names its lines already."
        raise UsageError(message, hint="Leave out --from and --lines, or the numbers.")
    first = first or values["from"] or 1
    count = values["lines"] if count is None else count
    with request.open_memory() as memory:
        passage = memory.read(path, start_line=first, line_count=count)
    _print_passage(passage, as_json=values["json"])
    return 0


def split_lines(place: str) -> tuple[str, int, int | None]:
    """Return path, first line and number of lines of a place as a search prints it.

    Without numbers the first line is 0 and the number of lines None.

    >>> split_lines("deploy.md:12-18"), split_lines("a.md:7"), split_lines("b.md")
    (('deploy.md', 12, 7), ('a.md', 7, 1), ('b.md', 0, None))
    """
    path, _, lines = place.rpartition(":")
    first, dash, last = lines.partition("-")
    if not path or not _is_number(first) or (dash and not _is_number(last)):
        return place, 0, None
    start, end = int(first), int(last or first)
    if start < 1 or end < start:
        message = f"{lines} is not a range of lines."
        raise UsageError(message, hint="Lines count from 1, as in deploy.md:12-18.")
    return path, start, end - start + 1


def _is_number(text: str) -> bool:
    """Whether *text* is a line number."""
    return text.isascii() and text.isdigit() and len(text) < 10


def _print_passage(passage: NoteLines, *, as_json: bool) -> None:
    """Print lines of a note: unchanged into a pipe, escaped on a terminal."""
    if as_json:
        return print_json(passage)
    if not passage.text and passage.start_line > passage.line_count > 0:
        lines = count_text(passage.line_count, "line")
        print_notices([f"{passage.path} has only {lines}"])
    text = passage.text
    if text and not text.endswith("\n"):
        text += "\n"
    return write_stdout(escape_text(text) if is_terminal(sys.stdout) else text)
