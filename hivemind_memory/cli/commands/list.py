"""hm list and hm log: the notes, the typed memories, and what was written by whom."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import Argument, CommandRequest, Flag, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import (
    AGENT,
    JSON,
    ONLY_SOURCE,
    ONLY_SOURCE_REF,
    SCOPE,
    SINCE,
    TYPE,
)
from hivemind_memory.cli.output import (
    count_text,
    is_terminal,
    lines_text,
    print_json,
    print_notices,
    print_rows,
    print_table,
    size_text,
    write_stdout,
)
from hivemind_memory.cli.text_input import split_items
from hivemind_memory.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hivemind_memory.memory import Memory
    from hivemind_memory.model.listing import MemoryFilter
    from hivemind_memory.model.results import ListedNote

_STATUSES = ("active", "pending", "superseded", "forgotten", "expired", "done")
_TERMINAL_ROWS = 40
"""Rows that a terminal shows without being asked for more; a pipe gets all."""

_COUNT = Flag(
    ("-n", "--limit"),
    "int",
    f"Maximum number of rows (terminal: {_TERMINAL_ROWS}, else all).",
    metavar="N",
    low=1,
    high=1_000_000,
)
_ALL = Flag(("--all",), "flag", "Show all rows, even on a terminal.")
_MAX_CHARS = 60
"""Characters of a text that a table shows."""


@command(
    "list",
    description=(
        "With a filter (--type, --scope, --since, --agent, --source, --source-ref,"
        " --status), lists typed memories instead: key, type, status, day, lines and"
        " text, the newest first, of several types one by one. FOLDER narrows both to"
        " what lies below it."
    ),
    arguments=(
        Argument(
            "folder",
            "Only what lies below this folder, such as projects/shop.",
            is_required=False,
            completes="folders",
        ),
    ),
    flags=(
        TYPE,
        SCOPE,
        SINCE,
        AGENT,
        ONLY_SOURCE,
        ONLY_SOURCE_REF,
        Flag(
            ("--status",),
            "text",
            "Only memories of this status; by default active and pending ones.",
            choices=(*_STATUSES, "all"),
        ),
        _COUNT,
        _ALL,
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
    from hivemind_memory.cli.commands.search import catch_up

    values = request.values
    names = ("type", "scope", "since", "agent", "source", "source_ref", "status")
    if any(values[name] is not None for name in names):
        return _list_memories(request)
    with request.open_memory() as memory:
        catch_up(memory)
        notes = memory.list(values["folder"] or "")
    count = _row_count(values, len(notes))
    if values["json"]:
        print_json(notes[:count])
        return 0
    if is_terminal(sys.stdout):
        write_stdout(_terminal_text(notes[:count]))
    else:
        print_rows(
            (note.path, note.size_bytes, note.updated_at, note.chunk_count)
            for note in notes[:count]
        )
    _print_left(len(notes) - count, "note")
    return 0


@command(
    "log",
    description=(
        "Lists entries and typed memories, the newest first: time, writer, lines and"
        " text. What was forgotten is left out. --changes lists what hm undo and hm"
        " restore can take back instead: time, id, kind and notes."
    ),
    flags=(
        Flag(("--changes",), "flag", "List changes with their ids instead."),
        Flag(
            ("-n", "--limit", "--max-results"),
            "int",
            "Maximum number of lines (20).",
            metavar="N",
            low=1,
            high=100_000,
        ),
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
        items = memory.curation.log(_filter_of(values))
        meant = "" if items else _what_was_meant(memory, values)
    shown = items[: values["max_results"] or 20]
    if values["json"]:
        print_json(shown)
        return 0
    rows = [
        (
            minute_text(item.at) or "no date",
            item.by or item.source or "unknown",
            lines_text(item.path, item.start_line, item.end_line),
            _first_line(item.text),
        )
        for item in shown
    ]
    print_table(("time", "by", "lines", "text"), rows)
    if not items:
        print_notices([f"nothing was written, as far as the notes say{meant}"])
    elif len(items) > len(shown):
        print_notices([f"{len(shown)} of {len(items)}; -n shows more"])
    return 0


def _list_changes(request: CommandRequest) -> int:
    """List the changes that can be taken back."""
    values = request.values
    if any(values[name] for name in ("since", "scope", "agent", "source")):
        message = "--changes takes no other filter than -n."
        raise UsageError(message, hint="Leave out the other options.")
    with request.open_memory() as memory:
        changes = memory.curation.changes()
    shown = changes[: values["max_results"] or 20]
    if values["json"]:
        print_json(shown)
        return 0
    rows = [
        (
            minute_text(change.at),
            change.id,
            f"{change.kind}, taken back" if change.undone_by else change.kind,
            ", ".join(dict.fromkeys(item.path for item in change.items)),
        )
        for change in shown
    ]
    print_table(("time", "id", "change", "notes"), rows, keep=True)
    if not changes:
        print_notices(["no changes are recorded"])
    return 0


def _list_memories(request: CommandRequest) -> int:
    """List typed memories."""
    with request.open_memory() as memory:
        memories = memory.curation.list_memories(_filter_of(request.values))
        meant = "" if memories else _what_was_meant(memory, request.values)
    count = _row_count(request.values, len(memories))
    if request.values["json"]:
        print_json(memories[:count])
        return 0
    rows = [
        (
            memory.key or memory.id,
            memory.type,
            memory.status,
            memory.created[:10],
            lines_text(memory.path, memory.start_line, memory.end_line),
            _first_line(memory.text),
        )
        for memory in memories[:count]
    ]
    print_table(("key", "type", "status", "day", "lines", "text"), rows)
    if not memories:
        print_notices(
            [f"no typed memory matches{meant}; `hm log` also lists entries of notes"]
        )
    _print_left(len(memories) - count, "memory", "memories")
    return 0


def _what_was_meant(memory: Memory, values: Mapping[str, Any]) -> str:
    """Return what was probably meant by a filter, for the end of a sentence."""
    from hivemind_memory.model.keys import closest
    from hivemind_memory.model.listing import MemoryFilter
    from hivemind_memory.model.scope import scope_of

    if values["scope"]:
        scopes = {scope_of(note.path) for note in memory.list()} - {""}
        wanted = memory.find_scope(values["scope"])
        near = () if wanted in {"", *scopes} else closest(wanted, scopes)
        if near:
            return f"; did you mean --scope {near[0]}?"
    if not values["agent"]:
        return ""
    writers = {one.by for one in memory.curation.log(MemoryFilter())} - {""}
    near = () if values["agent"] in writers else closest(values["agent"], writers)
    return f"; did you mean --agent {near[0]}?" if near else ""


def _row_count(values: Mapping[str, Any], found: int) -> int:
    """Return how many of the rows that were found are shown."""
    limit: int | None = values["limit"]
    if limit is not None and values["all"]:
        raise UsageError("--limit and --all exclude each other.", hint="Give one.")
    if limit is None and not (values["all"] or values["json"]):
        limit = _TERMINAL_ROWS if is_terminal(sys.stdout) else None
    return found if limit is None or values["all"] else min(limit, found)


def _print_left(count: int, noun: str, plural: str = "") -> None:
    """Say how many rows are not shown, and how to see them."""
    if count:
        more = count_text(count, f"more {noun}", f"more {plural}" if plural else "")
        print_notices([f"… {more}: --all lists them"])


def _filter_of(values: Mapping[str, Any]) -> MemoryFilter:
    """Return which memories the options select."""
    from hivemind_memory.model.listing import MemoryFilter

    status = values.get("status")
    statuses = _STATUSES if status == "all" else (str(status),)
    return MemoryFilter(
        types=split_items(values.get("type")),
        scope=values["scope"] or "",
        since=values["since"] or "",
        by=values["agent"] or "",
        source=values["source"] or "",
        source_ref=values.get("source_ref") or "",
        folder=values.get("folder") or "",
        statuses=statuses if status else MemoryFilter().statuses,
    )


def _first_line(text: str) -> str:
    """Return the first line of a text, shortened."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _MAX_CHARS else f"{line[: _MAX_CHARS - 1]}…"


def _terminal_text(notes: Sequence[ListedNote]) -> str:
    """Return the table of notes; a narrow terminal shows fewer columns."""
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
        row += [minute_text(note.updated_at)] if has_time else []
        row += [f"{note.chunk_count:,}"] if has_chunks else []
        rows.append(row)
    return names_text(heads, rows)
