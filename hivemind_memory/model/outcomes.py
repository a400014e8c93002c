"""What a change to the memory did."""

from __future__ import annotations

from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import SkippedNote


@value
class Written:
    """An entry that is on the disk, synced."""

    path: NotePath
    id: str
    """ULID of the entry."""

    first_line: int
    last_line: int
    is_indexed: bool
    """A search finds it already; else the next one indexes it first."""

    warnings: tuple[str, ...] = ()


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

    skipped: tuple[SkippedNote, ...] = ()
    took_s: float = 0.0


@value
class EmbedResult:
    """What an embedding run did."""

    embedded: int = 0
    """Texts sent to the provider and stored."""

    from_cache: int = 0
    pending: int = 0
    """Texts still without a vector."""

    problem: str = ""
    """Why it stopped early; empty when it did not."""
