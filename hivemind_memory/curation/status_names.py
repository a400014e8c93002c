"""Names the status of a memory on a day: what is active may be expired or done."""

from __future__ import annotations

from hivemind_memory.model.memories import (
    ACTIVE,
    FORGOTTEN,
    PENDING,
    STATUSES,
    SUPERSEDED,
)
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.memory_header import day_of_iso, is_done, is_expired_or_done

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.memories import MemoryRow

_NAMES = {SUPERSEDED: "superseded", PENDING: "pending", FORGOTTEN: "forgotten"}


def status_name(row: MemoryRow, today: int) -> str:
    """Return the status of a memory: active, pending, expired, done and so on."""
    if row.status in _NAMES:
        return _NAMES[row.status]
    return _name_of(row.expires_day, row.done_day, today)


def as_of(memory: StoredMemory, today: int) -> StoredMemory:
    """Return a memory with its status on a day."""
    if memory.status != STATUSES[ACTIVE]:
        return memory
    # Only what has a type can be done.
    done_day = _first_day(memory.done) if memory.type else None
    return replaced(
        memory, status=_name_of(_first_day(memory.expires), done_day, today)
    )


def _name_of(expires_day: int | None, done_day: int | None, today: int) -> str:
    """Return the status of what nothing else hides."""
    if is_done(done_day, today=today):
        return "done"
    is_expired = is_expired_or_done(expires_day, None, today=today)
    return "expired" if is_expired else STATUSES[ACTIVE]


def _first_day(text: str) -> int | None:
    """Return the day that a front matter names; ``true`` means long ago."""
    return 0 if text == "true" else day_of_iso(text)
