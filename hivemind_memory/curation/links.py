"""Adds and removes links between memories: related_to, updates, contradicts.

An edge is written to the front matter of the memory it starts at; nothing else changes.
``updates`` says that one memory replaces another of any key: both stay active, and a
search that finds both shows the newer one. To replace a memory, save one under its key.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext, suppress

from hivemind_memory.access.rules import check_writable, may_write
from hivemind_memory.curation.change_recording import ChangedList, record
from hivemind_memory.curation.lookup import find_memory
from hivemind_memory.curation.lookup_one import find_one
from hivemind_memory.curation.read_version import check_text
from hivemind_memory.curation.refused_links import forget_proposed, refuse_link
from hivemind_memory.curation.validate import validate_fraction
from hivemind_memory.errors import MemoryNotFoundError, NotWritableError, UsageError
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.model.changes import DONE, LINK, ChangedItem
from hivemind_memory.model.curation import MEMORY
from hivemind_memory.model.keys import closest
from hivemind_memory.model.link_results import LeftLink, LinkResult
from hivemind_memory.model.memories import CONTRADICTS, EDGE_KINDS, SUPERSEDED, UPDATES
from hivemind_memory.model.value import NO_ITEMS, replaced
from hivemind_memory.notes.edge import FIELDS, MAX_EDGES, targets
from hivemind_memory.notes.memory_file import read_memory_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import MemoryIndex

    Items = list[object]
    "The items of one list of references in a front matter; see ``notes.edge``."


_EFFECT = "Nothing was linked"
_NOT_UNLINKED = "Nothing was changed"


def link(
    context: CurationContext,
    start: str,
    end: str,
    kind: str,
    *,
    weight: float = 1.0,
    by: str = "",
    texts: Mapping[str, str] = NO_ITEMS,
) -> LinkResult:
    """Link two memories; an edge that exists gets the new weight.

    Args:
        context: Of the caller.
        start: Key, id or path of the memory that the edge starts at; its file changes.
        end: Key, id or path of the other.
        kind: related_to, updates or contradicts.
        weight: 0..1.
        by: Written beside it, if it is not a person's or an agent's.
        texts: Id of a memory, or its path -> the version that its text must have.

    Raises:
        MemoryNotFoundError: The caller sees no memory of one of these names.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: The kind or the weight is not valid, both are the same memory, or
            each would update the other.
        VersionChangedError: One of them says something else.
    """
    _check_kind(kind, _EFFECT)
    share = validate_fraction("weight", weight)
    share = 1.0 if share is None else round(share, 4)
    with _locked_start(context, start, kind, _EFFECT) as (index, row):
        other = find_one(context, index, end, near=row.scope, effect=_EFFECT)
        if other.path == row.path:
            raise UsageError(
                "a memory cannot be linked to itself.",
                hint="Name two different memories.",
                effect=_EFFECT,
            )
        if kind == UPDATES:
            _refuse_circle(context, index, row, other)
        target = other.memory_id or other.path
        item = target if share == 1 else {"id": target, "weight": share}
        if by:
            item = {"id": target, "weight": share, "by": by}

        def add(items: Items) -> Items:
            for linked in (row, other):
                check_text(context, linked, texts, _EFFECT)
            others = _without(context, index, row, items, other)
            if len(others) >= MAX_EDGES:
                raise UsageError(
                    f"{row.path} already has {MAX_EDGES} links of this kind.",
                    hint="Remove one of them first.",
                    effect=_EFFECT,
                )
            # Where it was before, so that the same link twice changes nothing.
            known = (at for at, item in enumerate(items) if item not in others)
            at = next(known, len(items))
            return [*others[:at], item, *others[at:]]

        lists = change_list(context, row.path, FIELDS[kind], add)
    forget_proposed(context, row.memory_id or row.path, target, kind)
    return _result(context, kind, row, other, end, weight=share, lists=lists)


def unlink(
    context: CurationContext, start: str, end: str, kind: str = ""
) -> LinkResult:
    """Remove an edge between two memories; one that is not there is no error.

    The language model does not write or propose it again. Without a kind, every edge
    between the two goes, whichever it starts at. The result names those that stay: of
    another kind, in a text, or at a memory that the caller may not change.

    Args:
        context: Of the caller.
        start: Key, id or path of the memory that the edge starts at.
        end: Key, id or path of the other, or what the edge names if that is gone.
        kind: related_to, updates or contradicts; empty: all, in both directions.

    Raises:
        MemoryNotFoundError: The caller sees no memory of the first name.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: The kind is not valid.
    """
    if kind:
        _check_kind(kind, _NOT_UNLINKED)
    first, *more = _kinds(kind)
    done = [_unlink(context, start, end, first)]
    here, other = done[0].from_path, done[0].to_path
    # A change moves the lines below it: a name such as ``note.md:11`` would miss now.
    done += [_unlink(context, here, other or end, each) for each in more]
    if not kind:
        for edge in _edges_between(context, here, other):
            if edge.from_path == other:
                with suppress(NotWritableError):
                    done.append(_unlink(context, other, here, edge.kind))
    removed = [result for result in done if result.is_changed]
    paths = dict.fromkeys(path for result in removed for path in result.changed_paths)
    return replaced(
        (removed or done)[0],
        others=tuple(removed[1:]),
        left=_edges_between(context, here, other),
        changed_paths=tuple(paths),
    )


def _kinds(kind: str) -> tuple[str, ...]:
    """Return the kinds that a name means; empty: all."""
    return (kind,) if kind else EDGE_KINDS


def _edges_between(
    context: CurationContext, path: str, other: str
) -> tuple[LeftLink, ...]:
    """Return the edges between two memories, of all kinds and both directions."""
    index = context.index.fresh(is_lookup=True)
    edges = index.edges_of(path, scopes=context.caller.scopes) if other else ()
    return tuple(
        LeftLink(
            kind=kind,
            from_path=(start := parse_note_path(text)),
            to_path=other if text == path else path,
            why=_why_left(context, start, kind),
        )
        for kind, text in sorted(
            {
                (edge.kind, edge.from_path)
                for edge in edges
                if {edge.from_path, edge.to_path} == {path, other}
            }
        )
    )


def _why_left(context: CurationContext, path: NotePath, kind: str) -> str:
    """Return why the edges of a kind that start at a memory cannot be removed."""
    if not may_write(context.caller, path):
        return "scope"
    values = read_memory_file(context.folder, path).front.values
    return "" if values.get(FIELDS[kind]) else "text"


def _unlink(context: CurationContext, start: str, end: str, kind: str) -> LinkResult:
    """Remove an edge of one kind that starts at the first memory."""
    with _locked_start(context, start, kind, _NOT_UNLINKED) as (index, row):
        try:
            other = find_one(context, index, end, near=row.scope, effect=_NOT_UNLINKED)
        except MemoryNotFoundError:
            other = None

        def remove(items: Items) -> Items:
            kept = [item for item in items if end.strip() not in targets(item)]
            if other is None:
                return kept
            is_dispute = kind == CONTRADICTS
            return _without(context, index, row, kept, other, has_versions=is_dispute)

        lists = change_list(context, row.path, FIELDS[kind], remove)
    to_ref = (other.memory_id or other.path) if other else end.strip()
    refuse_link(context, row.memory_id or row.path, to_ref, kind)
    return _result(context, kind, row, other, end, weight=0.0, lists=lists)


def _check_kind(kind: str, effect: str) -> None:
    """Raise if a kind of edge is not valid."""
    if kind not in EDGE_KINDS:
        near = closest(kind[:60], EDGE_KINDS)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise UsageError(
            f"{kind[:60]!r} is not a kind of link.",
            hint=f"{meant}Kinds: {', '.join(EDGE_KINDS)}.",
            effect=effect,
        )


@contextmanager
def _locked_start(
    context: CurationContext, start: str, kind: str, effect: str
) -> Iterator[tuple[MemoryIndex, MemoryRow]]:
    """Yield the index and the memory that an edge starts at, under its locks."""
    with context.updates_lock(effect) if kind == UPDATES else nullcontext():
        row = find_one(
            context, context.index.fresh(is_lookup=True), start, effect=effect
        )
        check_writable(context.caller, parse_note_path(row.path), effect)
        with context.key_lock(row.scope, row.key, effect):
            # It may have changed while another process held the lock.
            index = context.index.fresh(is_lookup=True)
            yield index, find_memory(context, index, start, scope=row.scope)


def _refuse_circle(
    context: CurationContext, index: MemoryIndex, row: MemoryRow, other: MemoryRow
) -> None:
    """Raise if *other* already updates *row*, directly or through others."""
    seen: set[str] = set()
    waiting = [other.path]
    while waiting:
        path = waiting.pop()
        if path == row.path:
            raise UsageError(
                f"{other.path} already updates {row.path}.",
                hint="Remove that link first, or link them the other way around.",
                effect=_EFFECT,
            )
        if path in seen:
            continue
        seen.add(path)
        # Only what the caller sees, so that the error reveals nothing else.
        waiting += [
            edge.to_path
            for edge in index.edges_of(path, scopes=context.caller.scopes)
            if edge.kind == UPDATES and edge.from_path == path and edge.to_path
        ]


def change_list(
    context: CurationContext,
    path: str,
    field: str,
    change: Callable[[Items], Items],
) -> tuple[Items, Items]:
    """Change one list of a front matter; return what it held before and holds now.

    The lock of the memory's key is held.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    file = read_memory_file(context.folder, parse_note_path(path))
    value = file.front.values.get(field)
    before = value if isinstance(value, list) else [value]
    items = [item for item in before if item not in (None, "")]
    after = change(items)
    if after == items:
        return items, items
    # A single predecessor stays a plain value, as a save writes it, and so does a day.
    is_plain = field in {FIELDS[UPDATES], DONE} and len(after) == 1
    changed = file.with_values({field: (after[0] if is_plain else after) or None})
    context.folder.replace(file.path, changed, expected=file.signature)
    return items, after


