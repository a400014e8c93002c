"""Reads how often memories were recalled."""

from __future__ import annotations

from hivemind_memory.errors import HivemindError
from hivemind_memory.model.curation import RecallCounts
from hivemind_memory.state.recall_log import RecallLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.model.curation import StoredMemory
    from hivemind_memory.model.scope import ScopedId


def recalls_of(
    context: CurationContext, memories: Collection[StoredMemory]
) -> dict[ScopedId, tuple[int, int]]:
    """Return (how often, when last in s) of those memories that ever were recalled."""
    log = RecallLog(context.state())
    if old := log.unscoped([memory.id for memory in memories]):
        _settle(context, log, old)
    return log.counts([(memory.scope, memory.id) for memory in memories if memory.id])


def recall_times(
    context: CurationContext, memories: Collection[StoredMemory]
) -> dict[ScopedId, RecallCounts]:
    """Return how often and when memories were recalled, of those that ever were."""
    local_iso = context.clocks.local_iso
    return {
        ref: RecallCounts(
            access_count=count, last_accessed_at=local_iso(last) if last else ""
        )
        for ref, (count, last) in recalls_of(context, memories).items()
    }


def _settle(context: CurationContext, log: RecallLog, refs: Collection[str]) -> None:
    """Give counters from before they had a scope that of the note with their id.

    If notes of several scopes have it, it is not known whose counter it was.
    """
    try:
        index = context.index.fresh(is_lookup=True)
        found = {ref: index.scopes_with(ref) for ref in refs}
    except HivemindError:  # they wait
        return
    log.settle(
        {
            ref: next(iter(scopes)) if len(scopes) == 1 else None
            for ref, scopes in found.items()
            if scopes
        }
    )
