"""What a memory was and is: its chain, its edges, how often it was asked for.

The files have the last word: links are read from them, by ids, so that a note which a
person renamed or moved is still found. A chain may be broken or run in a circle; it is
shown as far as it goes.
"""

from __future__ import annotations

from hivemind_memory.access.rules import may_read
from hivemind_memory.curation.lookup import find_memory, load_memory, not_found
from hivemind_memory.errors import HivemindError, MemoryNotFoundError
from hivemind_memory.model.curation import (
    History,
    MemoryDetails,
    MemoryEdge,
    RecallCounts,
    StoredMemory,
)
from hivemind_memory.model.memories import (
    ACTIVE,
    FORGOTTEN,
    PENDING,
    STATUSES,
    SUPERSEDED,
    UPDATES,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import scope_of
from hivemind_memory.notes.entry_edits import entries_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex


MAX_CHAIN = 500
"""Memories of one chain that are read; what is longer is a log and no memory."""

_IN_CHAIN = (ACTIVE, SUPERSEDED)


def history(context: CurationContext, ref: str, *, scope: str | None = None) -> History:
    """Return what a memory was and is, newest to oldest.

    All that bore its key in its scope, and all that is joined to it by ``updates``.
    Forgotten memories and claims in the inbox are left out.

    Args:
        context: Of the caller.
        ref: Its key, its id or its path.
        scope: Only in this scope; None: wherever the caller sees.

    Raises:
        MemoryNotFoundError: The caller sees no such memory.
    """
    index = context.fresh_index()
    row = find_memory(context, index, ref, scope=scope)
    return _history_of(context, index, row)


def show(
    context: CurationContext,
    ref: str,
    *,
    scope: str | None = None,
    entry_path: Callable[[str], str] | None = None,
    figures: Callable[[StoredMemory], RecallCounts] | None = None,
) -> MemoryDetails:
    """Return one memory with its edges, its chain and how often it was asked for.

    Args:
        context: Of the caller.
        ref: A key, an id, a path, or the id of an appended entry.
        scope: Only in this scope; None: wherever the caller sees.
        entry_path: Returns the note that holds an entry; empty: none does.
        figures: Tells how often a memory was asked for.

    Raises:
        MemoryNotFoundError: The caller sees no such memory.
    """
    index = context.fresh_index()
    try:
        row = find_memory(context, index, ref, scope=scope)
    except MemoryNotFoundError:
        entry = _entry(context, ref.strip(), scope, entry_path)
        if entry is None:
            raise
        return MemoryDetails(
            memory=entry, recall=figures(entry) if figures else RecallCounts()
        )
    memory = load_memory(context, row.path)
    if memory is None:
        raise not_found(ref)
    return MemoryDetails(
        memory=memory,
        edges=tuple(_edges(context, index, memory)),
        chain=_history_of(context, index, row).memories if row.type else (memory,),
        recall=figures(memory) if figures else RecallCounts(),
    )


def without_leftovers(memories: Iterable[StoredMemory]) -> list[StoredMemory]:
    """Return memories without the copies that a killed save left of one in force.

    Such a copy has the id of the memory that it was to be replaced in. Where that one
    has no id, the copy says the same and names a successor that never came.
    """
    kept = list(memories)
    active = [one for one in kept if one.standing == STATUSES[ACTIVE]]
    ids = {one.id for one in active if one.id}
    known = {one.id for one in kept}
    nameless = {(one.scope, one.key, one.text) for one in active if not one.id}

    def is_leftover(one: StoredMemory) -> bool:
        if one.standing != STATUSES[SUPERSEDED]:
            return False
        is_orphan = one.superseded_by not in known
        return one.id in ids or (
            is_orphan and (one.scope, one.key, one.text) in nameless
        )

    return [one for one in kept if not is_leftover(one)]


def _history_of(
    context: CurationContext, index: MemoryIndex, start: MemoryRow
) -> History:
    """Return the chain that a memory is part of."""
    chain = _Chain(context, index, start)
    chain.gather()
    memories = without_leftovers(_newest_first(chain.found, chain.older))
    # A copy of a save that was killed names a successor that never came.
    passed = {one.superseded_by for one in chain.found.values() if one not in memories}
    return History(
        key=start.key,
        scope=start.scope,
        memories=tuple(memories),
        missing=tuple(one for one in chain.missing if one not in passed),
        is_cut=chain.is_cut,
    )


class _Chain:
    """What is found by following the links from one memory. Each note is read once."""

    def __init__(
        self, context: CurationContext, index: MemoryIndex, start: MemoryRow
    ) -> None:
        self._context = context
        self._index = index
        self._start = start
        self._scopes = context.caller.scopes
        self.found: dict[str, StoredMemory] = {}
        self.older: dict[str, list[str]] = {}
        """Path -> paths of what it replaced."""

        self.missing: dict[str, None] = {}
        self.is_cut = False

    def gather(self) -> None:
        """Follow all links, as long as they lead to something new."""
        start = self._start
        waiting = [start]
        if start.key and start.standing != PENDING:
            waiting += self._index.memories(
                key=start.key, scopes=frozenset({start.scope}), statuses=_IN_CHAIN
            )
        while waiting:
            row = waiting.pop()
            is_part = row.standing in _IN_CHAIN or row.path == start.path
            if row.path in self.found or not is_part:
                continue
            if len(self.found) >= MAX_CHAIN:
                self.is_cut = True
                return
            memory = load_memory(self._context, row.path)
            if memory is not None:
                self.found[row.path] = memory
                waiting += self._named_by(memory)
                waiting += self._joined_to(memory)

    def _named_by(self, memory: StoredMemory) -> Iterator[MemoryRow]:
        """Yield what a note names as its predecessors and its successor."""
        for end in (*memory.supersedes, memory.superseded_by):
            if not end:
                continue
            row = self._index.resolve_ref(end, scopes=self._scopes, near=memory.scope)
            if row is None:
                self.missing[end] = None
            else:
                yield row

    def _joined_to(self, memory: StoredMemory) -> Iterator[MemoryRow]:
        """Yield what is joined to a note from either side, and remember the order."""
        for edge in self._index.edges_of(memory.path, scopes=self._scopes):
            if edge.kind == UPDATES and edge.to_path:
                self.older.setdefault(edge.from_path, []).append(edge.to_path)
                for path in (edge.from_path, edge.to_path):
                    yield from self._index.memories(path=path, scopes=self._scopes)


def _newest_first(
    found: Mapping[str, StoredMemory], older: Mapping[str, list[str]]
) -> Iterator[StoredMemory]:
    """Yield the memories of a chain: each before what it replaced, where links tell."""
    newer: dict[str, set[str]] = {path: set() for path in found}
    for path, paths in older.items():
        for one in paths:
            if path in found and one in found and path != one:
                newer[one].add(path)

    def age(path: str) -> tuple[bool, str, str]:
        one = found[path]
        return (one.standing == STATUSES[ACTIVE], one.created, one.id)

    while newer:
        free = [path for path, others in newer.items() if not others]
        # Where nothing is free they run in a circle.
        path = max(free or newer, key=age)
        yield found[path]
        del newer[path]
        for others in newer.values():
            others.discard(path)


def _edges(
    context: CurationContext, index: MemoryIndex, memory: StoredMemory
) -> Iterator[MemoryEdge]:
    """Yield the edges at a memory, those that begin there first."""
    scopes = context.caller.scopes
    edges = index.edges_of(memory.path, scopes=scopes)
    for edge in sorted(edges, key=lambda one: one.from_path != memory.path):
        is_outgoing = edge.from_path == memory.path
        path = edge.to_path if is_outgoing else edge.from_path
        rows = index.memories(path=path, scopes=scopes) if path else []
        if any(row.standing == FORGOTTEN for row in rows):
            rows, path = [], ""
        if not path and not is_outgoing:
            continue
        yield MemoryEdge(
            kind=edge.kind,
            weight=edge.weight,
            is_outgoing=is_outgoing,
            path=path,
            id=edge.to_id if is_outgoing else edge.from_id,
            key=rows[0].key if rows else "",
        )


def _entry(
    context: CurationContext,
    entry_id: str,
    scope: str | None,
    entry_path: Callable[[str], str] | None,
) -> StoredMemory | None:
    """Return an appended entry as a memory; None when the caller sees none."""
    path = entry_path(entry_id) if entry_path and entry_id else ""
    is_open = context.caller.is_member and path and may_read(context.caller, path)
    if not is_open or (scope is not None and scope_of(path) != scope):
        return None
    try:
        data, _ = context.folder.read(NotePath(path))
    except HivemindError:
        return None
    for entry in entries_in(data):
        said = entry.provenance
        if said.id == entry_id and not said.is_forgotten:
            return StoredMemory(
                path=NotePath(path),
                id=said.id,
                key="",
                type="",
                scope=scope_of(path),
                standing=STATUSES[ACTIVE],
                text=entry.content,
                start_line=entry.start_line,
                end_line=entry.end_line,
                created=said.at,
                by=said.by,
                session=said.session,
                source=said.source,
            )
    return None
