"""Prints what curating did. For a pipe and for a terminal alike: plain lines."""

from __future__ import annotations

from hivemind_memory.cli.escape import for_pipe, on_one_line
from hivemind_memory.cli.render import count_text
from hivemind_memory.cli.streams import write_data, write_talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hivemind_memory.model.curating import (
        History,
        Linked,
        Recalled,
        Saved,
        Shown,
        ShownEdge,
    )
    from hivemind_memory.model.erasing import (
        Affected,
        Failed,
        Forgotten,
        Receipt,
        Restored,
    )


def show_saved(saved: Saved, *, as_json: bool) -> None:
    """Print where a memory went and what it replaced."""
    if as_json:
        return _json(saved)
    place = f"{saved.path}:{saved.first_line}-{saved.last_line}"
    if not saved.is_new:
        _line(f"unchanged {place} says exactly this already")
    elif saved.standing == "waiting":
        _line(f"saved {place} (untrusted: it waits in the inbox until you move it)")
    else:
        _line(f"saved {place} as {saved.type} {saved.key}")
    if saved.superseded:
        _line(f"replaced {saved.superseded_path or saved.superseded}")
    _talk((*saved.warnings, *saved.hints))
    return None


def show_memory(shown: Shown, *, as_json: bool) -> None:
    """Print one memory with what is known about it."""
    if as_json:
        return _json(shown)
    memory = shown.memory
    _line(f"{memory.path}:{memory.first_line}-{memory.last_line}")
    for name, value in _facts(memory):
        _line(f"  {name}: {value}")
    count = shown.recall.access_count
    last = f", last {shown.recall.last_accessed_at}" if count else ""
    _line(f"  recalled: {count_text(count, 'time')}{last}")
    for edge in shown.edges:
        _line(f"  {_edge_text(edge)}")
    if len(shown.chain) > 1:
        _line(f"  versions: {len(shown.chain)}; hm history shows them")
    write_data("\n" + for_pipe(memory.text).rstrip("\n") + "\n")
    return None


def show_history(history: History, *, as_json: bool) -> None:
    """Print the versions of a memory, the newest first."""
    if as_json:
        return _json(history)
    for memory in history.memories:
        at = (memory.updated or memory.created)[:19].replace("T", " ")
        said = f"{at or 'no date'}  {memory.standing}  {memory.path}"
        _line(f"{said}  {memory.reason}".rstrip())
        text = for_pipe(memory.text).rstrip("\n").replace("\n", "\n    ")
        write_data(f"    {text}\n")
    _talk(f"{one} is named in the chain and not there" for one in history.missing)
    return None


def show_linked(linked: Linked, *, as_json: bool) -> None:
    """Print what joins two memories now."""
    if as_json:
        return _json(linked)
    if not linked.is_changed:
        _line("unchanged: it is so already")
    elif linked.weight:
        _line(f"{linked.from_path} {linked.kind} {linked.to_path}")
    else:
        _line(f"{linked.from_path} no longer {linked.kind} {linked.to_path}")
    return None


def show_forgotten(forgotten: Forgotten, *, as_json: bool) -> None:
    """Print what is hidden now."""
    if as_json:
        return _json(forgotten)
    _list("forgot", forgotten.memories)
    _list("in force again:", forgotten.reinstated)
    _rest(forgotten.already, "forgotten already", forgotten.failed)
    if forgotten.memories:
        write_talk("hm restore brings it back; --purge takes it out for good\n")
    return None


def show_restored(restored: Restored, *, as_json: bool) -> None:
    """Print what is there again."""
    if as_json:
        return _json(restored)
    _list("restored", restored.memories)
    _list("replaced again:", restored.replaced)
    _rest(restored.already, "not forgotten", restored.failed)
    return None


def show_receipt(receipt: Receipt, *, as_json: bool) -> None:
    """Print where purged memories were, and where they may still be."""
    if as_json:
        return _json(receipt)
    _list("would purge" if receipt.is_dry_run else "purged", receipt.memories)
    for place in receipt.places:
        if place.count:
            _line(f"  {place.name}: {place.count} {place.unit}")
    clean = [place.name for place in receipt.places if not place.count]
    if clean:
        _line(f"  nothing in: {', '.join(clean)}")
    _list("in force again:", receipt.reinstated)
    _talk(f"NOT done: {one.what}: {one.why}" for one in receipt.left)
    _talk(f"out of reach: {one.what}: {one.why}" for one in receipt.out_of_reach)
    return None


def _facts(memory: Recalled) -> Iterable[tuple[str, str]]:
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


def _edge_text(edge: ShownEdge) -> str:
    """Return an edge as a line."""
    other = edge.path or f"{edge.id} (not there)"
    weight = f" (weight {edge.weight:.2g})" if edge.weight != 1 else ""
    if edge.is_outgoing:
        return f"{edge.kind} {other}{weight}"
    return f"{other} {edge.kind} this{weight}"


def _list(verb: str, memories: Sequence[Affected]) -> None:
    """Print memories, one a line."""
    for one in memories:
        name = f" ({one.key})" if one.key else ""
        why = f" [{one.why}]" if one.why not in ("", "named") else ""
        _line(f"{verb} {one.path}:{one.first_line}-{one.last_line}{name}{why}")


def _rest(already: int, what: str, failed: Sequence[Failed]) -> None:
    """Print what needed nothing, and what could not be done."""
    if already:
        _talk([f"{count_text(already, 'memory', 'memories')} {what}"])
    _talk(f"NOT done: {one.what}: {one.why}" for one in failed)


def _line(text: str) -> None:
    """Print one line of data."""
    write_data(f"{on_one_line(text)}\n")


def _talk(lines: Iterable[str]) -> None:
    """Print lines of talk."""
    write_talk("".join(f"{on_one_line(line)}\n" for line in lines))


def _json(value: object) -> None:
    """Print JSON; the module is imported only when it is asked for."""
    from hivemind_memory.cli.as_json import print_json

    print_json(value)
