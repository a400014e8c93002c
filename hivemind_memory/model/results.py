"""Results of writing, syncing, embedding, listing, status and doctor.

What the memory reports about itself.
"""

from __future__ import annotations

from hivemind_memory.model.scope import INBOX, place_in_scope
from hivemind_memory.model.value import replaced, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import SkippedNote

RECOVERY_WINDOW_S = 600.0
"""An entry that vanishes so soon after its writing comes back once."""

RECOVERY_WINDOW = f"{RECOVERY_WINDOW_S / 60:g} minutes"
"""The same, as people read it."""

LARGE_UNINDEXED = "it is large and not indexed yet; the next search indexes it"
"""Reason why ``hm status`` lists a note that a search does not wait for."""

NOT_RECORDED = (
    "the log of changes cannot be written now, so `hm undo` does not know this change;"
    " `hm forget` hides it"
)


@value
class WriteResult:
    """An entry that is on the disk, synced."""

    path: NotePath
    id: str
    """ULID of the entry."""

    start_line: int
    end_line: int
    is_indexed: bool
    """A search finds it already; else the next one indexes it first."""

    scope: str = ""
    """Where it was saved, ``projects/shop``; empty: the global scope."""

    warnings: tuple[str, ...] = ()


def pending_notice(path: str) -> tuple[str, ...]:
    """Return what to say of a text in an inbox: it waits; else nothing."""
    if place_in_scope(path) != INBOX:
        return ()
    what = f"it waits in {path} for a person to accept it: `hm inbox` lists it"
    return (f"{what}; searches leave it out",)


@value
class RecoveredEntry:
    """An entry that was removed soon after its writing and is back."""

    id: str
    path: NotePath
    """The note that it vanished from."""

    target: NotePath
    """The note that it is in now."""

    @property
    def notice(self) -> str:
        """The notice about it, with the command that undoes it."""
        return (
            f"an entry that was removed from {self.path} within {RECOVERY_WINDOW}"
            f" is back in {self.target}; `hm forget {self.id}` hides it"
        )


@value
class SyncResult:
    """What a sync or a rebuild did."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    """Chunks written to the index."""

    recovered: int = 0
    """Acknowledged entries that had vanished from their note and were put back."""

    recovered_entries: tuple[RecoveredEntry, ...] = ()

    skipped: tuple[SkippedNote, ...] = ()
    took_s: float = 0.0

    def followed_by(self, later: SyncResult) -> SyncResult:
        """Return what this sync and a *later* one did together."""
        changed = self.added + self.updated
        return replaced(
            later,
            added=self.added + later.added,
            updated=self.updated + later.updated,
            removed=self.removed + later.removed,
            unchanged=max(0, later.unchanged - changed),
            chunks=self.chunks + later.chunks,
            recovered=self.recovered + later.recovered,
            recovered_entries=(*self.recovered_entries, *later.recovered_entries),
        )


@value
class EmbedResult:
    """What an embedding run did."""

    embedded: int = 0
    """Texts sent to the provider and stored."""

    from_cache: int = 0
    pending: int = 0
    """Chunks still without a vector, as ``hm status`` counts them."""

    problem: str = ""
    """Why it stopped early; empty when it did not."""


@value
class NoteLines:
    """Lines of one note."""

    path: NotePath
    start_line: int
    end_line: int
    """0 lines: ``start_line - 1``."""

    text: str
    line_count: int
    """Lines of the whole note."""


@value
class ListedNote:
    """One line of ``hm list``."""

    path: NotePath
    size_bytes: int
    updated_at: str
    """ISO 8601, local time with offset."""

    chunk_count: int
    title: str = ""
    """Its first heading, else the first line of its text; empty: it holds none."""


@value
class MemoryStatus:
    """What ``hm status`` prints."""

    memory_dir: str
    index_file: str
    notes: int
    chunks: int
    index_bytes: int
    provider: str
    """openai, ollama, local or none, with the model."""

    provider_reason: str
    """Why it is this one."""

    vectors: int
    pending_vectors: int
    retrievers: tuple[str, ...]
    leader: str
    """Who leads: ``pid 123``, or empty."""

    stale_notes: int
    """Changed since the index saw them."""

    vectors_problem: str = ""
    """Why the provider does not answer or chunks have no vector yet, and what to do;
    empty: all have one, or none is to have one."""

    skipped: tuple[SkippedNote, ...] = ()
    not_utf8: tuple[NotePath, ...] = ()
    """Notes whose bytes are not UTF-8, so that some letters are not found."""

    unsettled_entries: int = 0
    """Acknowledged entries still in the journal's ten minutes."""

    forgotten_notes: int = 0
    """Of the notes: forgotten memories, which lists of notes leave out."""


@value
class Finding:
    """One thing that ``hm doctor`` checked."""

    name: str
    is_ok: bool
    detail: str
    hint: str = ""
    """What to do; empty when all is well."""


@value
class Diagnosis:
    """All that ``hm doctor`` found."""

    findings: tuple[Finding, ...] = ()

    @property
    def is_healthy(self) -> bool:
        """Nothing needs attention."""
        return all(finding.is_ok for finding in self.findings)
