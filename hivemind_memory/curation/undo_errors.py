"""Why a change cannot be undone, and what can be done instead."""

from __future__ import annotations

from shlex import quote

from hivemind_memory.errors import MemoryNotFoundError, NotSavedError, UsageError
from hivemind_memory.model.changes import (
    ACCEPT,
    DONE,
    EDIT,
    FORGET,
    LINK,
    MERGE,
    PURGE,
    RESTORE,
    RETURN,
    SAVE,
    WRITE,
)
from hivemind_memory.model.keys import operand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.model.changes import Change

EFFECT = "Nothing was undone"
LIST_HINT = "`hm log --changes` lists them."
_REVERSIBLE = (WRITE, SAVE, FORGET, RESTORE, LINK, ACCEPT, RETURN, DONE)


def built_upon(name: str, what: str) -> NotSavedError:
    """Return the error for a change that cannot be undone by itself."""
    return NotSavedError(
        f"{name} was {what} since.",
        hint="Undo that first, or hide the memory with `hm forget`.",
        effect=EFFECT,
    )


def no_forget(change: Change) -> UsageError:
    """Return the error for restoring by the id of a change that hid nothing."""
    article = "an" if change.kind in {ACCEPT, EDIT} else "a"
    message = f"{change.id} is {article} {change.kind}, not a forget."
    hint = "`hm log --changes` lists the forgets."
    if change.kind == PURGE:
        message = f"{change.id} is a purge: what was purged is erased."
    elif is_reversible(change) and not change.undone_by:
        hint = f"`hm undo {quote(change.id)}` undoes it."
    return UsageError(message, hint=hint, effect="Nothing was restored")


def already_undone(change: Change) -> UsageError:
    """Return the error for a change that is not in effect any more."""
    return UsageError(
        f"{change.id} is already undone.",
        hint=f"`hm undo {change.undone_by}` redoes it.",
        effect=EFFECT,
    )


def irreversible(change: Change, own: Sequence[Change]) -> UsageError:
    """Return the error for a change of a kind that cannot be undone.

    Args:
        change: The change.
        own: The caller's changes that are in effect, newest first.
    """
    why = ": what was purged is erased" if change.kind == PURGE else ""
    return UsageError(
        f"The {change.kind} {change.id} cannot be undone{why}.",
        hint="; ".join((*_earlier(own), LIST_HINT)),
        effect=EFFECT,
    )


def not_kept(change: Change, own: Sequence[Change]) -> UsageError:
    """Return the error for an edit: no copy of the text before it was kept.

    Args:
        change: The edit.
        own: The caller's changes that are in effect, newest first.
    """
    path = change.items[0].path if change.items else "a note"
    return UsageError(
        f"Your last change is an edit of {path}, and hm has no copy of the text before"
        " it."
        if change in own[:1]
        else f"{change.id} is an edit of {path}; hm has no copy of the text before it.",
        hint="; ".join((f"`hm edit {operand(path)}` opens it", *_earlier(own))),
        effect=EFFECT,
    )


def moved(change: Change, own: Sequence[Change]) -> UsageError:
    """Return the error for a project that was renamed or merged into another.

    Args:
        change: The rename or the merge.
        own: The caller's changes that are in effect, newest first.
    """
    source, target = (str(*names) for names in (change.before, change.after))
    which = "Your last change" if change in own[:1] else change.id
    if change.kind == MERGE:
        what = f"the merge of project {source} into {target}, which cannot be undone"
        hints = _earlier(own)
    else:
        what = f"the rename of project {source} to {target}"
        back = f"`hm project rename {operand(target)} {operand(source)}` undoes it"
        hints = [back, *_earlier(own)]
    return UsageError(f"{which} is {what}.", hint="; ".join(hints), effect=EFFECT)


def no_memory_changed(change: Change, own: Sequence[Change]) -> UsageError:
    """Return the error for a command that changed no memory.

    Args:
        change: What was recorded of it.
        own: The caller's changes that are in effect, newest first.
    """
    [done] = map(str, change.after)
    which = "Your last change" if change in own[:1] else change.id
    back = [f"`{command}` undoes it" for command in change.before]
    return UsageError(
        f"{which} is `{done}`, which changed no memory.",
        hint="; ".join([*back, *_earlier(own)]),
        effect=EFFECT,
    )


def _earlier(own: Sequence[Change]) -> list[str]:
    """Return how to undo the last change that can be undone, if there is one.

    As a list of one clause, or of none.
    """
    earlier = [made for made in own if is_reversible(made)]
    return [
        f"`hm undo {quote(last.id)}` undoes your last {last.kind}"
        for last in earlier[:1]
    ]


def is_reversible(change: Change) -> bool:
    """Return whether changes of this kind can be undone."""
    return change.kind in _REVERSIBLE


def gone(name: str) -> MemoryNotFoundError:
    """Return the error for a change of which nothing is left."""
    return MemoryNotFoundError(
        f"{name} is no longer there.", hint=LIST_HINT, effect=EFFECT
    )
