"""Which links the language model may not write or propose: they were removed.

And which it proposes no more: they are there.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.model.changes import LINK
from hivemind_memory.model.memories import RELATED, UPDATES
from hivemind_memory.notes.edge import FIELDS, targets
from hivemind_memory.state.change_log import ChangeLog
from hivemind_memory.state.model_links import ModelLinks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.ports import MemoryIndex

MODEL = "model"
"""Who writes a link of the language model, and who makes such changes."""


def refuse_link(
    context: CurationContext, from_ref: str, to_ref: str, kind: str
) -> None:
    """Remember that a link was removed, or is not wanted.

    As with the log of changes, a state that cannot be written stops no change.
    """
    with suppress(StateUnusableError):
        ModelLinks(context.state()).refuse(from_ref, to_ref, kind)


def forget_proposed(
    context: CurationContext, from_ref: str, to_ref: str, kind: str
) -> None:
    """Take a link that is there now out of the inbox.

    As with the log of changes, a state that cannot be written stops no change.
    """
    with suppress(StateUnusableError):
        ModelLinks(context.state()).drop_proposed(from_ref, to_ref, kind)


def refs_of(index: MemoryIndex, row: MemoryRow) -> frozenset[str]:
    """Return the ids and paths of a memory and of all its versions."""
    rows = [row]
    if row.key:
        rows += index.memories(key=row.key, scopes=frozenset({row.scope}))
    return frozenset(ref for each in rows for ref in (each.memory_id, each.path) if ref)


def is_refused(
    context: CurationContext,
    index: MemoryIndex,
    start: MemoryRow,
    end: MemoryRow,
    kind: str,
) -> bool:
    """Return whether a link was removed by anyone, from any version of its ends.

    A link that the model wrote and that is not there any more was removed, too: by an
    undo, or in an editor.
    """
    from_refs, to_refs = refs_of(index, start), refs_of(index, end)
    for one, other, refused_kind in ModelLinks(context.state()).refused():
        if refused_kind != kind:
            continue
        if one in from_refs and other in to_refs:
            return True
        # Of the other kinds no end is the newer one.
        if kind != UPDATES and one in to_refs and other in from_refs:
            return True
    # Only the links of this kind pass from a version to the next one.
    own = from_refs if kind == RELATED else {start.memory_id}
    return any(
        item.id in own and not to_refs.isdisjoint(targets(list(change.after)))
        for change in ChangeLog(context.state()).newest()
        if change.kind == LINK
        and change.field == FIELDS[kind]
        and change.actor.partition(":")[0] == MODEL
        for item in change.items
    )
