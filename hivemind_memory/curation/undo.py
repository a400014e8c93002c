"""Undoes a recorded change to a memory: hides what was written, shows what was hidden.

A project that was renamed or merged is left alone, see ``project_move``, and so is what
changed no memory, such as ``hm config set``.

Nothing is deleted, so every undo can be undone itself. A change that someone built
upon is refused: a memory that was replaced or edited since stays as it is.
"""

from __future__ import annotations

from hivemind_memory.access.rules import check_person, may_write
from hivemind_memory.curation.change_recording import (
    ChangedList,
    digest_of,
    items_of,
    record,
)
from hivemind_memory.curation.changed_items import (
    first_lines,
    only_target,
    rows_of,
    targets_of,
)
from hivemind_memory.curation.forget import hide_targets, show_targets
from hivemind_memory.curation.inbox import accept_claim, return_claim
from hivemind_memory.curation.links import change_list
from hivemind_memory.curation.lookup import CurationTarget, read_target
from hivemind_memory.curation.own_changes import (
    find_change,
    may_take_back,
    newer_change,
    own_changes,
)
from hivemind_memory.curation.undo_errors import (
    EFFECT,
    built_upon,
    gone,
    irreversible,
    moved,
    no_forget,
    no_memory_changed,
    not_kept,
)
from hivemind_memory.curation.without_secrets import masked
from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.model.changes import (
    ACCEPT,
    COMMAND,
    DONE,
    EDIT,
    FORGET,
    LINK,
    MERGE,
    RENAME,
    RESTORE,
    RETURN,
    SAVE,
    WRITE,
    Change,
    ChangedItem,
    UndoResult,
)
from hivemind_memory.model.curation import ENTRY, MEMORY, RestoreResult
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import INBOX, SUPERSEDED, place_in_scope, scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.edge import take_back_items
from hivemind_memory.state.change_log import ChangeLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import ForgetResult


def undo(
    context: CurationContext, change_id: str = "", *, is_dry_run: bool = False
) -> UndoResult:
    """Undo a change; two processes do so one after the other.

    Args:
        context: Of the caller.
        change_id: Which; empty: the caller's last one that is in effect.
        is_dry_run: Only find what would be done.

    Raises:
        MemoryNotFoundError: There is no such change, or it is another caller's.
        NotSavedError: Someone built upon it; nothing was changed.
        StateUnusableError: The log of changes cannot be read.
        UsageError: It was undone already, or cannot be.
    """
    with context.undo_lock():
        change = find_change(context, change_id)
        done = _take_back(context, change, is_dry_run=is_dry_run)
        if not change_id:
            newer, count = newer_change(context, change)
            done = replaced(done, newer=newer, newer_count=count)
        if is_dry_run:
            return replaced(done, is_dry_run=True)
        return replaced(done, id=_record_undo(context, change, done, is_undo=True))


def restore_change(context: CurationContext, change: Change) -> RestoreResult:
    """Show again what one forget hid, and nothing else.

    Raises:
        HivemindError: Nothing was changed; the message says why.
    """
    if change.actor != context.actor:
        check_person(context.caller, "Restoring what someone else forgot")
    with context.undo_lock():
        done = _take_back(context, change, is_dry_run=False)
        made = _record_undo(context, change, done, is_undo=False)
    return RestoreResult(
        memories=done.restored,
        superseded=done.superseded,
        already=len(change.items) - len(done.restored),
        failed=done.failed,
        changed_paths=done.changed_paths,
        is_indexed=done.is_indexed,
        id=made,
    )


def find_forget(context: CurationContext, name: str) -> Change | None:
    """Return the forget with an id, if the caller may restore it; else None.

    Raises:
        UsageError: It is the id of another change that the caller may know of.
    """
    try:
        change = ChangeLog(context.state()).find(name)
    except HivemindError:
        return None
    if change is None or not _may_touch(context, change):
        return None
    if change.kind != FORGET:
        if not may_take_back(context, change):
            return None
        raise no_forget(change)
    return change


