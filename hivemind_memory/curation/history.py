"""The versions of a memory, its edges, and how often it was recalled.

Versions are followed by the ids in the files, so a note that a person renamed or moved
is still found. A chain may be broken or circular; it is shown as far as it goes.
"""

from __future__ import annotations

from bisect import insort

from hivemind_memory.curation.ambiguous_names import check_certain
from hivemind_memory.curation.locate import find_entry
from hivemind_memory.curation.lookup import (
    find_memory,
    is_name,
    load_indexed,
    load_memory,
    rows_named,
)
from hivemind_memory.curation.lookup_errors import not_found
from hivemind_memory.curation.own_day import with_own_day
from hivemind_memory.curation.recalls import recall_times
from hivemind_memory.curation.replaced import as_replaced, replaced_by_link
from hivemind_memory.curation.status_names import as_of
from hivemind_memory.curation.without_secrets import masked, memories_for
from hivemind_memory.errors import HivemindError
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.curation import (
    History,
    MemoryDetails,
    MemoryEdge,
    RecallCounts,
    StoredMemory,
)
from hivemind_memory.model.display import behind_text, not_indexed_text
from hivemind_memory.model.memories import (
    ACTIVE,
    FORGOTTEN,
    PENDING,
    STATUSES,
    SUPERSEDED,
    UPDATES,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.edge import FIELDS, author_in
from hivemind_memory.notes.slug import rank_of_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import EdgeRow, MemoryRow
    from hivemind_memory.model.ports import MemoryIndex


MAX_CHAIN = 500
"""Versions of one memory that are read; a longer chain is a log, not a memory."""

_IN_CHAIN = (ACTIVE, SUPERSEDED)


def history(context: CurationContext, ref: str, *, scope: str | None = None) -> History:
    """Return the versions of a memory, newest first.

    These are all memories that had its key in its scope, and all that ``updates`` edges
    connect with it; not those that are forgotten or pending.

    Args:
        context: Of the caller.
        ref: Its key, its id or its path.
        scope: Look only there; None: in every scope that the caller reads.

    Raises:
        MemoryNotFoundError: The caller sees no such memory.
        UsageError: Several scopes have the key, and none comes first.
    """
    if not context.caller.is_member:
        public = _public_memory(context, ref)
        return History(key=public.key, scope=public.scope, memories=(public,))
    ref = with_own_day(context, ref.strip())
    index, why_stale = context.index.known(is_lookup=True)
    warning = behind_text(why_stale)
    entry = find_entry(context, index, ref, scope)
    if entry is not None:
        shown = memories_for(context.caller, [entry])
        return History(key="", scope=entry.scope, memories=shown, warning=warning)
    row = find_memory(context, index, ref, scope=scope)
    if scope is None:
        check_certain(context, index, ref, row)
    found = _history_of(context, index, row)
    if found.is_cut:
        warning = "; ".join(filter(None, (warning, "older versions are not shown")))
    newer = replaced_by_link(context, index)
    shown = _shown(context, found.memories)
    shown = tuple(as_replaced(memory, newer) for memory in shown)
    return replaced(found, memories=shown, warning=warning)


def show(
    context: CurationContext, ref: str, *, scope: str | None = None
) -> MemoryDetails:
    """Return one memory with its edges, its versions and its recall counts.

    Args:
        context: Of the caller.
        ref: A key, an id, a path, or the id of an appended entry.
        scope: Look only there; None: in every scope that the caller reads.

    Raises:
        MemoryNotFoundError: The caller sees no such memory.
        UsageError: Several scopes have the key, and none comes first.
    """
    if not context.caller.is_member:
        public = _public_memory(context, ref)
        return MemoryDetails(memory=public, chain=(public,))
    ref = with_own_day(context, ref.strip())
    index, why_stale = context.index.known(is_lookup=True)
    warnings = (behind_text(why_stale),) if why_stale else ()
    entry = find_entry(context, index, ref, scope)
    if entry is not None:
        (shown,) = memories_for(context.caller, [entry])
        recall = _recalls_of(context, entry)
        return MemoryDetails(memory=shown, recall=recall, warnings=warnings)
    row = find_memory(context, index, ref, scope=scope)
    if scope is None:
        check_certain(context, index, ref, row)
    memory = load_indexed(context, row)
    if memory is None:
        raise not_found(ref)
    chain = _history_of(context, index, row).memories if row.type else (memory,)
    (shown,) = _shown(context, [memory])
    newer = replaced_by_link(context, index).get(shown.path)
    return MemoryDetails(
        memory=shown,
        replaced_by=newer.path if newer else "",
        edges=tuple(_edges(context, index, memory)),
        chain=_shown(context, chain),
        recall=_recalls_of(context, memory),
        warnings=(*warnings, *_large_note_warnings(context)),
    )


def _public_memory(context: CurationContext, ref: str) -> StoredMemory:
    """Return the active memory that a name means to a visitor, and no other version.

    Raises:
        MemoryNotFoundError: There is none that is public; nothing else is said.
    """
    ref = ref.strip()
    index, _ = context.index.known(is_lookup=True)
    rows = rows_named(index, ref, context.caller.scopes) if is_name(ref) else []
    for row in rows:
        memory = load_indexed(context, row)
        if (
            memory is not None
            and row.type
            and row.status == ACTIVE
            and context.caller.may_see(memory.visibility)
        ):
            (shown,) = _shown(context, [memory])
            return replaced(shown, supersedes=(), reason="")
    raise not_found(ref)


def _shown(
    context: CurationContext, memories: Iterable[StoredMemory]
) -> tuple[StoredMemory, ...]:
    """Return memories as the caller sees them today."""
    today = context.clocks.today()
    return memories_for(context.caller, (as_of(memory, today) for memory in memories))


def without_leftovers(memories: Iterable[StoredMemory]) -> list[StoredMemory]:
    """Return memories without the copies that a killed save left of an active one.

    Such a copy has the id of the active memory. If that one has no id, the copy has the
    same text and names a successor that was never written.
    """
    kept = list(memories)
    active = [version for version in kept if version.status == STATUSES[ACTIVE]]
    ids = {version.id for version in active if version.id}
    known = {version.id for version in kept}
    nameless = {
        (version.scope, version.key, version.text)
        for version in active
        if not version.id
    }

    def is_leftover(memory: StoredMemory) -> bool:
        if memory.status != STATUSES[SUPERSEDED]:
            return False
        is_orphan = memory.superseded_by not in known
        return memory.id in ids or (
            is_orphan and (memory.scope, memory.key, memory.text) in nameless
        )

    return [version for version in kept if not is_leftover(version)]


def _history_of(
    context: CurationContext, index: MemoryIndex, start: MemoryRow
) -> History:
    """Return the chain of versions that a memory is part of."""
    chain = _Chain(context, index, start)
    chain.gather()
    memories = without_leftovers(_newest_first(chain.found, chain.older))
    # The copy of a killed save names a successor that was never written.
    passed = {
        version.superseded_by
        for version in chain.found.values()
        if version not in memories
    }
    return History(
        key=masked(start.key),
        scope=start.scope,
        memories=tuple(memories),
        missing=tuple(masked(ref) for ref in chain.missing if ref not in passed),
        is_cut=chain.is_cut,
    )


class _Chain:
    """The versions found by following ids from one memory. Each note is read once."""

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
        """Follow all ids, as long as they lead to something new, the newest first."""
        start = self._start
        waiting: list[MemoryRow] = []
        if start.key and start.status != PENDING:
            waiting += self._index.memories(
                key=start.key, scopes=frozenset({start.scope}), statuses=_IN_CHAIN
            )
        waiting.sort(key=_age)
        waiting.append(start)
        while waiting:
            row = waiting.pop()
            is_part = row.status in _IN_CHAIN or row.path == start.path
            if row.path in self.found or not is_part:
                continue
            if len(self.found) >= MAX_CHAIN:
                self.is_cut = True
                return
            memory = load_memory(self._context, row.path)
            if memory is not None and memory.status == STATUSES[FORGOTTEN]:
                continue  # since it was indexed
            if memory is None:
                self.missing[row.path] = None  # deleted this moment, or unreadable
            else:
                self.found[row.path] = memory
                for other in (*self._named_by(memory), *self._joined_to(memory)):
                    insort(waiting, other, key=_age)

    def _named_by(self, memory: StoredMemory) -> Iterator[MemoryRow]:
        """Yield the predecessors and the successor that a note names."""
        for end in (*memory.supersedes, memory.superseded_by):
            if not end:
                continue
            self._context.index.index_named(end)
            row = self._index.resolve_ref(end, scopes=self._scopes, near=memory.scope)
            if row is None:
                self.missing[end] = None
            else:
                yield row

    def _joined_to(self, memory: StoredMemory) -> Iterator[MemoryRow]:
        """Yield both ends of a note's ``updates`` edges, and remember their order."""
        for edge in self._index.edges_of(memory.path, scopes=self._scopes):
            if edge.kind == UPDATES and edge.to_path:
                self.older.setdefault(edge.from_path, []).append(edge.to_path)
                for path in (edge.from_path, edge.to_path):
                    yield from self._index.memories(path=path, scopes=self._scopes)


def _age(row: MemoryRow) -> tuple[bool, str]:
    """Return by what rows are ordered so that the newest is the last."""
    return row.status == ACTIVE, row.created


def _newest_first(
    found: Mapping[str, StoredMemory], older: Mapping[str, list[str]]
) -> Iterator[StoredMemory]:
    """Yield the memories of a chain, each before those it replaced."""
    newer: dict[str, set[str]] = {path: set() for path in found}
    for path, paths in older.items():
        for older_path in paths:
            if path in found and older_path in found and path != older_path:
                newer[older_path].add(path)

    def age(path: str) -> tuple[bool, str, str, int]:
        memory = found[path]
        is_active = memory.status == STATUSES[ACTIVE]
        return is_active, memory.created, memory.id, -rank_of_name(path, memory.key)

    while newer:
        free = [path for path, others in newer.items() if not others]
        # If none is free, the chain is circular.
        path = max(free or newer, key=age)
        yield found[path]
        del newer[path]
        for others in newer.values():
            others.discard(path)


def _edges(
    context: CurationContext, index: MemoryIndex, memory: StoredMemory
) -> Iterator[MemoryEdge]:
    """Yield the edges of a memory, the outgoing ones first."""
    scopes = context.caller.scopes
    edges = index.edges_of(memory.path, scopes=scopes)
    for edge in sorted(edges, key=lambda edge: edge.from_path != memory.path):
        is_outgoing = edge.from_path == memory.path
        path = edge.to_path if is_outgoing else edge.from_path
        rows = index.memories(path=path, scopes=scopes) if path else []
        if any(row.status == FORGOTTEN for row in rows):
            rows, path = [], ""
        if not path and not is_outgoing:
            continue
        yield MemoryEdge(
            kind=edge.kind,
            weight=edge.weight,
            is_outgoing=is_outgoing,
            path=path,
            id=edge.to_id if is_outgoing else edge.from_id,
            key=masked(rows[0].key) if rows else "",
            by=_made_by(context, edge),
        )


def _made_by(context: CurationContext, edge: EdgeRow) -> str:
    """Return who made an edge, as the note at which it starts says beside it."""
    try:
        data, _ = context.folder.read(NotePath(edge.from_path))
    except HivemindError:
        return ""
    values = split_front_matter(decode(data)).values
    return author_in(values.get(FIELDS[edge.kind]), {edge.to_id, edge.to_path})


def _large_note_warnings(context: CurationContext) -> tuple[str, ...]:
    """Return which large notes may link to a memory unseen, of those that may be."""
    paths = context.notes_left()
    lack = "a link from {} may be missing"
    if not paths:
        return ()
    return (not_indexed_text(paths, lack.format("it"), lack.format("them")),)


def _recalls_of(context: CurationContext, memory: StoredMemory) -> RecallCounts:
    """Return how often a memory was recalled."""
    found = recall_times(context, [memory])
    return found.get((memory.scope, memory.id), RecallCounts())
