"""Forgets, restores and undoes, with what follows from it outside the notes.

Sections in worktrees are written again, and skills follow their memories.
"""

from __future__ import annotations

from hivemind_memory.curation.change_recording import record_forgotten, record_restored
from hivemind_memory.curation.follow_skills import follow_skills
from hivemind_memory.curation.forget import forget, restore
from hivemind_memory.curation.purge_injections import find_injections, refresh_sections
from hivemind_memory.curation.undo import find_forget, restore_change, undo
from hivemind_memory.errors import MemoryNotFoundError
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.read_version import ReadVersion
    from hivemind_memory.model.changes import UndoResult
    from hivemind_memory.model.curation import (
        AffectedItem,
        FailedItem,
        ForgetResult,
        MemorySelector,
        RestoreResult,
    )


def hide(
    context: CurationContext,
    selector: MemorySelector,
    *,
    is_dry_run: bool,
    read: ReadVersion | None = None,
) -> ForgetResult:
    """Forget memories; see ``Curation.forget``."""
    with context.changing():
        forgotten = forget(context, selector, is_dry_run=is_dry_run, read=read)
        if is_dry_run:
            return forgotten
        forgotten = record_forgotten(context, forgotten)
        left = (*forgotten.failed, *follow_skills(context))
        forgotten = replaced(forgotten, failed=left)
    left = _refresh_quoting(context, forgotten.memories)
    return replaced(forgotten, failed=(*forgotten.failed, *left))


def show_again(context: CurationContext, selector: MemorySelector) -> RestoreResult:
    """Show again what one forget hid.

    Args:
        context: Of the caller.
        selector: The id of a forget, or a choice of memories: then only what the newest
            forget of them hid.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    with context.changing():
        change = find_forget(context, selector.name)
        if change is not None:
            restored = restore_change(context, change)
        else:
            restored = record_restored(context, _restored(context, selector))
        left = (*restored.failed, *follow_skills(context))
        return replaced(restored, failed=left)


def _restored(context: CurationContext, selector: MemorySelector) -> RestoreResult:
    """Show memories again; a name that there is none of gets the list of forgotten."""
    try:
        return restore(context, selector)
    except MemoryNotFoundError as error:
        error.hint = "`hm list --forgotten` lists what can be restored."
        raise


def take_back(
    context: CurationContext, change_id: str, *, is_dry_run: bool
) -> UndoResult:
    """Undo a change; see ``undo.undo``."""
    with context.changing():
        undone = undo(context, change_id, is_dry_run=is_dry_run)
        if is_dry_run:
            return undone
        follow_skills(context)
    hidden = (*undone.forgotten, *undone.superseded, *undone.pending)
    left = _refresh_quoting(context, hidden)
    return replaced(undone, failed=(*undone.failed, *left))


def _refresh_quoting(
    context: CurationContext, hidden: Sequence[AffectedItem]
) -> tuple[FailedItem, ...]:
    """Write the sections again that quote hidden memories; return what failed."""
    injected = context.injected() if hidden else None
    if injected is None:
        return ()
    quoting = find_injections(
        context,
        injected,
        {item.path for item in hidden},
        ids={item.id for item in hidden if item.id},
    )
    failed = quoting.seen_of(refresh_sections(injected, quoting))
    return (*quoting.unread, *failed)
