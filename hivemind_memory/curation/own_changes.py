"""Finds the change to undo, and the newer ones that it passes over.

A caller's own changes are those of the same kind of caller, and those made in the same
terminal session: what a person writes through a pipe is theirs, although its source is
an agent's, for no one knows who wrote what comes out of a pipe.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.curation.undo_errors import (
    EFFECT,
    LIST_HINT,
    already_undone,
    is_reversible,
)
from hivemind_memory.errors import MemoryNotFoundError, StateUnusableError
from hivemind_memory.files.descriptors import is_there
from hivemind_memory.model.changes import (
    COMMAND,
    EDIT,
    MERGE,
    RENAME,
    ChangedItem,
    NewerChange,
)
from hivemind_memory.model.clocks import seconds_of
from hivemind_memory.model.curation import NOTE
from hivemind_memory.state.change_log import ChangeLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.changes import Change


def find_change(context: CurationContext, change_id: str) -> Change:
    """Return the change to undo: one by its id, or the caller's last one.

    Raises:
        MemoryNotFoundError: There is no such change, or it is another caller's.
        UsageError: It was undone already.
    """
    log = ChangeLog(context.state())
    if not change_id:
        own = next(own_changes(context), None)
        if own is None:
            raise MemoryNotFoundError(
                "You have no change left to undo.",
                hint=_newer_hint(context),
                effect=EFFECT,
            )
        return own
    change = log.find(change_id)
    if change is None or not may_take_back(context, change):
        message = f"None of your changes has the id {change_id[:60]!r}."
        raise MemoryNotFoundError(message, hint=LIST_HINT, effect=EFFECT)
    if change.undone_by:
        raise already_undone(change)
    return change


def own_changes(context: CurationContext) -> Iterator[Change]:
    """Yield the caller's changes that are in effect and no undo, newest first."""
    for change in ChangeLog(context.state()).in_effect():
        if is_own(context, change):
            yield change


def may_take_back(context: CurationContext, change: Change) -> bool:
    """Return whether a caller may undo a change by its id."""
    return context.caller.is_owner or is_own(context, change)


def is_own(context: CurationContext, change: Change) -> bool:
    """Return whether a change is the caller's own, so that an undo needs no id."""
    if change.actor == context.actor:
        return True
    # A caller of other scopes in the same terminal sees other notes.
    are_same_scopes = _scopes_of(change.actor) == _scopes_of(context.actor)
    terminal = context.find_terminal() if change.terminal and are_same_scopes else ""
    return bool(terminal) and change.terminal == terminal


def newer_change(
    context: CurationContext, own: Change | None
) -> tuple[NewerChange | None, int]:
    """Return the newest change of others after one of the caller's own, and how many.

    Only the owner learns of any; edits and purges, which cannot be undone, are left
    out.

    Args:
        context: Of the caller.
        own: The change; None: all changes of others.
    """
    if not context.caller.is_owner:
        return None, 0
    newer = []
    for change in ChangeLog(context.state()).in_effect():
        if own is not None and change.id == own.id:
            break
        if is_reversible(change) and change.items and not is_own(context, change):
            newer.append(change)
    if not newer:
        return None, 0
    newest = newer[0]
    made_s = seconds_of(newest.at)
    found = NewerChange(
        id=newest.id,
        kind=newest.kind,
        origin=newest.actor.partition(":")[0],
        path=newest.items[0].path,
        age_s=0 if made_s is None else max(0, context.clocks.now() - made_s),
    )
    return found, len(newer)


def _newer_hint(context: CurationContext) -> str:
    """Return how the newest change of others is undone; empty: there is none."""
    newest, _ = newer_change(context, None)
    return newest.notice() if newest is not None else ""


def _scopes_of(actor: str) -> str:
    """Return the scopes in the name of an actor."""
    return actor.partition(":")[2]


def find_changes(context: CurationContext, text_count: int = 0) -> tuple[Change, ...]:
    """Return the changes that the caller may undo, newest first.

    Args:
        context: Of the caller.
        text_count: How many of them, from the newest on, get the text they are about.

    Raises:
        StateUnusableError: The log of changes cannot be read.
    """
    from hivemind_memory.curation.change_texts import with_texts

    newest = ChangeLog(context.state()).newest()
    found = tuple(change for change in newest if may_take_back(context, change))
    if not text_count:
        return found
    return with_texts(context, found[:text_count]) + found[text_count:]


def record_other(context: CurationContext, kind: str, *names: str) -> None:
    """Record what ``undo`` cannot undo, so that it does not pass it by.

    Args:
        context: Of the caller.
        kind: ``EDIT`` or ``COMMAND``.
        names: The path of the note that was edited. Or the command that was run, and
            the one that reverses it, if any.
    """
    if kind == EDIT:
        return record_edited(context, *names)
    done, back = (*names, "")[:2]
    if is_there(context.places.state_file):  # else there is no older change
        _record_way(context, COMMAND, ((back,) if back else (), (done,)))
    return None


def record_edited(context: CurationContext, path: str) -> None:
    """Record that a note was changed in an editor: ``undo`` must not pass it by."""
    from hivemind_memory.curation.change_recording import record

    record(context, EDIT, [ChangedItem(kind=NOTE, path=path)])


def record_moved(
    context: CurationContext, source: str, target: str, *, is_merge: bool
) -> None:
    """Record that a project was renamed or merged: ``undo`` must not pass it by."""
    _record_way(context, MERGE if is_merge else RENAME, ((source,), (target,)))


def _record_way(
    context: CurationContext,
    kind: str,
    way: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    """Record what leads from one state to another.

    If it takes the caller's last change back, it undoes that one.
    """
    from hivemind_memory.curation.change_recording import ChangedList, record

    before, after = way
    undone = ""
    with suppress(StateUnusableError):
        last = next(own_changes(context), None)
        if last is not None and last.kind == kind != MERGE:
            # The words of a command may not say all that it did.
            is_back = last.before == after and (kind == COMMAND or last.after == before)
            undone = last.id if is_back else ""
    names = ChangedList(field="", before=before, after=after)
    record(context, kind, changed_list=names, undoes=undone, is_undo=bool(undone))
