"""Says in words what a purge removes, or has removed, and where from."""

from __future__ import annotations

from hivemind_memory.model.curation import AffectedItem, PurgeCount
from hivemind_memory.model.display import count_text
from hivemind_memory.model.scope import SUPERSEDED, place_in_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PLACES = {
    "activity": ("recorded call of an agent", "recorded calls of agents"),
    "copies of sections": ("copy of such a section", "copies of such sections"),
    "earlier versions": ("of them an earlier version", "of them earlier versions"),
    "entries in notes": ("entry in a note", "entries in notes"),
    "free pages": ("unused page of the index", "unused pages of the index"),
    "half-written notes": ("half-written note", "half-written notes"),
    "hashes in git folders": ("hash in a git folder", "hashes in git folders"),
    "index": ("chunk in the index", "chunks in the index"),
    "injected sections": ("section in a worktree", "sections in worktrees"),
    "injection log": (
        "record of what agents were told",
        "records of what agents were told",
    ),
    "journal": ("text in the journal", "texts in the journal"),
    "key-value store": ("value of `hm kv`", "values of `hm kv`"),
    "language model": (
        "record of what the language model did",
        "records of what the language model did",
    ),
    "log of changes": ("recorded change", "recorded changes"),
    "namespaces": (
        "namespace with a copy in its metadata",
        "namespaces with a copy in their metadata",
    ),
    "notes": ("note", "notes"),
    "pending claims": ("of them in the inbox", "of them in the inbox"),
    "recall counters": ("recall counter", "recall counters"),
    "recalls by day": ("daily number of recalls", "daily numbers of recalls"),
    "references": ("reference in another note", "references in other notes"),
    "set-aside indexes": ("old index file", "old index files"),
    "skills": ("file of a skill", "files of skills"),
    "tombstones": (
        "text that will be refused from now on",
        "texts that will be refused from now on",
    ),
    "transcripts": ("message in a transcript", "messages in transcripts"),
    "typed memories": ("memory", "memories"),
    "uses": ("record of its use", "records of its use"),
    "vectors": ("vector", "vectors"),
}
"""Name of a place, as a purge reports it -> what is counted there, one and several."""

_WHY = {"older": "an earlier version", "inbox": "in the inbox", "copy": "the same text"}


def place_text(place: PurgeCount) -> str:
    """Return what a purge finds in a place, as a line of a list.

    >>> place_text(PurgeCount(name="index", count=3, unit="chunks with their postings"))
    '3 chunks in the index'
    """
    words = PLACES.get(place.name)
    if words is None:
        return f"{place.name}: {place.count:,} {place.unit}"
    # A skill says how many of its files were edited by hand.
    _, comma, more = place.unit.partition(", ")
    return count_text(place.count, *words) + (
        comma + more if place.name == "skills" else ""
    )


def count_removed(items: Iterable[AffectedItem]) -> int:
    """Return how many memories a purge removes; earlier versions are none."""
    return sum(place_in_scope(item.path) != SUPERSEDED for item in items)


def why_text(item: AffectedItem) -> str:
    """Return why something is purged that was not named; empty: it was."""
    return _WHY.get(item.why, "")
