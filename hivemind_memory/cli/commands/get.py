"""hm get: a note, or some of its lines."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON, NOTE
from hivemind_memory.cli.output import (
    is_terminal,
    print_json,
    print_notices,
    write_stdout,
)
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import count_text, escape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.results import NoteLines


@command(
    "get",
    description=(
        "PATH can name lines as a search prints them (deploy.md:12-18). Instead of a"
        " path, give the key or id of a memory, the id of an entry, or the end of a"
        " note's path, with or without .md. In a project, a day such as 2026-11-21 is"
        " the project's note of that day."
    ),
    arguments=(NOTE,),
    flags=(
        Flag(("--from",), "int", "First line to print.", metavar="N", low=1),
        Flag(
            ("--lines",), "int", "Maximum number of lines to print.", metavar="M", low=0
        ),
        JSON,
    ),
    examples=("hm get global.md", "hm get deploy.md:12-18"),
)
def get(request: CommandRequest) -> int:
    """Print a note or some of its lines."""
    from hivemind_memory.curation.copies import copies_of, copy_notice
    from hivemind_memory.model.citation import split_place

    values = request.values
    name = values["path"]
    with request.open_memory() as memory:
        path, first, last, behind = memory.curation.locate(name)
        if first and (values["from"] is not None or values["lines"] is not None):
            message = "PATH already includes lines."
            hint = "Leave out --from and --lines, or the line numbers."
            raise UsageError(message, hint=hint)
        passage = memory.read(
            path,
            start_line=first or values["from"] or 1,
            line_count=last - first + 1 if first else values["lines"],
        )
        # A path means that note, whatever else there is.
        is_named = passage.path != split_place(name)[0]
        copies = copies_of(memory.memories(), passage.path) if is_named else []
    _print_passage(passage, as_json=values["json"])
    print_notices(filter(None, (behind, *map(copy_notice, copies))))
    if not passage.line_count:
        print_notices([f"{passage.path} is empty"])
    elif last > passage.line_count:
        lines = count_text(passage.line_count, "line")
        print_notices([f"{passage.path} has only {lines}"])
    return 0


def _print_passage(passage: NoteLines, *, as_json: bool) -> None:
    """Print lines of a note: unchanged into a pipe, escaped on a terminal."""
    if as_json:
        return print_json(passage)
    text = passage.text
    if text and not text.endswith("\n"):
        text += "\n"
    return write_stdout(escape_text(text) if is_terminal(sys.stdout) else text)
