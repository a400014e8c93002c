"""Counts what waits in the inbox."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory import Memory


def count_pending(memory: Memory, *, is_fresh: bool) -> int:
    """Return how many pending claims the caller of a memory may see.

    Args:
        memory: The memory.
        is_fresh: Look for changes of the notes first; not needed after a search.
    """

    def count(index: Index) -> int:
        if not index.has_pending():
            return 0
        from hivemind_memory.access.rules import access_of
        from hivemind_memory.model.memories import PENDING

        access = access_of(memory.caller, memory.settings.private_scopes())
        return len(index.memories(scopes=access.scopes, statuses=(PENDING,)))

    handle = memory.index_handle
    return handle.run_fresh(count) if is_fresh else count(handle.opened().index)
