"""Lists typed memories by type, scope, day, writer and status, and what was written.

Reads only. The index narrows the list of memories; the log reads every note that the
caller may read.
"""

from __future__ import annotations

from hivemind_memory.access.rules import may_read
from hivemind_memory.curation.entry_memory import entry_memory
from hivemind_memory.curation.lookup import load_indexed, notes_in, parse_memory
from hivemind_memory.curation.replaced import as_replaced, replaced_by_link
from hivemind_memory.curation.status_names import as_of
from hivemind_memory.curation.without_secrets import items_for, memories_for
from hivemind_memory.errors import HivemindError
from hivemind_memory.markdown.text import decode
from hivemind_memory.model.clocks import first_day_anywhere, is_since, seconds_of
from hivemind_memory.model.curation import ENTRY, MEMORY
from hivemind_memory.model.listing import RowFilter, WrittenItem, folder_named
from hivemind_memory.model.memories import FORGOTTEN, STATUSES
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.tags import has_tags
from hivemind_memory.model.trust import shown_source
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.entry_edits import entries_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.index.port import Index
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.listing import MemoryFilter
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.note_path import NotePath


def list_memories(
    context: CurationContext, wanted: MemoryFilter
) -> tuple[StoredMemory, ...]:
    """Return the typed memories that fit, newest first; of several types by type.

    Forgotten entries, if they are asked for, come last.

    Raises:
        ScopeError: The filter names a scope that the caller does not have.
        UnknownTypeError: There is no such type.
    """
    if not context.caller.is_member:
        return ()
    from hivemind_memory.model.memory_types import all_types

    index, _ = context.index.known(is_lookup=True)
    today = context.clocks.today()
    source_ref = wanted.source_ref.strip()
    found = []
    newer = replaced_by_link(context, index)
    rows, _ = fitting_rows(context, index, wanted, newer)
    for row in rows:
        memory = load_indexed(context, row)
        if memory is None or not _is_by(wanted.by, memory.by):
            continue
        is_tagged = not wanted.tags or has_tags(memory.tags, wanted.tags)
        if is_tagged and memory.source_ref.startswith(source_ref):
            found.append((row.type, as_replaced(as_of(memory, today), newer)))
    if len(wanted.types) > 1:
        # In the order of a section; the sort keeps the newest first within a type.
        order = list(all_types(context.types))
        # By the type that was found: the note may have been edited since.
        found.sort(key=lambda pair: order.index(pair[0]))
    memories = [memory for _, memory in found]
    forgotten = STATUSES[FORGOTTEN]
    if wanted.has_entries and forgotten in wanted.statuses and not wanted.types:
        memories += _forgotten_entries(context, wanted)
    return memories_for(context.caller, memories)


def _forgotten_entries(
    context: CurationContext, wanted: MemoryFilter
) -> Iterator[StoredMemory]:
    """Yield the forgotten entries that fit, as memories without a key."""
    scopes = _scopes(context, wanted.scope)
    folder = _folder(context, wanted)
    local_iso = context.clocks.local_iso
    for path, data in notes_in(context, scopes):
        if folder and not path.startswith(f"{folder}/"):
            continue
        for entry in entries_in(data):
            memory = replaced(entry_memory(path, entry), status=STATUSES[FORGOTTEN])
            if (
                entry.provenance.is_forgotten
                and is_since(memory.created, wanted.since, local_iso)
                and wanted.source in ("", shown_source(memory.source))
                and memory.source_ref.startswith(wanted.source_ref.strip())
                and _is_by(wanted.by, memory.by)
                and (not wanted.tags or has_tags(memory.tags, wanted.tags))
            ):
                yield memory


def _folder(context: CurationContext, wanted: MemoryFilter) -> str:
    """Return the folder that a filter names, as the notes spell it; empty: any."""
    if not wanted.folder:
        return ""
    paths = context.folder.signatures()
    seen = {path for path in paths if may_read(context.caller, path)}
    return folder_named(wanted.folder, seen)


