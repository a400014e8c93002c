"""The recovered entries that a caller may see; see ``notes.recovered_entries``."""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import HivemindError
from hivemind_memory.notes.journal import Journal
from hivemind_memory.notes.recovered_entries import (
    keep_open,
    open_recovered,
    read_recovered,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.model.results import RecoveredEntry

_WAIT_S = 1.0
"""A command waits no longer than this just to avoid a second report."""


def recovered_entries(
    memory: Memory, *, is_unreported: bool = False
) -> tuple[RecoveredEntry, ...]:
    """Return the recovered entries that the caller may read and that are still there.

    Args:
        memory: The memory.
        is_unreported: Only those that no command has reported.
    """
    return tuple(
        record.entry
        for record in open_recovered(memory.places.journal, memory.folder)
        if may_read(memory.caller, record.entry.target)
        and not (is_unreported and record.is_reported)
    )


def unreported_entries(memory: Memory) -> tuple[RecoveredEntry, ...]:
    """Return the entries that no command has reported, and mark them as reported."""
    entries = recovered_entries(memory, is_unreported=True)
    journal = Journal(memory.places.journal, memory.places.notes)
    kept = len(open_recovered(journal.folder, memory.folder))
    if entries or kept < len(read_recovered(journal.folder)):
        # On a read-only disk they are reported again.
        with suppress(HivemindError, OSError), journal.session(wait_s=_WAIT_S):
            keep_open(journal.folder, memory.folder, {entry.id for entry in entries})
    return entries
