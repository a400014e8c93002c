"""What the memory tells of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import SkippedNote


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Lines of one note."""

    path: NotePath
    start_line: int
    end_line: int
    """0 lines: ``start_line - 1``."""

    text: str
    line_count: int
    """Lines of the whole note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNote:
    """One line of ``hm list``."""

    path: NotePath
    size_bytes: int
    updated_at: str
    """ISO 8601, local time with offset."""

    chunk_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStatus:
    """What ``hm status`` tells."""

    memory_dir: str
    index_file: str
    notes: int
    chunks: int
    index_bytes: int
    provider: str
    """openai, ollama or none, with the model."""

    provider_reason: str
    """Why it is this one."""

    vectors: int
    pending_vectors: int
    lanes: tuple[str, ...]
    leader: str
    """Who leads: ``pid 123``, or empty."""

    stale_notes: int
    """Changed since the index saw them."""

    skipped: tuple[SkippedNote, ...] = ()
    unsettled_entries: int = 0
    """Acknowledged entries still in the journal's ten minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that ``hm doctor`` looked at."""

    name: str
    is_ok: bool
    detail: str
    hint: str = ""
    """What to do; empty when all is well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All that ``hm doctor`` found."""

    findings: tuple[Finding, ...] = field(default=())

    @property
    def is_healthy(self) -> bool:
        """Nothing needs a hand."""
        return all(finding.is_ok for finding in self.findings)
