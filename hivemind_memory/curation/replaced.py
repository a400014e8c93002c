"""Which typed memories another one has replaced, by a link or as a newer version.

The one rule for sections, briefings and lists, that of a search: a memory gives way to
one that agents are told unasked, which is active, from a trusted source, not over, and
not a copy of another memory's file.
"""

from __future__ import annotations

from hivemind_memory.curation.copies import copied_paths
from hivemind_memory.model.filters import Access
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.matches import ChunkLocation
from hivemind_memory.model.memories import ACTIVE, STATUSES, SUPERSEDED
from hivemind_memory.model.trust import is_trusted
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.memory_header import day_of_iso, is_expired_or_done
from hivemind_memory.search.supersession import find_replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.index.port import Index
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.memories import MemoryRow

    Edge = tuple[str, str, str]


class Replacements(NamedTuple):
    """What replaces what among some memories."""

    copies: frozenset[str]
    """Paths of copies, as ``copied_paths`` returns them."""

    told: frozenset[str]
    """Paths of those that agents are told, or would be if nothing replaced them."""

    replaced: Mapping[str, str]
    """Path of a memory -> that of the one which is told instead."""


def find_replacements(
    rows: Sequence[MemoryRow], edges: Sequence[Edge], today: int
) -> Replacements:
    """Return which of some memories are replaced.

    Args:
        rows: Those that the caller may see, whatever their status.
        edges: What they replace and dispute, as ``read_edges`` returns it.
        today: Days since the epoch.
    """
    copies = frozenset(copied_paths(rows))
    told = frozenset(
        row.path
        for row in rows
        if row.status == ACTIVE
        and is_trusted(row.source)
        and row.path not in copies
        and not is_over(row, today)
    )
    places = map(_place, filter(_counts, rows))
    by_path = find_replaced(places, edges, told) if edges else {}
    return Replacements(copies, told, by_path)


def read_edges(index: Index, rows: Sequence[MemoryRow], access: Access) -> list[Edge]:
    """Return what some memories replace and dispute."""
    if not index.has_strong_edges():
        return []
    paths = [row.path for row in rows if _counts(row)]
    return list(index.strong_edges(paths, access))


def replaced_by_link(context: CurationContext, index: Index) -> dict[str, MemoryRow]:
    """Return the active memories that another one replaces: path -> the other one.

    A visitor is told of none: the other one may be private.
    """
    if not (context.caller.is_member and index.has_strong_edges()):
        return {}
    scopes, today = context.caller.scopes, context.clocks.today()
    state = (index.version(), scopes, today)
    kept = context.index.kept_replaced
    if kept is None or kept[0] != state:
        found = _read_replaced(index, scopes, today)
        kept = context.index.kept_replaced = (state, found)
    known: dict[str, MemoryRow] = kept[1]
    return known


def _read_replaced(
    index: Index, scopes: frozenset[str] | None, today: int
) -> dict[str, MemoryRow]:
    """Return the active memories that another one replaces; see above."""
    every = list(index.memories(scopes=scopes))
    edges = read_edges(index, every, Access(scopes=scopes))
    rows = {row.path: row for row in _concerned(every, edges)}
    found = find_replacements(list(rows.values()), edges, today).replaced
    return {
        path: rows[newer]
        for path, newer in found.items()
        if rows[path].status == ACTIVE and not is_over(rows[path], today)
    }


def as_replaced(memory: StoredMemory, newer: Mapping[str, MemoryRow]) -> StoredMemory:
    """Return a memory as superseded if another one replaces it by a link."""
    row = newer.get(memory.path)
    if row is None or memory.status != STATUSES[ACTIVE]:
        return memory
    status = STATUSES[SUPERSEDED]
    return replaced(memory, status=status, superseded_by=row.memory_id or row.path)


def is_over(row: MemoryRow, today: int) -> bool:
    """Return whether a memory has expired or is done."""
    return is_expired_or_done(row.expires_day, row.done_day, today=today)


def _concerned(rows: Sequence[MemoryRow], edges: Sequence[Edge]) -> list[MemoryRow]:
    """Return the memories at the ends of some links, and those with their keys."""
    ends = {name for path, _, target in edges for name in (path, target)}
    keys = {
        (row.scope, row.key)
        for row in rows
        if not ends.isdisjoint((row.path, row.memory_id, row.key))
        or not ends.isdisjoint(_file_names(row.path))
    }
    return [row for row in rows if (row.scope, row.key) in keys]


def _file_names(path: str) -> tuple[str, str]:
    """Return the names under which a link may mean a note, besides its path."""
    stem = path.removesuffix(".md")
    return stem, stem.rpartition("/")[2]


def _counts(row: MemoryRow) -> bool:
    """Return whether a memory can replace others, or be replaced."""
    return row.status in (ACTIVE, SUPERSEDED)


def _place(row: MemoryRow) -> ChunkLocation:
    """Return where a memory is, as the rule for replaced ones reads it."""
    return ChunkLocation(
        chunk_id=0,
        path=row.path,
        start_line=1,
        end_line=1,
        day=day_of_iso(row.created),
        scope=row.scope,
        status=row.status,
        key=row.key,
        memory_id=row.memory_id,
    )
