"""Marks a memory as done, such as a todo or a goal, or as open again.

``done:`` with the day is put into its front matter; nothing else changes. What is done
is no longer injected, and a search still finds it.
"""

from __future__ import annotations

from hivemind_memory.access.rules import check_writable
from hivemind_memory.curation.ambiguous_names import check_certain
from hivemind_memory.curation.change_recording import ChangedList, record
from hivemind_memory.curation.links import change_list
from hivemind_memory.curation.locate import find_entry
from hivemind_memory.curation.lookup import find_memory
from hivemind_memory.curation.own_day import with_own_day
from hivemind_memory.errors import UsageError
from hivemind_memory.files.paths import parse_note_path
from hivemind_memory.model.changes import DONE, ChangedItem, DoneResult
from hivemind_memory.model.curation import MEMORY
from hivemind_memory.model.memories import ACTIVE, STATUSES
from hivemind_memory.notes.memory_header import day_of_iso, is_done

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow

_EFFECT = "Nothing was changed"


def mark_done(
    context: CurationContext, ref: str, *, scope: str | None, is_open: bool
) -> DoneResult:
    """Mark a memory as done today, or as open; one that is so already stays.

    Args:
        context: Of the caller.
        ref: Its key, its id or its path.
        scope: Look only there; None: in every scope that the caller reads.
        is_open: Remove the mark instead.

    Raises:
        MemoryNotFoundError: The caller sees no memory of that name.
        NotSavedError: The caller may not write there, or the disk refused.
        UsageError: It is no typed memory or is not active, or several scopes have it.
    """
    ref = with_own_day(context, ref.strip())
    row = _active_memory(context, ref, scope)
    check_writable(context.caller, parse_note_path(row.path), _EFFECT)
    marks = [] if is_open else [context.now_iso()[:10]]
    today = context.clocks.today()

    def mark(items: list[object]) -> list[object]:
        is_marked = not is_open and any(
            item is True or is_done(day_of_iso(str(item)), today=today)
            for item in items
        )
        return items if is_marked else list(marks)

    with context.key_lock(row.scope, row.key, _EFFECT):
        # Another one may have taken its file while another process held the lock.
        row = _active_memory(context, ref, row.scope)
        path = parse_note_path(row.path)
        before, after = change_list(context, path, DONE, mark)
    is_changed = before != after
    if is_changed:
        record(
            context,
            DONE,
            [ChangedItem(kind=MEMORY, path=path, id=row.memory_id)],
            changed_list=ChangedList(
                field=DONE, before=tuple(before), after=tuple(after)
            ),
        )
    return DoneResult(
        path=path,
        key=row.key,
        day=str(after[0]) if after else "",
        is_changed=is_changed,
        changed_paths=(path,) if is_changed else (),
    )


def _active_memory(context: CurationContext, ref: str, scope: str | None) -> MemoryRow:
    """Return the active typed memory that a name means; see ``mark_done``."""
    index = context.index.fresh(is_lookup=True)
    entry = find_entry(context, index, ref, scope)
    if entry is not None:
        raise _not_typed(entry.path)
    row = find_memory(context, index, ref, scope=scope)
    if scope is None:
        check_certain(context, index, ref, row, effect=_EFFECT)
    if not row.type:
        raise _not_typed(row.path)
    if row.status != ACTIVE:
        raise UsageError(f"{row.path} is {STATUSES[row.status]}.", effect=_EFFECT)
    return row


def _not_typed(path: str) -> UsageError:
    """Return the error for what is no typed memory."""
    return UsageError(
        f"{path} is not a typed memory, so it cannot be done.",
        hint="`hm list --type todo,goal` lists what can.",
        effect=_EFFECT,
    )
