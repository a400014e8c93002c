"""Counts what waits in the inbox."""

from __future__ import annotations

from hivemind_memory.access.rules import access_of

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
    access = access_of(memory.caller, memory.settings.private_scopes())

    def count(index: Index) -> int:
        return index.view(access).pending_claims()

    handle = memory.index_handle
    return handle.run_fresh(count) if is_fresh else count(handle.opened().index)