def _take_back(
    context: CurationContext, change: Change, *, is_dry_run: bool
) -> UndoResult:
    """Do the opposite of a change, or only find what that is."""
    if not _may_touch(context, change):
        raise NotSavedError("You cannot write there from here.", effect=EFFECT)
    scopes = tuple(sorted({scope_of(item.path) for item in change.items}))
    result = UndoResult(undone=change.id, kind=change.kind, at=change.at, scopes=scopes)
    if change.kind in {LINK, DONE}:
        return _relink(context, change, result, is_dry_run=is_dry_run)
    if change.kind in {WRITE, SAVE, RESTORE}:
        return _hide(context, change, result, is_dry_run=is_dry_run)
    if change.kind == FORGET:
        return _show(context, change, result, is_dry_run=is_dry_run)
    if change.kind in {ACCEPT, RETURN}:
        return _move_claim(context, change, result, is_dry_run=is_dry_run)
    if change.kind == EDIT:
        raise not_kept(change, tuple(own_changes(context)))
    if change.kind == COMMAND:
        raise no_memory_changed(change, tuple(own_changes(context)))
    if change.kind in {RENAME, MERGE}:
        raise moved(change, tuple(own_changes(context)))
    raise irreversible(change, tuple(own_changes(context)))


def _hide(
    context: CurationContext, change: Change, result: UndoResult, *, is_dry_run: bool
) -> UndoResult:
    """Hide what was written, saved or restored."""
    items = {item.id or item.path: item for item in change.items}

    def check(target: CurationTarget, path: str, text: str) -> None:
        item = items[target.id or target.path]
        name = target.key or path
        if change.kind == SAVE and _folder(path) != _folder(item.path):
            is_replaced = place_in_scope(path) == SUPERSEDED
            raise built_upon(name, "replaced" if is_replaced else "moved")
        if item.digest and item.digest != digest_of(context.state(), text):
            raise built_upon(name, "edited")

    targets = targets_of(context, change)
    shown = [target for target in targets if not target.forgotten]
    if not shown:
        return replaced(result, already=True)
    result = replaced(result, texts=first_lines(shown))
    if is_dry_run:
        for target in shown:
            check(target, target.path, target.text)
        return replaced(result, forgotten=tuple(t.as_affected() for t in shown))
    is_reactivating = change.kind == SAVE or bool(change.others)
    done = hide_targets(context, shown, is_reactivating=is_reactivating, check=check)
    result = replaced(result, forgotten=done.memories, reactivated=done.reactivated)
    return _with_changes(result, done)


def _show(
    context: CurationContext, change: Change, result: UndoResult, *, is_dry_run: bool
) -> UndoResult:
    """Show what a forget hid."""
    hidden = [target for target in targets_of(context, change) if target.forgotten]
    if not hidden:
        return replaced(result, already=True)
    result = replaced(result, texts=first_lines(hidden))
    if is_dry_run:
        return replaced(
            result, restored=tuple(target.as_affected() for target in hidden)
        )
    done = show_targets(context, hidden, is_deactivating=bool(change.others))
    result = replaced(result, restored=done.memories, superseded=done.superseded)
    return _with_changes(result, done)


def _move_claim(
    context: CurationContext, change: Change, result: UndoResult, *, is_dry_run: bool
) -> UndoResult:
    """Put an accepted claim back into the inbox, or accept it again."""
    claim, [item] = only_target(context, change), change.items
    part, is_back = place_in_scope(claim.path), change.kind == ACCEPT
    was_dropped = is_back and place_in_scope(item.path) == INBOX
    name = claim.key or claim.path
    is_same = item.digest == digest_of(context.state(), claim.text)
    for what, is_so in (
        ("forgotten", bool(claim.forgotten) and not was_dropped),
        ("accepted", was_dropped and part != INBOX),
        ("replaced", part == SUPERSEDED),
        ("edited", not is_same),
    ):
        if is_so:
            raise built_upon(name, what)
    is_pending = part == INBOX and not claim.forgotten
    if is_pending is is_back:
        return replaced(result, already=True)
    result = replaced(result, texts=first_lines([claim]))
    path = claim.path
    if was_dropped and not is_dry_run:
        shown = show_targets(context, [claim], is_deactivating=False).memories
        if not shown:
            return replaced(result, already=True)  # by another process, just now
        path = NotePath(shown[0].path)
    elif is_back and not is_dry_run:
        path = return_claim(context, claim)
    elif not is_dry_run:
        name = claim.id if claim.kind == ENTRY else path
        accepted = accept_claim(context, name)
        path = (accepted.dropped or accepted.memory).path
    moved = (replaced(claim, path=path).as_affected(),)
    if is_back:
        result = replaced(result, pending=moved)
    else:
        result = replaced(result, accepted=moved)
    if is_dry_run:
        return result
    paths = (path, claim.path)
    is_indexed = context.update_index(paths)
    return replaced(result, changed_paths=paths, is_indexed=is_indexed)


