"""Edges by hand: related_to, updates, contradicts, written where they begin.

An edge is a line in the front matter of the memory that it begins at; nothing else is
touched. ``updates`` says that one memory replaces another of any key: both keep their
status, and a search that finds both shows the newer. To retire a memory, save over its
key, or forget it. What a purge does to references is in ``purge_references``.
"""

from __future__ import annotations

from hivemind_memory.access.check import check_writable
from hivemind_memory.curation.lookup import find_memory
from hivemind_memory.curation.validate import validate_fraction
from hivemind_memory.errors import (
    MemoryNotFoundError,
    UsageError,
)
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.model.curation import LinkResult
from hivemind_memory.model.memories import EDGE_KINDS, UPDATES
from hivemind_memory.notes.edge import FIELDS, MAX_EDGES, targets
from hivemind_memory.notes.memory_file import read_memory_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex

    Items = list[object]
    "The items of one list of references in a front matter; see ``notes.edge``."


def link(
    context: CurationContext, start: str, end: str, kind: str, *, weight: float = 1.0
) -> LinkResult:
    """Join two memories; one that is joined already gets the new weight.

    Args:
        context: Of the caller.
        start: Key, id or path of the memory that the edge begins at; it is written to.
        end: Key, id or path of the other.
        kind: related_to, updates or contradicts.
        weight: 0..1.

    Raises:
        MemoryNotFoundError: The caller sees no memory of one of these names.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: It is no kind or no weight, or would join a memory to itself, or
            make two memories update each other.
    """
    _check_kind(kind)
    share = validate_fraction("weight", weight)
    share = 1.0 if share is None else round(share, 4)

    def add(index: MemoryIndex, row: MemoryRow) -> LinkResult:
        other = find_memory(context, index, end, near=row.scope)
        if other.path == row.path:
            raise UsageError(
                "Nothing was linked: a memory cannot be joined to itself.",
                hint="Name another memory as the end.",
            )
        if kind == UPDATES:
            _refuse_circle(context, index, row, other)
        name = other.memory_id or other.path

        def change(items: Items) -> Items:
            item = name if share == 1 else {"id": name, "weight": share}
            others = _without(context, index, row, items, other)
            if len(others) >= MAX_EDGES:
                raise UsageError(
                    f"Nothing was linked: {row.path} has {MAX_EDGES} edges of this"
                    f" kind already.",
                    hint="End one of them first.",
                )
            # In its old place, so that the same link twice changes nothing.
            at = next(
                (at for at, one in enumerate(items) if one not in others), len(items)
            )
            return [*others[:at], item, *others[at:]]

        is_changed = _change(context, row, FIELDS[kind], change)
        ends = (other.path, other.memory_id)
        return _linked(kind, row, ends, weight=share, is_changed=is_changed)

    return _at(context, start, kind, add)


def unlink(context: CurationContext, start: str, end: str, kind: str) -> LinkResult:
    """End what joins two memories; what is not there needs no ending.

    Args:
        context: Of the caller.
        start: Key, id or path of the memory that the edge begins at.
        end: Key, id or path of the other, or what the edge names where that is gone.
        kind: related_to, updates or contradicts.

    Raises:
        MemoryNotFoundError: The caller sees no memory of the first name.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: It is no kind of edge.
    """
    _check_kind(kind)

    def remove(index: MemoryIndex, row: MemoryRow) -> LinkResult:
        try:
            other = find_memory(context, index, end, near=row.scope)
        except MemoryNotFoundError:
            other = None

        def change(items: Items) -> Items:
            kept = [one for one in items if end.strip() not in targets(one)]
            return _without(context, index, row, kept, other) if other else kept

        is_changed = _change(context, row, FIELDS[kind], change)
        ends = (other.path, other.memory_id) if other else ("", end.strip())
        return _linked(kind, row, ends, weight=0.0, is_changed=is_changed)

    return _at(context, start, kind, remove)


def _at(
    context: CurationContext,
    start: str,
    kind: str,
    work: Callable[[MemoryIndex, MemoryRow], LinkResult],
) -> LinkResult:
    """Do *work* on the memory that an edge begins at, while nobody else changes it."""
    if kind == UPDATES:
        with context.updates_lock():
            return _under_key_lock(context, start, work)
    return _under_key_lock(context, start, work)


def _under_key_lock(
    context: CurationContext,
    start: str,
    work: Callable[[MemoryIndex, MemoryRow], LinkResult],
) -> LinkResult:
    """Find the memory, wait for its turn, and find it again as it is then."""
    row = find_memory(context, context.fresh_index(), start)
    check_writable(context.caller, parse_note_path(row.path))
    with context.key_lock(row.scope, row.key):
        index = context.fresh_index()
        return work(index, find_memory(context, index, start, scope=row.scope))


def _change(
    context: CurationContext,
    row: MemoryRow,
    field: str,
    change: Callable[[Items], Items],
) -> bool:
    """Change one list of a memory's front matter; return whether it differs now."""
    file = read_memory_file(context.folder, parse_note_path(row.path))
    value = file.front.values.get(field)
    before = value if isinstance(value, list) else [value]
    items = [one for one in before if one not in (None, "")]
    after = change(items)
    if after == items:
        return False
    # A single predecessor stays the plain value that a save writes.
    is_plain = field == FIELDS[UPDATES] and len(after) == 1
    changed = file.with_values({field: (after[0] if is_plain else after) or None})
    context.folder.replace(file.path, changed, expected=file.stamp)
    return True


def _without(
    context: CurationContext,
    index: MemoryIndex,
    row: MemoryRow,
    items: Items,
    other: MemoryRow,
) -> Items:
    """Return a list without what means a memory, however it is named there."""

    def means_other(one: object) -> bool:
        for target in targets(one):
            if target in (other.memory_id, other.path):
                return True
            end = index.resolve_ref(
                target, scopes=context.caller.scopes, near=row.scope
            )
            if end is not None and end.path == other.path:
                return True
        return False

    return [one for one in items if not means_other(one)]


def _refuse_circle(
    context: CurationContext, index: MemoryIndex, row: MemoryRow, other: MemoryRow
) -> None:
    """Raise if *other* updates *row* already, be it by way of others."""
    seen: set[str] = set()
    waiting = [other.path]
    while waiting:
        path = waiting.pop()
        if path == row.path:
            raise UsageError(
                f"Nothing was linked: {other.path} updates {row.path} already.",
                hint="End that link first, or link the other way round.",
            )
        if path in seen:
            continue
        seen.add(path)
        # Only what the caller sees: a refusal must not tell of anything else.
        waiting += [
            edge.to_path
            for edge in index.edges_of(path, scopes=context.caller.scopes)
            if edge.kind == UPDATES and edge.from_path == path and edge.to_path
        ]


def _check_kind(kind: str) -> None:
    """Raise if it is no kind of edge."""
    if kind not in EDGE_KINDS:
        raise UsageError(
            f"Nothing was linked: {kind[:60]!r} is no kind of edge.",
            hint=f"Kinds: {', '.join(EDGE_KINDS)}.",
        )


def _linked(
    kind: str,
    row: MemoryRow,
    end: tuple[str, str],
    *,
    weight: float,
    is_changed: bool,
) -> LinkResult:
    """Return what was done."""
    path = parse_note_path(row.path)
    return LinkResult(
        kind=kind,
        from_path=path,
        from_id=row.memory_id,
        to_path=end[0],
        to_id=end[1],
        weight=weight,
        is_changed=is_changed,
        changed_paths=(path,) if is_changed else (),
    )
