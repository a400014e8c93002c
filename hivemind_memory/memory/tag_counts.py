"""Counts the tags of what a caller may see."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.memory.memory import Memory


def count_tags(memory: Memory, **narrowing: Any) -> list[tuple[str, int]]:
    """Return each tag with how many notes and entries have it, most common first.

    Args:
        memory: Sees what its caller may see.
        narrowing: What is counted; see ``filter_parser.parse_filter``.

    Raises:
        HivemindError: There is no such scope or folder.
    """
    search_filter = memory.parse_filter(**narrowing)
    today = memory.clocks.today()
    counts = memory.index_handle.run_fresh(
        lambda index: index.view(memory.access, search_filter, today).tag_counts()
    )
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
