"""Hides secrets in memories from all but their owner, as ``memory.read`` does.

An agent may read through its own server or run ``hm`` in its shell: both get the same,
and so does a program that sees every scope.
"""

from __future__ import annotations

from hivemind_memory.model.memories import FORGOTTEN, STATUSES
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.listing import WrittenItem


def memories_for(
    caller: Caller, memories: Iterable[StoredMemory]
) -> tuple[StoredMemory, ...]:
    """Return memories as a caller may see them.

    Only their owner sees secrets, and the text of what is forgotten: to all others a
    note has blank lines there.
    """
    if caller.sees_secrets:
        return tuple(memories)
    from hivemind_memory.redaction import mask

    forgotten = STATUSES[FORGOTTEN]
    return tuple(
        replaced(
            memory,
            key=mask(memory.key),
            text="" if memory.status == forgotten else mask(memory.text),
            supersedes=tuple(map(mask, memory.supersedes)),
            superseded_by=mask(memory.superseded_by),
            expires=mask(memory.expires),
            by=mask(memory.by),
            session=mask(memory.session),
            source_ref=mask(memory.source_ref),
            reason=mask(memory.reason),
            tags=tuple(map(mask, memory.tags)),
            claim={name: mask(value) for name, value in memory.claim.items()},
            more={name: mask(value) for name, value in memory.more.items()},
        )
        for memory in memories
    )


def items_for(caller: Caller, items: Iterable[WrittenItem]) -> tuple[WrittenItem, ...]:
    """Return what was written as a caller may see it: only the owner sees secrets."""
    if caller.sees_secrets:
        return tuple(items)
    from hivemind_memory.redaction import mask

    return tuple(
        replaced(
            item,
            key=mask(item.key),
            text=mask(item.text),
            by=mask(item.by),
            session=mask(item.session),
        )
        for item in items
    )


def masked(name: str) -> str:
    """Return a name from the index, which older rules may have indexed."""
    from hivemind_memory.redaction import mask

    return mask(name)
