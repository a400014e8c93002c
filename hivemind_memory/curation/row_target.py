"""Reads the memory that a row of the index is about, wherever it is by now."""

from __future__ import annotations

from hivemind_memory.curation.lookup import read_target
from hivemind_memory.model.curation import MEMORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.lookup import CurationTarget
    from hivemind_memory.model.memories import MemoryRow

_ATTEMPTS = 5
"""How often a memory is looked for that another process keeps moving."""


def read_row(
    context: CurationContext, row: MemoryRow, why: str = "named"
) -> CurationTarget | None:
    """Return the memory of a row as a target; None if it is gone.

    Another process may have moved it since the row was read, and given its file to the
    next version of its key. It is found by its id then, never taken for the other.
    """
    for _ in range(_ATTEMPTS):
        target = read_target(context, row.path, MEMORY, why)
        if not row.memory_id or (target is not None and target.id == row.memory_id):
            return target
        moved = context.index.fresh(is_lookup=True).memories(
            memory_id=row.memory_id, scopes=frozenset({row.scope})
        )
        if not moved:
            return None
        row = next((other for other in moved if other.path != row.path), moved[0])
    return None