def fitting_rows(
    context: CurationContext,
    index: Index,
    wanted: MemoryFilter,
    replaced_paths: Collection[str],
    *,
    offset: int = 0,
    limit: int | None = None,
) -> tuple[list[MemoryRow], int]:
    """Return the typed memories that fit, as the index knows them, and how many do.

    The newest come first. Who wrote them, from what, and with which tags, only their
    notes say.

    Args:
        context: Of the caller.
        index: Up to date.
        wanted: Which fit.
        replaced_paths: Those that a link replaces; see ``replaced_by_link``.
        offset: How many to pass over.
        limit: How many to return; None: all.

    Raises:
        ScopeError: The filter names a scope that the caller does not have.
        UnknownTypeError: There is no such type.
    """
    from hivemind_memory.model.memory_types import resolve_type

    types = {resolve_type(name, context.types).name for name in wanted.types}
    scopes, folder = _scopes(context, wanted.scope), _folder(context, wanted)
    fitting = RowFilter(
        today=context.clocks.today(),
        scopes=scopes,
        types=frozenset(types),
        statuses=wanted.statuses,
        source=wanted.source,
        folder=folder,
        first_day=first_day_anywhere(wanted.since),
        replaced=frozenset(replaced_paths),
    )
    lists = index.lists()
    if not wanted.since:
        return lists.memory_page(fitting, offset=offset, limit=limit)
    # Which day it was here, the time zone of each decides.
    local_iso = context.clocks.local_iso
    rows, _ = lists.memory_page(fitting)
    later = [row for row in rows if is_since(row.created, wanted.since, local_iso)]
    return later[offset : None if limit is None else offset + limit], len(later)


def read_log(context: CurationContext, wanted: MemoryFilter) -> tuple[WrittenItem, ...]:
    """Return the entries and memories that were written, newest first.

    What is forgotten is left out. Of the filter, types and statuses do not count.

    Raises:
        ScopeError: The filter names a scope that the caller does not have.
    """
    if not context.caller.is_member:
        return ()
    fitting = [
        item
        for path, data in notes_in(context, _scopes(context, wanted.scope))
        for item in _items(context, path, data)
        if is_since(item.at, wanted.since, context.clocks.local_iso)
        and wanted.source in ("", shown_source(item.source))
        and _is_by(wanted.by, item.by)
    ]
    # Times are of a second; ids sort by time within it.
    newest = sorted(
        fitting, key=lambda item: (seconds_of(item.at) or 0, item.id), reverse=True
    )
    return items_for(context.caller, newest)


def _items(
    context: CurationContext, path: NotePath, data: bytes
) -> Iterator[WrittenItem]:
    """Yield the memory that a note is, or the entries in it."""
    try:
        memory = parse_memory(path, decode(data), context)
    except HivemindError:
        return
    if memory.status == "forgotten":
        return
    if memory.type or memory.id:
        yield WrittenItem(
            kind=MEMORY,
            at=memory.updated or memory.created,
            by=memory.by,
            session=memory.session,
            source=memory.source,
            path=path,
            start_line=memory.start_line,
            end_line=memory.end_line,
            id=memory.id,
            key=memory.key,
            type=memory.type,
            scope=memory.scope,
            text=memory.text,
        )
    for entry in entries_in(data):
        written = entry.provenance
        if not written.is_forgotten:
            yield WrittenItem(
                kind=ENTRY,
                at=written.at,
                by=written.by,
                session=written.session,
                source=shown_source(memory.source, written.source),
                path=path,
                start_line=entry.start_line,
                end_line=entry.end_line,
                id=written.id,
                scope=scope_of(path),
                text=entry.content,
            )


def _scopes(context: CurationContext, name: str) -> frozenset[str] | None:
    """Return the scopes to look in; None: all."""
    return frozenset({context.find_scope(name)}) if name else context.caller.scopes


def _is_by(wanted: str, by: str) -> bool:
    """Return whether a writer is the one that is asked for."""
    return not wanted or wanted.casefold() == by.casefold()