def _without(
    context: CurationContext,
    index: MemoryIndex,
    row: MemoryRow,
    items: Items,
    other: MemoryRow,
    *,
    has_versions: bool = False,
) -> Items:
    """Return the items that do not refer to a memory.

    *has_versions*: Nor to a version of it that was replaced.
    """

    def is_other(end: MemoryRow) -> bool:
        if end.path == other.path:
            return True
        is_version = (end.scope, end.key) == (other.scope, other.key) != (end.scope, "")
        return has_versions and is_version and end.status == SUPERSEDED

    def refers_to_other(item: object) -> bool:
        for target in targets(item):
            if target in (other.memory_id, other.path):
                return True
            context.index.index_named(target)
            end = index.resolve_ref(
                target, scopes=context.caller.scopes, near=row.scope
            )
            if end is not None and is_other(end):
                return True
        return False

    return [value for value in items if not refers_to_other(value)]


def _result(
    context: CurationContext,
    kind: str,
    row: MemoryRow,
    other: MemoryRow | None,
    end: str,
    *,
    weight: float,
    lists: tuple[Items, Items],
) -> LinkResult:
    """Record what was done, and return it."""
    path = parse_note_path(row.path)
    before, after = lists
    is_changed = before != after
    if is_changed:
        record(
            context,
            LINK,
            [ChangedItem(kind=MEMORY, path=path, id=row.memory_id)],
            changed_list=ChangedList(
                field=FIELDS[kind], before=tuple(before), after=tuple(after)
            ),
        )
    return LinkResult(
        kind=kind,
        from_path=path,
        from_id=row.memory_id,
        to_path=other.path if other else "",
        to_id=other.memory_id if other else end.strip(),
        weight=weight,
        is_changed=is_changed,
        changed_paths=(path,) if is_changed else (),
    )
