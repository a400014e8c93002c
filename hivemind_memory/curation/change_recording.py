"""Records changes in the log of ``state.db``, so that they can be undone.

A change is recorded once it is on disk. One that cannot be recorded, or whose process
was killed before, can still be hidden with ``forget``; ``undo`` does not know it.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.errors import (
    HivemindError,
    NoteNotFoundError,
    StateUnusableError,
)
from hivemind_memory.markdown.entry import entry_ids, new_ulid
from hivemind_memory.model.changes import (
    ACCEPT,
    DONE,
    FORGET,
    LINK,
    RESTORE,
    SAVE,
    WRITE,
    Change,
    ChangedItem,
)
from hivemind_memory.model.curation import ENTRY, MEMORY
from hivemind_memory.model.display import not_indexed_text
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.memories import ACTIVE, STATUSES
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.results import NOT_RECORDED
from hivemind_memory.model.value import replaced, value
from hivemind_memory.notes.memory_file import fit_content
from hivemind_memory.state.change_log import ChangeLog
from hivemind_memory.state.skills import SkillStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.model.curation import (
        AffectedItem,
        ForgetResult,
        RestoreResult,
        SaveResult,
        StoredMemory,
    )
    from hivemind_memory.state.state_file import StateFile


@value
class ChangedList:
    """A list in a front matter that a link has changed."""

    field: str
    """Its key."""

    before: tuple[object, ...]
    after: tuple[object, ...]


class SavedText(NamedTuple):
    """What a save or a write put into a note."""

    text: str = ""
    """If it was purged since then, the change is not recorded."""

    superseded: str = ""
    """Id of the memory that it replaced; empty: none."""


_NO_TEXT = SavedText()
_STAYING = frozenset((FORGET, RESTORE, LINK, DONE))
"""Changes after which a memory is where it was."""


def actor_of(caller: Caller, origin: str) -> str:
    """Return the name under which a caller's changes are recorded.

    Args:
        caller: What it may see: an agent of one project never undoes another's.
        origin: Where it comes from, such as ``person`` or ``program``.
    """
    scopes = caller.scopes
    return f"{origin}:{'*' if scopes is None else ','.join(sorted(scopes))}"


def record(
    context: CurationContext,
    kind: str,
    items: Iterable[ChangedItem] = (),
    *,
    others: tuple[ChangedItem, ...] = (),
    changed_list: ChangedList | None = None,
    undoes: str = "",
    is_undo: bool = False,
    saved: SavedText = _NO_TEXT,
) -> str:
    """Record a change; return its id, empty if it could not be recorded.

    Args:
        context: Of the caller.
        kind: One of the kinds of ``model.changes``.
        items: What was changed.
        others: Versions that became active or superseded again because of it.
        changed_list: Of a link.
        undoes: Id of the change that this one undid.
        is_undo: ``hm undo`` made it.
        saved: Of what was saved or written.
    """
    clocks = context.clocks
    now = clocks.now()
    change = Change(
        id=new_ulid(now, clocks.randomness()),
        kind=kind,
        at=clocks.local_iso(now),
        actor=context.actor,
        terminal=context.find_terminal(),
        items=tuple(items),
        others=others,
        field=changed_list.field if changed_list else "",
        before=changed_list.before if changed_list else (),
        after=changed_list.after if changed_list else (),
        undoes=undoes,
        is_undo=is_undo,
    )
    try:
        ChangeLog(context.state()).add(
            change,
            [saved.superseded],
            text=saved.text,
            is_gone=lambda: _is_gone(context, change),
        )
    except StateUnusableError:
        return ""
    return change.id


def _is_gone(context: CurationContext, change: Change) -> bool:
    """Return whether nothing is left of what a change leaves where it was."""
    if change.kind not in _STAYING or not change.items:
        return False
    return not any(_is_there(context, item) for item in change.items)


def _is_there(context: CurationContext, item: ChangedItem) -> bool:
    """Return whether a memory or an entry is in its note; in doubt, it is."""
    try:
        if item.kind != ENTRY:
            return context.folder.signature(NotePath(item.path)) is not None
        return item.id in entry_ids(context.folder.read(NotePath(item.path))[0])
    except NoteNotFoundError:
        return False
    except HivemindError:
        return True


def record_written(
    context: CurationContext, path: str, entry_id: str, content: str
) -> str:
    """Record an entry that was appended; return the id of the change."""
    digest = digest_of(context.state(), content)
    item = ChangedItem(kind=ENTRY, path=path, id=entry_id, digest=digest)
    return record(context, WRITE, [item], saved=SavedText(content))


def record_saved(
    context: CurationContext,
    saved: SaveResult,
    content: str,
    warnings: tuple[str, ...],
) -> SaveResult:
    """Index the notes of a save and record it; return its result, with warnings."""
    if saved.is_new:
        digest = digest_of(context.state(), content)
        item = ChangedItem(kind=MEMORY, path=saved.path, id=saved.id, digest=digest)
        text = SavedText(content, saved.superseded)
        if not record(context, SAVE, [item], saved=text):
            warnings += (NOT_RECORDED,)
    if left := context.notes_left():
        was, were = "its text was not compared", "their texts were not compared"
        warnings += (not_indexed_text(left, was, were),)
    if saved.is_new and saved.status == STATUSES[ACTIVE]:
        warnings += tuple(_outdated_skills(context, saved))
    return replaced(
        saved,
        is_indexed=context.update_index(saved.changed_paths),
        warnings=(*warnings, *saved.warnings),
    )


def _outdated_skills(context: CurationContext, saved: SaveResult) -> Iterator[str]:
    """Yield that a skill was made from the version before."""
    with suppress(StateUnusableError):
        for skill in SkillStore(context.state()).all():
            if (skill.scope, skill.key) == (saved.scope, saved.key):
                yield (
                    f"the skill {skill.name} still has the previous text;"
                    " a person can update it with `hm skill sync`"
                )


def record_accepted(
    context: CurationContext, accepted: StoredMemory, kind: str, *, text: str
) -> str:
    """Record a claim that left the inbox; return the id of the change.

    Args:
        context: Of the caller.
        accepted: The memory that it is now; of one that is hidden, the claim itself.
        kind: memory or entry.
        text: Its text.
    """
    digest = digest_of(context.state(), text)
    item = ChangedItem(kind=kind, path=accepted.path, id=accepted.id, digest=digest)
    return record(context, ACCEPT, [item], saved=SavedText(text))


def record_forgotten(context: CurationContext, forgotten: ForgetResult) -> ForgetResult:
    """Record a forget; return its result with the id of the change."""
    if not forgotten.memories:
        return forgotten
    items, others = items_of(forgotten.memories), items_of(forgotten.reactivated)
    return replaced(forgotten, id=record(context, FORGET, items, others=others))


def record_restored(context: CurationContext, restored: RestoreResult) -> RestoreResult:
    """Record that memories were restored; return the result with the change id."""
    if not restored.memories:
        return restored
    items, others = items_of(restored.memories), items_of(restored.superseded)
    return replaced(restored, id=record(context, RESTORE, items, others=others))


def items_of(affected: Iterable[AffectedItem]) -> tuple[ChangedItem, ...]:
    """Return what a result lists as items of a change."""
    return tuple(
        ChangedItem(kind=item.kind, path=item.path, id=item.id) for item in affected
    )


def digest_of(state: StateFile, text: str) -> str:
    """Return the keyed hash of a text; blanks make no difference.

    Empty if ``state.db`` cannot be used: then an edit is not noticed.
    """
    try:
        return state.hash_of(" ".join(fit_content(text).split())).hex()
    except StateUnusableError:
        return ""


def forgets_of(
    context: CurationContext, hidden: Iterable[CurationTarget]
) -> list[tuple[Change, list[CurationTarget]]]:
    """Return the forgets that hid some targets, newest first, each with those."""
    try:
        changes = ChangeLog(context.state()).newest()
    except StateUnusableError:
        return []
    left: dict[str, list[CurationTarget]] = {}
    for target in hidden:
        left.setdefault(target.id or target.path, []).append(target)
    found = []
    for change in changes:
        if change.kind == FORGET:
            names = [item.id or item.path for item in change.items]
            targets = [target for name in names for target in left.pop(name, [])]
            if targets:
                found.append((change, targets))
    return found