def _with_changes(result: UndoResult, done: ForgetResult | RestoreResult) -> UndoResult:
    """Return a result with what was written, and what failed."""
    return replaced(
        result,
        failed=done.failed,
        changed_paths=done.changed_paths,
        is_indexed=done.is_indexed,
    )


def _relink(
    context: CurationContext, change: Change, result: UndoResult, *, is_dry_run: bool
) -> UndoResult:
    """Make the list of links, or the mark as done, as it was before the change."""
    [item] = change.items
    index = context.index.fresh(is_lookup=True)
    row = next(rows_of(index, item), None)
    if row is None:
        raise gone(item.path)
    before, after = list(change.before), list(change.after)

    def revert(items: list[object]) -> list[object]:
        if items == before:
            return items
        reverted = before if items == after else None
        if reverted is None and change.kind == LINK:
            reverted = take_back_items(items, before, after)
        if reverted is None:
            what = "linked again" if change.kind == LINK else "changed"
            raise built_upon(masked(row.key) or row.path, what)
        return items if is_dry_run else reverted

    if change.kind == LINK:
        result = replaced(result, link=row.path)
    else:
        done, reopened = (row.path, "") if before else ("", row.path)
        result = replaced(result, done=done, reopened=reopened)
        target = read_target(context, row.path, MEMORY)
        result = replaced(result, texts=first_lines([target] if target else []))
    with (
        context.updates_lock(EFFECT),
        context.key_lock(row.scope, row.key, EFFECT),
    ):
        # Another memory may have taken its file before the lock was free.
        there = next(rows_of(context.index.fresh(is_lookup=True), item), None)
        if there is None:
            raise gone(item.path)
        was, now = change_list(context, there.path, change.field, revert)
    if is_dry_run or was == now:
        return replaced(result, already=was == before)
    return replaced(
        result,
        changed_paths=(there.path,),
        is_indexed=context.update_index([there.path]),
    )


def _record_undo(
    context: CurationContext, change: Change, done: UndoResult, *, is_undo: bool
) -> str:
    """Record that a change was undone; return the id of that."""
    opposites = {
        LINK: LINK,
        DONE: DONE,
        FORGET: RESTORE,
        ACCEPT: RETURN,
        RETURN: ACCEPT,
    }
    kind = opposites.get(change.kind, FORGET)
    return record(
        context,
        kind,
        # What was so already is named too, so that the record is the exact opposite.
        change.items if done.already else _items(change, done),
        others=items_of((*done.reactivated, *done.superseded)),
        changed_list=ChangedList(
            field=change.field, before=change.after, after=change.before
        ),
        undoes=change.id,
        is_undo=is_undo,
    )


def _items(change: Change, done: UndoResult) -> tuple[ChangedItem, ...]:
    """Return what an undo changed."""
    if moved := (*done.pending, *done.accepted):
        return (replaced(change.items[0], path=moved[0].path),)
    return items_of((*done.forgotten, *done.restored)) or change.items


def _may_touch(context: CurationContext, change: Change) -> bool:
    """Return whether the caller may write to all that a change is about."""
    if not change.items:  # a purge, whose record names nothing
        return may_take_back(context, change)
    return all(may_write(context.caller, item.path) for item in change.items)


def _folder(path: str) -> str:
    """Return the folder of a note."""
    return path.rpartition("/")[0]
