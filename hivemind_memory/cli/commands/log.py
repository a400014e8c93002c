"""hm log: lists what was written and by whom, and the changes that can be undone."""

from __future__ import annotations

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.list_filter import first_line, memory_filter, suggest_filter
from hivemind_memory.cli.options import AGENT, JSON, ONLY_SOURCE, SCOPE, SINCE
from hivemind_memory.cli.output import (
    print_json,
    print_notices,
    print_table,
)
from hivemind_memory.cli.row_limit import ALL, LIMIT, RULE, print_left, row_count
from hivemind_memory.errors import UsageError
from hivemind_memory.model.changes import COMMAND, MERGE, RENAME
from hivemind_memory.model.display import lines_text
from hivemind_memory.model.scope import INBOX, place_in_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.changes import Change
    from hivemind_memory.model.listing import WrittenItem


@command(
    "log",
    description=(
        "Lists entries and typed memories, newest first: time, writer, location and"
        " text. Forgotten items are left out; hm list --forgotten lists them. --changes"
        " lists changes instead, for hm undo and hm restore: time, id, kind, notes and"
        " the start of the text, even if it is hidden, or the linked memories. An edit"
        f" or a purge can't be undone. {RULE}"
    ),
    flags=(
        Flag(("--changes",), "flag", "List changes with their ids instead."),
        LIMIT,
        ALL,
        SINCE,
        SCOPE,
        AGENT,
        ONLY_SOURCE,
        JSON,
    ),
    examples=("hm log", "hm log --since yesterday --agent claude"),
)
def log(request: CommandRequest) -> int:
    """List what was written."""
    values = request.values
    if values["changes"]:
        return _list_changes(request)
    with request.open_memory() as memory:
        items = memory.curation.log(memory_filter(values))
        meant = "" if items else suggest_filter(memory, values)
    shown = items[: row_count(values, len(items))]
    if values["json"]:
        print_json(shown)
        return 0
    rows = [
        (
            minute_text(item.at) or "no date",
            _writer(item),
            lines_text(item.path, item.start_line, item.end_line),
            first_line(item.text),
        )
        for item in shown
    ]
    print_table(("time", "by", "location", "text"), rows, is_cut=True)
    if not items:
        print_notices([f"no entries in this period{meant}"])
    print_left(len(items) - len(shown), "row")
    return 0


def _writer(item: WrittenItem) -> str:
    """Return who wrote an item; of a claim also that it is pending."""
    by = item.by or item.source or "unknown"
    return f"{by} (pending)" if place_in_scope(item.path) == INBOX else by


def _what(change: Change) -> str:
    """Return the notes that a change is about, or the project, or the command."""
    if change.kind == COMMAND:
        return " ".join(map(str, change.after))
    if change.kind in {RENAME, MERGE}:
        return f"project {' -> '.join(map(str, (*change.before, *change.after)))}"
    return ", ".join(dict.fromkeys(item.path for item in change.items))


def _list_changes(request: CommandRequest) -> int:
    """List the changes of the caller, each with its id."""
    values = request.values
    if any(values[name] for name in ("since", "scope", "agent", "source")):
        message = "--changes takes no filter."
        raise UsageError(message, hint="Leave out the other options.")
    from hivemind_memory.state.change_log import MAX_CHANGES

    with request.open_memory() as memory:
        changes = memory.curation.changes(row_count(values, MAX_CHANGES))
    shown = changes[: row_count(values, len(changes))]
    if values["json"]:
        print_json(shown)
        return 0
    rows = [
        (
            minute_text(change.at),
            change.id,
            f"{change.kind}, undone" if change.undone_by else change.kind,
            _what(change),
            change.text,
        )
        for change in shown
    ]
    print_table(("time", "id", "change", "notes", "text"), rows, is_cut=True)
    if not changes:
        print_notices(["no changes are recorded"])
    print_left(len(changes) - len(shown), "change")
    return 0
