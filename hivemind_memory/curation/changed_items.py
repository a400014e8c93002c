"""What a recorded change was about, as it is now."""

from __future__ import annotations

from hivemind_memory.curation.lookup import CurationTarget, entry_target
from hivemind_memory.curation.row_target import read_row
from hivemind_memory.curation.undo_errors import EFFECT, gone
from hivemind_memory.curation.without_secrets import masked
from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.model.curation import ENTRY, ForgetResult
from hivemind_memory.model.display import shorten
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import SUPERSEDED, place_in_scope, scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.entry_edits import entries_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.changes import Change, ChangedItem
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex

_SHOWN_CHARS = 80


def targets_of(context: CurationContext, change: Change) -> list[CurationTarget]:
    """Return what a change was about, as it is now; raise if none of it is there.

    Without the copies that a killed save left of an active memory.
    """
    index = context.index.fresh(is_lookup=True)
    targets = [target for item in change.items for target in _now(context, index, item)]
    if not targets:
        raise gone(change.items[0].path if change.items else change.id)
    current = {target.id for target in targets if not _is_older(target)}
    return [t for t in targets if not (t.id and t.id in current and _is_older(t))]


def _is_older(target: CurationTarget) -> bool:
    """Return whether a memory was replaced by another one."""
    return place_in_scope(target.path) == SUPERSEDED


def _now(
    context: CurationContext, index: MemoryIndex, item: ChangedItem
) -> Iterator[CurationTarget]:
    """Yield an item as it is now; nothing if it is gone."""
    if item.kind != ENTRY:
        for row in rows_of(index, item):
            target = read_row(context, row)
            if target is not None:
                yield replaced(target, key=row.key)
        return
    paths = [item.path, index.entry_path(item.id, context.caller.scopes)]
    for path in dict.fromkeys(path for path in paths if path):
        try:
            limit = context.folder.max_note_bytes
            data, _ = context.folder.read(NotePath(path), max_bytes=limit)
        except HivemindError:
            continue
        found = [entry for entry in entries_in(data) if entry.provenance.id == item.id]
        if found:
            yield entry_target(NotePath(path), found[0])
            return


def rows_of(index: MemoryIndex, item: ChangedItem) -> Iterator[MemoryRow]:
    """Yield the notes that an item is now."""
    scopes = frozenset({scope_of(item.path)})
    if item.id:
        yield from index.memories(memory_id=item.id, scopes=scopes)
    else:
        yield from index.memories(path=item.path, scopes=scopes)


def only_target(context: CurationContext, change: Change) -> CurationTarget:
    """Return what a change of one memory was about, as it is now.

    Raises:
        MemoryNotFoundError: It is gone.
        UsageError: Several notes have its id: a person or a sync tool copied it.
    """
    target, *copies = targets_of(context, change)
    if copies:
        paths = ", ".join(sorted(found.path for found in (target, *copies)))
        raise UsageError(
            f"Several notes have the id {target.id}: {paths}.",
            hint="Delete the copies, then undo it again.",
            effect=EFFECT,
        )
    return target


def first_lines(targets: Sequence[CurationTarget]) -> dict[str, str]:
    """Return id, or path where there is none -> how a text begins, fit to show."""
    return {
        target.id or target.path: shorten(
            masked(target.text.strip()).partition("\n")[0], _SHOWN_CHARS
        )
        for target in targets
    }


def planned_forget(shown: Sequence[CurationTarget]) -> ForgetResult:
    """Return what a forget would hide, with how each text begins."""
    return ForgetResult(
        memories=tuple(target.as_affected() for target in shown),
        texts=first_lines(shown),
        is_dry_run=True,
    )
