"""Whether a note is active, superseded, pending or forgotten, expired or done. Pure."""

from __future__ import annotations

from hivemind_memory.model.memories import ACTIVE, FORGOTTEN, PENDING, SUPERSEDED
from hivemind_memory.model.scope import INBOX, place_in_scope
from hivemind_memory.model.scope import SUPERSEDED as SUPERSEDED_FOLDER
from hivemind_memory.notes.edge import targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def status_of(path: str, front_matter: Mapping[str, object]) -> int:
    """Return the status of a note: one of ``ACTIVE`` to ``FORGOTTEN``.

    Args:
        path: Where it lies, relative to the notes folder.
        front_matter: Its parsed values.
    """
    if is_forgotten(front_matter):
        return FORGOTTEN
    return status_unless_forgotten(path, front_matter)


def status_unless_forgotten(path: str, front_matter: Mapping[str, object]) -> int:
    """Return the status that a note has, or had before it was forgotten."""
    folder = place_in_scope(path)
    if folder == INBOX:
        return PENDING
    is_replaced = folder == SUPERSEDED_FOLDER or targets(
        front_matter.get("superseded_by")
    )
    return SUPERSEDED if is_replaced else ACTIVE


def is_forgotten(front_matter: Mapping[str, object]) -> bool:
    """Return whether a note is forgotten as a whole."""
    return front_matter.get("forgotten") not in (None, False, "")


def is_expired_or_done(
    expires_day: int | None, done_day: int | None, *, today: int
) -> bool:
    """Return whether a memory is over: no longer told unasked, and found lower.

    Args:
        expires_day: First day, since the epoch, on which it is expired; None: never.
        done_day: First day on which a todo or goal is done; None: it is open.
        today: The day, since the epoch.
    """
    return any(day is not None and day <= today for day in (expires_day, done_day))
