"""The matches that the retrievers return: counts and cosines, not yet scores."""

from __future__ import annotations

from hivemind_memory.model.late_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class ChunkLocation(NamedTuple):
    """Where a chunk stands and how old it is."""

    chunk_id: int
    path: str
    start_line: int
    end_line: int
    day: int | None
    """Days since the epoch; None: no date, and it does not age."""

    entry_id: str | None = None
    """ULID of its entry; None: a person's text, or a memory of its own file."""

    scope: str = ""
    status: int = 0
    """See ``model.memories``."""

    ages: int = 1
    """0: it keeps its raw score whatever its day is."""

    importance: float | None = None
    """0..1; None: free text."""

    type: str | None = None
    key: str | None = None
    memory_id: str | None = None
    note_source: str | None = None
    """As the front matter names it."""

    entry_source: str | None = None
    """As the comment of its entry names it."""


class HitDetails(NamedTuple):
    """What a memory says of itself besides its text."""

    reason: str
    """Why it replaced an earlier one."""

    source_ref: str
    claim: str
    """``name=value``, one a line; see ``model.memories``."""


class WordForm(NamedTuple):
    """Another form of a word of the query, which some note holds."""

    text: str
    tokens: tuple[str, ...]
    chunks: int
    """How many chunks hold it."""


class TermCount(NamedTuple):
    """A term of the query and how common it is among the notes."""

    text: str
    tokens: tuple[str, ...]
    """What the index makes of it; several for a phrase."""

    chunks: int
    """How many chunks hold it or one of its forms; 0: none."""

    is_phrase: bool
    is_generic: bool = False
    """It says little in any text, and counts half."""

    forms: tuple[WordForm, ...] = ()
    """Its other forms, as far as some chunk holds them."""


class WordCandidate(NamedTuple):
    """What the retriever of words saw in one chunk.

    Terms are numbered in the order of ``WordMatches.known``.
    """

    place: ChunkLocation
    counts: list[tuple[int, float]]
    """For each term: how often in the text; how often in the breadcrumbs, and half as
    much for each time in the reason."""

    length: int
    """Tokens of the text, extra terms included."""

    breadcrumbs_length: int
    """Tokens of the breadcrumbs: headings, path, title."""

    subchunks: list[tuple[int, dict[int, int]]]
    """For each bullet or paragraph that holds a term: its tokens, and how often it
    holds which term. Empty for a chunk of one subchunk."""

    reason_length: int = 0
    """Tokens of the reason for which the memory replaced another."""

    is_by_reason: bool = False
    """A term is in that reason and nowhere else in the chunk."""


class WordMatches(NamedTuple):
    """What the retriever of words found."""

    asked: tuple[TermCount, ...] = ()
    """Every term of the query, each once."""

    known: tuple[TermCount, ...] = ()
    """Those that some chunk holds."""

    chunk_count: int = 0
    """Chunks in the index; 0 when nothing was found."""

    mean_length: float = 0.0
    """Mean tokens of the text of a chunk."""

    mean_breadcrumbs_length: float = 0.0
    """Mean tokens of the breadcrumbs of a chunk."""

    candidates: Sequence[WordCandidate] = ()
    """Best first, by a rough ranking."""


class VectorMatches(NamedTuple):
    """What the retriever of vectors found."""

    cosines: dict[int, float]
    """Chunk -> cosine with the query, for its own best candidates and for every
    candidate of the other retriever that has a vector."""

    subchunk_cosines: dict[int, float]
    """Chunk -> cosine of its best subchunk; a chunk of one subchunk is its own."""

    background: float
    """Mean cosine of the query with all chunks: what an unrelated text has."""

    deviation: float
    """Standard deviation of the cosines with all chunks."""

    chunk_count: int
    """Chunks that have a vector."""


class QueryVector(NamedTuple):
    """The vector of a query, or why there is none."""

    vector: bytes | None
    fingerprint: str
    """The space it belongs to, or would; empty: no provider is known."""

    reason: str
    """Why there is none; empty when there is one."""
