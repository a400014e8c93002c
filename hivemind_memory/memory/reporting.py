"""What ``hm status`` tells."""

from __future__ import annotations

import os

from hivemind_memory.model.answers import MemoryStatus
from hivemind_memory.model.snapshot import IndexedFiles, SkippedNote
from hivemind_memory.notes.os_locks import KernelLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.embeddings.provider import Provider
    from hivemind_memory.memory.opening import OpenIndex
    from hivemind_memory.memory.places import Places
    from hivemind_memory.memory.syncing import Syncer


def status_of(
    places: Places,
    opened: OpenIndex,
    syncer: Syncer,
    provider: Provider,
    now_s: float,
) -> MemoryStatus:
    """Return the state of a memory; changes nothing."""
    index = opened.index
    known = index.files()
    # A note too young to be sure of is not behind: the next search reads it.
    certain = IndexedFiles(stamps=known.stamps)
    changes, look = syncer.look_for_changes(certain)
    vectors, pending, name, reason = _vectors(opened, provider)
    return MemoryStatus(
        memory_dir=places.notes,
        index_file=index.path,
        notes=len(known.stamps),
        chunks=index.count_chunks(),
        index_bytes=_size(index.path),
        provider=name,
        provider_reason=reason,
        vectors=vectors,
        pending_vectors=pending,
        lanes=("words", "vectors") if vectors else ("words",),
        leader=KernelLock(places.leader_lock).holder(),
        stale_notes=len(changes.changed) + len(changes.gone),
        skipped=_skipped(opened, look.skipped),
        unsettled_entries=_unsettled(places, now_s),
    )


def _vectors(opened: OpenIndex, provider: Provider) -> tuple[int, int, str, str]:
    """Return chunks with and without a vector, the provider, and why it is that one."""
    if provider.is_off:
        return 0, 0, "none", provider.choice().reason
    space = provider.space()
    if space is None:
        return 0, 0, "none", provider.choice().reason
    store = opened.index.vector_store()
    return (
        store.count_vectors(space.fingerprint),
        store.count_pending_chunks(space.fingerprint),
        f"{space.provider} {space.model}",
        provider.choice().reason,
    )


def _skipped(
    opened: OpenIndex, skipped: tuple[SkippedNote, ...]
) -> tuple[SkippedNote, ...]:
    """Return what was passed over, a stand-in for the index among it."""
    if opened.warning:
        return (SkippedNote(path=".index", reason=opened.warning), *skipped)
    return skipped


def _size(path: str) -> int:
    """Return the bytes of the index file and its log."""
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += os.stat(path + suffix).st_size
        except OSError:
            continue
    return total


def _unsettled(places: Places, now_s: float) -> int:
    """Return how many acknowledged entries are in their ten minutes."""
    from hivemind_memory.notes.unsettled import has_unsettled

    if not has_unsettled(places.journal):
        return 0
    from hivemind_memory.notes.journal import Journal

    return Journal(places.journal).count_unsettled(now_s)
