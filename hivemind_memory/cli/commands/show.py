"""hm show and hm history: print a memory with its metadata, or its versions."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import CommandRequest, command
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON, MEMORY, SCOPE
from hivemind_memory.cli.output import (
    is_terminal,
    print_json,
    print_line,
    print_notices,
    write_stdout,
)
from hivemind_memory.model.display import (
    count_text,
    escape_line,
    escape_text,
    lines_text,
)
from hivemind_memory.model.scope import scope_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hivemind_memory.cli.terminal import Text
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.curation import (
        History,
        MemoryDetails,
        MemoryEdge,
        StoredMemory,
    )

_REVERSE = {
    "related_to": "related from",
    "updates": "updated by",
    "contradicts": "contradicted by",
}
"""Kind of a link -> what it is called at its other end."""


@command("show", arguments=(MEMORY,), flags=(SCOPE, JSON))
def show(request: CommandRequest) -> int:
    """Show one memory."""
    from hivemind_memory.curation.copies import copies_of, copy_notice

    values = request.values
    with request.open_memory() as memory:
        shown = _find(memory, values["ref"], values["scope"] or "")
        copies = copies_of(memory.memories(), shown.memory.path)
    _print_memory(shown, as_json=values["json"])
    if not values["json"]:
        print_notices(shown.warnings)
    print_notices(map(copy_notice, copies))
    return 0


def _find(memory: Memory, ref: str, scope: str) -> MemoryDetails:
    """Return what a name means: a memory, or a link that is proposed in the inbox."""
    from hivemind_memory.errors import MemoryNotFoundError
    from hivemind_memory.model.curation import MemoryDetails

    try:
        return memory.curation.show(ref, scope=scope)
    except MemoryNotFoundError:
        for claim in memory.curation.pending():
            if claim.id == ref.strip():
                return MemoryDetails(memory=claim)
        raise


@command("history", arguments=(MEMORY,), flags=(SCOPE, JSON))
def history(request: CommandRequest) -> int:
    """Show the versions of a memory."""
    from hivemind_memory.curation.copies import copies_of, copy_notice

    values = request.values
    with request.open_memory() as memory:
        found = memory.curation.history(values["ref"], scope=values["scope"] or "")
        newest = found.memories[0].path if found.memories else ""
        copies = copies_of(memory.memories(), newest)
    _print_history(found, as_json=values["json"])
    print_notices([found.warning] if found.warning else [])
    print_notices(map(copy_notice, copies))
    return 0


def _print_memory(shown: MemoryDetails, *, as_json: bool) -> None:
    """Print one memory with what is known about it."""
    if as_json:
        return print_json(shown)
    memory, rows = shown.memory, list(_all_facts(shown))
    if is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import Text, body, facts, rendered, whole

        head = whole(_place(memory), "bold")
        pieces = [head, body(memory.text), Text(), *facts(rows)]
        return write_stdout(rendered(pieces))
    print_line(_place(memory))
    for name, value in rows:
        print_line(f"  {name}: {value}")
    return write_stdout("\n" + escape_text(memory.text).rstrip("\n") + "\n")


def _print_history(history: History, *, as_json: bool) -> None:
    """Print the versions of a memory, newest first."""
    if as_json:
        return print_json(history)
    if is_terminal(sys.stdout):
        write_stdout(_terminal_versions(history.memories))
    else:
        for memory in history.memories:
            print_line(_version_head(memory))
            print_line(f"  {' '.join(_place_and_id(memory))}")
            text = escape_text(memory.text).rstrip("\n").replace("\n", "\n    ")
            write_stdout(f"    {text}\n")
    missing = (f"{path} is named in the chain but missing" for path in history.missing)
    return print_notices(missing)


def _terminal_versions(versions: Sequence[StoredMemory]) -> str:
    """Return the versions of a memory: when and why, where, what it said."""
    from hivemind_memory.cli.terminal import Text, body, indented, rendered, whole

    pieces: list[Text] = []
    for memory in versions:
        pieces += [
            Text(escape_line(_version_head(memory)), "bold"),
            *(indented(whole(part, "dim")) for part in _place_and_id(memory)),
            body(memory.text),
            Text(),
        ]
    return rendered(pieces[:-1])


def _place(memory: StoredMemory) -> str:
    """Return where a memory is, as ``hm get`` takes it."""
    return lines_text(memory.path, memory.start_line, memory.end_line)


def _place_and_id(memory: StoredMemory) -> list[str]:
    """Return where a version is, and its id, which the path of an older one has."""
    place = _place(memory)
    is_named = not memory.id or memory.id in memory.path
    return [place] if is_named else [place, f"({memory.id})"]


def _version_head(memory: StoredMemory) -> str:
    """Return when a version was written, its status, and why it was written."""
    reason = f": {memory.reason}" if memory.reason else ""
    at = minute_text(memory.updated or memory.created)
    when = f"{at}  " if at else ""
    unknown = "" if at else "; the note does not say when it was written"
    return f"{when}{memory.status}{reason}{unknown}"


def _all_facts(shown: MemoryDetails) -> Iterable[tuple[str, str]]:
    """Yield what is known about a memory and what is linked to it."""
    for name, value in _facts(shown.memory):
        is_replaced = name == "status" and shown.replaced_by
        yield name, "superseded" if is_replaced else value
    recall = shown.recall
    last = f", last {recall.last_accessed_at}" if recall.access_count else ""
    yield "recalled", f"{count_text(recall.access_count, 'time')}{last}"
    for edge in shown.edges:
        yield _edge_fact(edge)
    if len(shown.chain) > 1:
        yield "versions", f"{len(shown.chain)}; hm history shows them"


def _facts(memory: StoredMemory) -> Iterable[tuple[str, str]]:
    """Yield what is known about a memory; what is empty is left out."""
    rows = (
        ("type", memory.type),
        ("key", memory.key),
        ("id", memory.id),
        ("scope", scope_text(memory.scope)),
        ("status", memory.status),
        ("importance", f"{memory.importance:.2g}"),
        ("visibility", memory.visibility),
        ("created", memory.created),
        ("updated", memory.updated if memory.updated != memory.created else ""),
        ("by", memory.by),
        ("session", memory.session),
        ("source", memory.source),
        ("derived from", memory.source_ref),
        ("reason", memory.reason),
        ("supersedes", ", ".join(memory.supersedes)),
        ("superseded by", memory.superseded_by),
        ("pinned", "yes" if memory.is_pinned else ""),
        ("expires", memory.expires),
        ("done", memory.done),
        ("tags", ", ".join(memory.tags)),
        *memory.claim.items(),
    )
    return ((name, value) for name, value in rows if value)


def _edge_fact(edge: MemoryEdge) -> tuple[str, str]:
    """Return an edge as a name and a value."""
    other = edge.path or f"{edge.id} (missing)"
    more = [f"weight {edge.weight:.2g}"] if edge.weight != 1 else []
    more += ["by the language model"] if edge.by == "model" else []
    shown = f"{other} ({', '.join(more)})" if more else other
    return (edge.kind if edge.is_outgoing else _REVERSE[edge.kind]), shown
