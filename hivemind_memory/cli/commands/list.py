"""hm list: the notes or, with a filter, the typed memories."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import day_text, minute_text
from hivemind_memory.cli.list_filter import (
    STATUS_FLAGS,
    STATUSES,
    first_line,
    memory_filter,
    suggest_filter,
)
from hivemind_memory.cli.options import (
    AGENT,
    IN_FOLDER,
    JSON,
    ONLY_SOURCE,
    ONLY_SOURCE_REF,
    ONLY_TAG,
    SCOPE,
    SINCE,
    TYPE,
)
from hivemind_memory.cli.output import (
    is_terminal,
    print_json,
    print_notices,
    print_rows,
    print_table,
    size_text,
    write_stdout,
)
from hivemind_memory.cli.row_limit import ALL, LIMIT, RULE, print_left, row_count
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import behind_text, lines_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from hivemind_memory.model.results import ListedNote


@command(
    "list",
    description=(
        "Newest first; notes that were copied in together come last. Forgotten memories"
        " are left out. With a filter (--type, --scope, --since, --tag, --agent,"
        " --source, --source-ref, --status) or"
        " --memories, lists typed memories instead: key, type, status, day, location"
        " and text, newest first, grouped by type if there are several. FOLDER limits"
        f" both to what is below it. {RULE}"
    ),
    arguments=(
        Argument(
            "folder",
            "Only items in this folder, such as projects/shop.",
            is_required=False,
            completes="folders",
        ),
    ),
    flags=(
        TYPE,
        SCOPE,
        SINCE,
        ONLY_TAG,
        IN_FOLDER,
        AGENT,
        ONLY_SOURCE,
        ONLY_SOURCE_REF,
        Flag(
            ("--status",),
            "text",
            "Only memories of this status; by default active and pending ones.",
            choices=(*STATUSES, "all"),
        ),
        Flag(("--superseded",), "flag", "Same as --status superseded."),
        Flag(("--forgotten",), "flag", "Same as --status forgotten; entries, too."),
        Flag(("--inbox",), "flag", "Same as --status pending."),
        Flag(("--memories",), "flag", "Only typed memories, of all types."),
        LIMIT,
        ALL,
        JSON,
    ),
    examples=(
        "hm list",
        "hm list projects/shop",
        "hm list --type lesson,decision --since 7d",
    ),
)
def list_(request: CommandRequest) -> int:
    """List all notes, or typed memories."""
    from hivemind_memory.cli.indexing import catch_up
    from hivemind_memory.cli.list_order import newest_first

    values = request.values
    if values["in"] and values["folder"]:
        message = "FOLDER and --in both name a folder."
        raise UsageError(message, hint="Give one of them.")
    folder = values["in"] or values["folder"] or ""
    filters = ("type", "scope", "since", "tag", "agent", "source", "source_ref")
    names = (*filters, "status")
    is_asked = any(values[name] for name in (*STATUS_FLAGS, "memories"))
    if is_asked or any(values[name] is not None for name in names):
        return _list_memories(request, {**values, "folder": folder})
    with request.open_memory() as memory:
        catch_up(memory)
        notes = memory.list(folder)
        created = {row.path: row.created for row in memory.memories()} if notes else {}
        behind = behind_text(memory.index_handle.why_behind)
    print_notices([behind] if behind else [])
    notes, undated = newest_first(notes, created)
    count = row_count(values, len(notes))
    if values["json"]:
        print_json(notes[:count])
        return 0
    if is_terminal(sys.stdout):
        write_stdout(_terminal_text(notes[:count], undated))
    else:
        print_rows(
            (note.path, note.size_bytes, note.updated_at, note.chunk_count)
            for note in notes[:count]
        )
    print_left(len(notes) - count, "note")
    return 0


def _list_memories(request: CommandRequest, values: Mapping[str, Any]) -> int:
    """List the typed memories that some values of options select."""
    with request.open_memory() as memory:
        memories = memory.curation.list_memories(memory_filter(values))
        behind = behind_text(memory.index_handle.why_behind)
        meant = "" if memories else suggest_filter(memory, values)
    print_notices([behind] if behind else [])
    count = row_count(values, len(memories))
    if values["json"]:
        print_json(memories[:count])
        return 0
    rows = [
        (
            memory.key or memory.id,
            memory.type or "entry",
            memory.status,
            day_text(memory.created),
            lines_text(memory.path, memory.start_line, memory.end_line),
            first_line(memory.text),
        )
        for memory in memories[:count]
    ]
    heads = ("key", "type", "status", "day", "location", "text")
    print_table(heads, rows, is_cut=True)
    if not memories:
        entries = "`hm log` also lists entries of notes"
        if values["tag"]:
            entries = "`hm search` with the same --tag also finds entries of notes"
        said = f"no typed memory matches{meant}"
        if values["forgotten"]:
            said = f"nothing that is forgotten matches{meant}"
        print_notices([said, entries] if meant else [f"{said}; {entries}"])
    print_left(len(memories) - count, "memory", "memories")
    return 0


def _terminal_text(notes: Sequence[ListedNote], undated: Collection[str]) -> str:
    """Return the table of notes; a narrow terminal shows fewer columns.

    Of *undated* notes it is known only when they were copied.
    """
    from shutil import get_terminal_size

    from hivemind_memory.cli.terminal import names_text

    if not notes:
        return "no notes yet: `hm write` or `hm edit` creates the first\n"
    columns = get_terminal_size().columns
    has_time, has_chunks = columns >= 64, columns >= 48
    heads = ["note", "size"]
    heads += ["last change"] if has_time else []
    heads += ["chunks"] if has_chunks else []
    rows = []
    for note in notes:
        row = [note.path, size_text(note.size_bytes)]
        at = minute_text(note.updated_at)
        at = f"copied {at[:10]}" if note.path in undated else at
        row += [at] if has_time else []
        row += [f"{note.chunk_count:,}"] if has_chunks else []
        rows.append(row)
    return names_text(heads, rows)
