"""Why a change cannot be taken back, and what can be done instead."""

from __future__ import annotations

from shlex import quote

from hivemind_memory.errors import MemoryNotFoundError, NotSavedError, UsageError
from hivemind_memory.model.changes import (
    ACCEPT,
    DONE,
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
_REVERSIBLE = (WRITE, SAVE, FORGET, RESTORE, LINK, ACCEPT, RETURN, DONE)


def built_upon(name: str, what: str) -> NotSavedError:
    """Return the error for a change that cannot be taken back by itself."""
    return NotSavedError(
        f"{name} was {what} since.",
        hint="Undo that first, or hide the memory with `hm forget`.",
        effect=EFFECT,
    )


def no_forget(change: Change) -> UsageError:
    """Return the error for restoring by the id of a change that hid nothing."""
    message = f"{change.id} is a {change.kind}, not a forget."
    hint = "`hm log --changes` lists the forgets."
    if change.kind == PURGE:
        message = f"{change.id} is a purge: what was purged is erased."
    elif not change.undone_by:
        hint = f"`hm undo {quote(change.id)}` takes it back."
    return UsageError(message, hint=hint, effect="Nothing was restored")


def irreversible(context: CurationContext, change: Change) -> UsageError:
    """Return the error for a change of a kind that cannot be taken back."""
    why = ": what was purged is erased" if change.kind == PURGE else ""
    return UsageError(
        f"The {change.kind} {change.id} cannot be taken back{why}.",
        hint="; ".join((*_earlier(context), LIST_HINT)),
        effect=EFFECT,
    )


def not_kept(context: CurationContext, change: Change) -> UsageError:
    """Return the error for an edit: no copy of the text before it was kept."""
    path = change.items[0].path if change.items else "a note"
    return UsageError(
        f"Your last change is an edit of {path}, and hm has no copy of the text before"
        " it."
        if change == ChangeLog(context.state()).last_of(context.actor)
        else f"{change.id} is an edit of {path}; hm has no copy of the text before it.",
        hint="; ".join((f"`hm edit {quote(path)}` opens it", *_earlier(context))),
        effect=EFFECT,
    )


def _earlier(context: CurationContext) -> list[str]:
    """Return how to take back the last change that can be taken back, if there is one.

    As a list of one clause, or of none.
    """
    earlier = [
        made
        for made in ChangeLog(context.state()).newest()
        if made.actor == context.actor and _is_reversible(made)
    ]
    return [
        f"`hm undo {quote(last.id)}` takes back your last {last.kind}"
        for last in earlier[:1]
    ]


def _is_reversible(change: Change) -> bool:
    """Return whether an undo without an id would take a change back."""
    is_in_effect = not (change.is_undo or change.undone_by)
    return is_in_effect and change.kind in _REVERSIBLE


def gone(name: str) -> MemoryNotFoundError:
    """Return the error for a change of which nothing is left."""
    return MemoryNotFoundError(
        f"{name} is no longer there.", hint=LIST_HINT, effect=EFFECT
    )
