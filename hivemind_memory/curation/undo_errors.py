"""Why a change cannot be taken back, and what can be done instead."""

from __future__ import annotations

from shlex import quote

from hivemind_memory.errors import MemoryNotFoundError, NotSavedError, UsageError
from hivemind_memory.model.changes import (
    ACCEPT,
    FORGET,
    LINK,
    PURGE,
    RESTORE,
    RETURN,
    SAVE,
    WRITE,
)
from hivemind_memory.state.change_log import ChangeLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.changes import Change

EFFECT = "Nothing was taken back"
LIST_HINT = "`hm log --changes` lists them."
_REVERSIBLE = (WRITE, SAVE, FORGET, RESTORE, LINK, ACCEPT, RETURN)


def built_upon(name: str, what: str) -> NotSavedError:
    """Return the error for a change that cannot be taken back by itself."""
    return NotSavedError(
        f"{name} was {what} since.",
        hint="Undo that first, or hide the memory with `hm forget`.",
        effect=EFFECT,
    )


def irreversible(context: CurationContext, change: Change) -> UsageError:
    """Return the error for a change of a kind that cannot be taken back."""
    why, hints = "", []
    if change.kind == ACCEPT:
        why = ": the claim said what an active memory says, and is gone"
    elif change.kind == PURGE:
        why = ": what was purged is erased"
    earlier = [
        made
        for made in ChangeLog(context.state()).newest()
        if made.actor == context.actor and _is_reversible(made)
    ]
    if earlier:
        last = earlier[0]
        hints.append(f"`hm undo {quote(last.id)}` takes back your last {last.kind}")
    hints.append(LIST_HINT)
    return UsageError(
        f"The {change.kind} {change.id} cannot be taken back{why}.",
        hint="; ".join(hints),
        effect=EFFECT,
    )


def _is_reversible(change: Change) -> bool:
    """Return whether an undo without an id would take a change back."""
    if change.is_undo or change.undone_by or change.kind not in _REVERSIBLE:
        return False
    return change.kind != ACCEPT or is_known(change)


def is_known(change: Change) -> bool:
    """Return whether what a change moved, wrote or saved is there and was recorded."""
    return bool(change.items and change.items[0].digest)


def gone(name: str) -> MemoryNotFoundError:
    """Return the error for a change of which nothing is left."""
    return MemoryNotFoundError(
        f"{name} is no longer there.", hint=LIST_HINT, effect=EFFECT
    )
