"""hm done: marks a memory as done, or as open again."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import JSON, SCOPE
from hivemind_memory.cli.output import print_json, print_line, print_notices
from hivemind_memory.model.keys import operand


@command(
    "done",
    description=(
        "A memory that is done is no longer injected or listed, but searches still find"
        " it. hm list --status done lists it. To reopen it, run hm done REF --reopen;"
        " hm undo reverses a mark that you have just made."
    ),
    arguments=(
        Argument("ref", "Key, id or path of a typed memory.", completes="keys"),
    ),
    flags=(
        Flag(("--reopen",), "flag", "Mark it as open again."),
        SCOPE,
        JSON,
    ),
    examples=("hm done renew-certificates", "hm done renew-certificates --reopen"),
)
def done(request: CommandRequest) -> int:
    """Mark a memory as done."""
    values = request.values
    with request.open_memory() as memory:
        marked = memory.curation.mark_done(
            values["ref"], scope=values["scope"] or "", is_open=values["reopen"]
        )
    if values["json"]:
        print_json(marked)
        return 0
    state = f"done since {marked.day}" if marked.day else "open"
    if marked.is_changed:
        print_line(f"{'done' if marked.day else 'open again'}: {marked.path}")
    else:
        print_line(f"unchanged: {marked.path} is {state}", keep=[marked.path])
    if marked.day:
        print_notices([f"`hm done --reopen {operand(values['ref'])}` opens it again"])
    return 0
