"""Prints what curating did: plain lines, and a memory as a terminal can show it."""

from __future__ import annotations

import sys

from hivemind_memory.cli.escape import escape_for_pipe, escape_line
from hivemind_memory.cli.render import count_text
from hivemind_memory.cli.streams import is_terminal, write_stderr, write_stdout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hivemind_memory.model.curation import (
        AffectedItem,
        FailedItem,
        ForgetResult,
        History,
        LinkResult,
        MemoryDetails,
        MemoryEdge,
        PurgeCount,
        PurgeResult,
        RestoreResult,
        SaveResult,
        StoredMemory,
    )

_WHY = {"older": "earlier version", "inbox": "waiting claim", "copy": "same text"}
"""By what a memory came that nobody named -> in words."""

_ONE_OF = {
    "entries": "entry",
    "files": "file",
    "texts": "text",
    "chunks with their": "chunk with its",
    "vectors": "vector",
    "pages": "page",
    "records": "record",
    "worktrees": "worktree",
    "counters": "counter",
}


def show_saved(saved: SaveResult, *, as_json: bool) -> None:
    """Print where a memory went and what it replaced."""
    if as_json:
        return _json(saved)
    place = f"{saved.path}:{saved.start_line}-{saved.end_line}"
    if not saved.is_new:
        _line(f"unchanged: {place} says exactly this already")
        _print_to_stderr(saved.warnings)
        return None
    _line(f"saved {place} as {saved.type} {saved.key}")
    if saved.superseded:
        _line(f"kept the one before as {saved.superseded_path or saved.superseded}")
    _print_to_stderr((*saved.warnings, *saved.hints))
    return None


def show_memory(shown: MemoryDetails, *, as_json: bool) -> None:
    """Print one memory with what is known about it."""
    if as_json:
        return _json(shown)
    memory, facts = shown.memory, list(_all_facts(shown))
    if is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import memory_text

        return write_stdout(memory_text(_place(memory), facts, memory.text))
    _line(_place(memory))
    for name, value in facts:
        _line(f"  {name}: {value}")
    write_stdout("\n" + escape_for_pipe(memory.text).rstrip("\n") + "\n")
    return None


def show_history(history: History, *, as_json: bool) -> None:
    """Print the versions of a memory, the newest first."""
    if as_json:
        return _json(history)
    versions = [(_version_head(one), _place(one), one) for one in history.memories]
    if is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import versions_text

        write_stdout(versions_text([(a, b, one.text) for a, b, one in versions]))
    else:
        for head, place, memory in versions:
            _line(head)
            _line(f"  {place}")
            text = escape_for_pipe(memory.text).rstrip("\n").replace("\n", "\n    ")
            write_stdout(f"    {text}\n")
    _print_to_stderr(
        f"{one} is named in the chain and not there" for one in history.missing
    )
    if history.is_cut:
        _print_to_stderr(["older versions are not shown"])
    return None


def show_linked(linked: LinkResult, verb: str, *, as_json: bool) -> None:
    """Print what joins two memories now, or no longer does."""
    if as_json:
        return _json(linked)
    if linked.is_changed:
        other = linked.to_path or linked.to_id
        _line(f"{verb} {linked.from_path} {linked.kind} {other}")
    else:
        _line("unchanged: it is so already")
    return None


def show_forgotten(forgotten: ForgetResult, *, as_json: bool) -> None:
    """Print what is hidden now."""
    if as_json:
        return _json(forgotten)
    _list("forgot", forgotten.memories)
    _list("in force again:", forgotten.reinstated)
    _rest(forgotten.already, "forgotten already", forgotten.failed)
    if forgotten.memories:
        write_stderr("hm restore brings it back; --purge takes it out for good\n")
    return None


def show_restored(restored: RestoreResult, *, as_json: bool) -> None:
    """Print what is there again."""
    if as_json:
        return _json(restored)
    _list("restored", restored.memories)
    _list("replaced again:", restored.replaced)
    _rest(restored.already, "not forgotten", restored.failed)
    return None


def show_receipt(receipt: PurgeResult, *, as_json: bool) -> None:
    """Print where purged memories were, and where they may still be."""
    if as_json:
        return _json(receipt)
    _list("would purge" if receipt.is_dry_run else "purged", receipt.memories)
    width = max((len(place.name) for place in receipt.places), default=0)
    for place in receipt.places:
        _line(f"  {place.name:{width}}  {_amount(place)}")
    _list("in force again:", receipt.reinstated)
    _print_to_stderr(f"NOT done: {one.what}: {one.why}" for one in receipt.left)
    if receipt.left and not receipt.is_dry_run:
        _print_to_stderr(["the same purge again does what is left"])
    _print_to_stderr(
        f"out of reach: {one.what}: {one.why}" for one in receipt.out_of_reach
    )
    return None


def _amount(place: PurgeCount) -> str:
    """Return what a place of a receipt held."""
    if not place.count:
        return "nothing"
    unit = place.unit
    if place.count == 1 and not unit.startswith("of "):
        for plural, one in _ONE_OF.items():
            unit = unit.replace(plural, one)
    return f"{place.count:,} {unit}"


def _place(memory: StoredMemory) -> str:
    """Return where a memory stands, as ``hm get`` takes it."""
    return f"{memory.path}:{memory.start_line}-{memory.end_line}"


def _version_head(memory: StoredMemory) -> str:
    """Return when a version was written, how it stands, and why it came."""
    at = (memory.updated or memory.created)[:16].replace("T", " ")
    reason = f": {memory.reason}" if memory.reason else ""
    return f"{at or 'no date'}  {memory.standing}{reason}"


def _all_facts(shown: MemoryDetails) -> Iterable[tuple[str, str]]:
    """Yield what is known about a memory and around it."""
    yield from _facts(shown.memory)
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
        ("scope", memory.scope or "global"),
        ("standing", memory.standing),
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
    )
    return ((name, value) for name, value in rows if value)


def _edge_fact(edge: MemoryEdge) -> tuple[str, str]:
    """Return an edge as a name and a value."""
    other = edge.path or f"{edge.id} (not there)"
    weight = f" (weight {edge.weight:.2g})" if edge.weight != 1 else ""
    if edge.is_outgoing:
        return edge.kind, f"{other}{weight}"
    return f"{edge.kind} this", f"{other}{weight}"


def _list(verb: str, memories: Sequence[AffectedItem]) -> None:
    """Print memories, one a line."""
    for one in memories:
        said = ", ".join(name for name in (one.key, _WHY.get(one.why, "")) if name)
        more = f" ({said})" if said else ""
        _line(f"{verb} {one.path}:{one.start_line}-{one.end_line}{more}")


def _rest(already: int, what: str, failed: Sequence[FailedItem]) -> None:
    """Print what needed nothing, and what could not be done."""
    if already:
        _print_to_stderr([f"{count_text(already, 'memory', 'memories')} {what}"])
    _print_to_stderr(f"NOT done: {one.what}: {one.why}" for one in failed)


def _line(text: str) -> None:
    """Print one line of data."""
    write_stdout(f"{escape_line(text)}\n")


def _print_to_stderr(lines: Iterable[str]) -> None:
    """Print lines of talk."""
    write_stderr("".join(f"{escape_line(line)}\n" for line in lines))


def _json(value: object) -> None:
    """Print JSON; the module is imported only when it is asked for."""
    from hivemind_memory.cli.as_json import print_json

    print_json(value)
