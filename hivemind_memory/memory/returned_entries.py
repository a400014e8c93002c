"""Lists the recovered entries that a caller may see; see ``notes.returned_entries``."""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import HivemindError
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.returned_entries import (
    keep_open,
    open_returned,
    read_returned,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.results import RecoveredEntry

_WAIT_S = 1.0
"""A command waits no longer only so that nothing is told twice."""


def returned_entries(
    memory: Memory, *, is_untold: bool = False
) -> tuple[RecoveredEntry, ...]:
    """Return the entries that came back where the caller may read, and still are there.

    Args:
        memory: The memory.
        is_untold: Only those of which no command has told.
    """
    return tuple(
        returned.entry
        for returned in open_returned(memory.places.journal, memory.folder)
        if may_read(memory.caller, returned.entry.target)
        and not (is_untold and returned.is_told)
    )


def untold_entries(memory: Memory) -> tuple[RecoveredEntry, ...]:
    """Return those of which no command has told, and remember that this one does."""
    entries = returned_entries(memory, is_untold=True)
    journal = Journal(memory.places.journal, memory.places.notes)
    kept = len(open_returned(journal.folder, memory.folder))
    if entries or kept < len(read_returned(journal.folder)):
        # On a read-only disk they are told again.
        with suppress(HivemindError, OSError), journal.session(wait_s=_WAIT_S):
            keep_open(journal.folder, memory.folder, {one.id for one in entries})
    return entries
