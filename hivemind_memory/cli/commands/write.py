"""hm write: appends an entry to a note."""

from __future__ import annotations

from hivemind_memory.cli.command import TEXT, Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import (
    BY,
    FORCE,
    GLOBAL,
    JSON,
    SCOPE,
    SESSION,
    SOURCE,
    SOURCE_REF,
    TAGS,
)
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
)
from hivemind_memory.cli.text_input import (
    read_content,
    scope_of,
    split_items,
    writer_of,
)
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import lines_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.results import WriteResult


@command(
    "write",
    description=(
        "The text is appended with a comment line that says who wrote it and when. The"
        " words are joined by spaces, and everything after the first one is text, so"
        " options go before it, or after a text in quotes. Without words, or with -,"
        " the text is read from standard input. When the command returns, the entry is"
        " on disk. In a repository the entry is saved to its project, unless --scope,"
        " -g or a --file with a folder says otherwise."
    ),
    arguments=(Argument("text", "What to remember.", is_required=False, reads=TEXT),),
    flags=(
        Flag(
            ("--file",),
            "text",
            "Note to append to; created if it does not exist.",
            metavar="PATH",
            completes="notes",
        ),
        SCOPE,
        GLOBAL,
        BY,
        SESSION,
        SOURCE,
        SOURCE_REF,
        TAGS,
        FORCE,
        JSON,
    ),
    examples=(
        "hm write we deploy on Tuesdays only",
        "hm write -g the staging server is called harbour",
        "git log -1 --format=%B | hm write --file projects/site.md",
    ),
)
def write(request: CommandRequest) -> int:
    """Append an entry."""
    values = request.values
    content = read_content(values["text"], "the entry")
    if not content.strip():
        raise UsageError(
            "The content is empty.",
            hint="`hm write TEXT`, or pipe the text in.",
            effect="Nothing was saved",
        )
    with request.open_memory() as memory:
        notices = new_scope_notices(memory, scope_of(values))
        written = memory.write(
            content,
            file=values["file"] or "",
            scope=scope_of(values),
            source_ref=values["source_ref"] or "",
            tags=split_items(",".join(values["tags"] or ())),
            is_forced=values["force"],
            **writer_of(values),
        )
    print_written(written, as_json=values["json"])
    print_notices((*notices, *_hints(written, values)))
    return 0


def _hints(written: WriteResult, values: dict[str, Any]) -> tuple[str, ...]:
    """Return what an agent might do better about an entry, as a command."""
    from hivemind_memory.model.save_hints import HintWords, entry_hints, hint_texts

    source = writer_of(values)["source"]
    words = HintWords(
        global_scope="`-g`", opening="`hm save -g --type preference KEY TEXT`"
    )
    return hint_texts(
        entry_hints(written, scope=scope_of(values), source=source), words
    )


def new_scope_notices(memory: Memory, named: str) -> list[str]:
    """Return that the name of a scope may be wrong, of one that has no notes yet.

    For an owner, if it is like one that exists; for others, if it is their workspace
    and nothing says which workspaces there are.
    """
    caller, notes = memory.caller, memory.places.notes
    if not (named and caller.is_owner) and not caller.workspace:
        return []
    from hivemind_memory.errors import ScopeError
    from hivemind_memory.files.near_scope import scope_notice, workspace_notice

    if caller.workspace:
        has_tree = bool(memory.settings.workspaces)
        notice = workspace_notice(notes, caller.workspace, has_tree=has_tree)
        ending = "; if its name is wrong,"
    else:
        try:
            notice, ending = scope_notice(notes, memory.find_scope(named)), ""
        except ScopeError:
            return []  # the write refuses it
    return [f"{notice}{ending} `hm undo` reverts this"] if notice else []


def print_written(written: WriteResult, *, as_json: bool) -> None:
    """Print where an entry went."""
    from hivemind_memory.model.results import pending_notice

    if as_json:
        return print_json(written)
    place = lines_text(written.path, written.start_line, written.end_line)
    verb = "pending" if pending_notice(written.path) else "saved"
    print_line(f"{verb} {place} ({written.id})", keep=[place])
    return print_notices(written.warnings)
