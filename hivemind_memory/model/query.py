"""A query, its answer, and the settings of a search.

How an answer is made, as the settings say. Apart: a sync needs nothing else.
"""

from __future__ import annotations

from hivemind_memory.model.filters import DEFAULT_FILTER, SearchFilter
from hivemind_memory.model.value import replaced, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DEFAULT_HITS = 10
"""Hits of a search that asks for no number."""

ANSWER_TIMEOUT_S = 1.8
"""How long providers may take: every query is answered within 2 s."""

STRONG, WEAK, NONE = "strong", "weak", "none"
"""How much an answer can be relied on; see ``SearchReport.confidence``."""


@value
class Query:
    """What a person or an agent asks."""

    text: str
    """Any text at all; it never has to follow a syntax."""

    max_results: int = DEFAULT_HITS
    """Maximum number of hits, at least 1."""

    min_score: float | None = None
    """Relevance in 0..1 that a hit must have; None: as the settings say."""

    should_explain: bool = False
    """Each hit says how its score was calculated."""

    search_filter: SearchFilter = DEFAULT_FILTER
    """What it narrows itself to: types, a scope, days; or asks for: the inbox."""

    keeps_repetitions: bool = False
    """Hits that repeat an earlier one are hits too, not only named by it."""

    is_literal: bool = False
    """Words that no note holds stay so: none is corrected, or taken for a part of
    another one. For queries that no person sees the answer of."""


@value
class ScorePart:
    """One summand or factor of a score, as ``--explain`` shows it."""

    name: str
    """words, vectors, age, importance …"""

    value: float
    """What it adds to the score; all parts of a hit add up to it."""

    note: str = ""
    """The figures behind it, for a person."""


@value
class Hit:
    """One chunk, or several that overlap, as the caller gets it."""

    path: str
    start_line: int
    end_line: int
    score: float
    """Relevance times age and importance, 0..1; hits come in descending order of it."""

    relevance: float
    """What ``min_score`` judged, 0..1."""

    snippet: str
    """The lines as they are in the note."""

    headings: tuple[str, ...] = ()
    date: str = ""
    """Day of the entry, ISO 8601; empty if unknown."""

    retrievers: tuple[str, ...] = ()
    """words, vectors or both."""

    id: str = ""
    """ULID of the memory or the entry; empty: a person's free text."""

    type: str = ""
    """Of a typed memory; empty: free text."""

    key: str = ""
    scope: str = ""
    """``projects/shop`` and the like; empty: global."""

    status: str = "active"
    """active, superseded, or pending (an untrusted claim in the inbox)."""

    superseded_by: str = ""
    """Path of the newest memory that replaced it; empty: none that the caller sees."""

    source: str = ""
    """human, agent, tool or external (the last two untrusted); empty: unknown."""

    untrusted: bool = False
    """It is only a claim: pending, or from one of these two sources."""

    disputed_by: str = ""
    """Place of the newer memory that says otherwise; empty: nothing does."""

    reason: str = ""
    """Why it replaced an earlier memory, if a word of the query is only there;
    else empty."""

    source_ref: str = ""
    """What it was derived from."""

    claim: Mapping[str, str] = {}
    """Of a claim: confidence, corroborated, domains and verified, as written."""

    confidence: float = 0.0
    """How likely it answers the query, 0..1: of hits with 0.8, four of five do; 0
    where nothing was asked."""

    also_in: tuple[str, ...] = ()
    """Other places with the same text, ``path:first-last``, as far as the caller may
    read it."""

    parts: tuple[ScorePart, ...] = ()
    """Empty unless the query asked for them; they add up to the score."""


@value
class DroppedCandidates:
    """How many candidates did not become hits, and why."""

    below_min_score: int = 0
    superseded: int = 0
    """What replaced them is among the hits."""

    overlapping: int = 0
    near_copies: int = 0
    same_text: int = 0
    """A hit names them, as ``also_in``."""

    over_limit: int = 0


@value
class SearchReport:
    """How strong the answer is."""

    mode: str
    """hybrid or keyword; list: the query had no words, so all that fits the filters
    is shown, the newest first; off."""

    reason: str
    """Why not hybrid; empty when it is."""

    is_fresh: bool
    """Every change finished before the query is in the answer."""

    why_empty: str = ""
    """Why nothing was found; empty when something was."""

    confidence: str = ""
    """strong; weak: the hits seldom answer such a query; none: nothing is known,
    the hits are only the nearest there is. Empty where nothing was asked."""

    stale_notes: int = 0
    """Notes that changed and are not yet indexed; 0 when fresh."""

    skipped_notes: int = 0
    """Files that could not be read; ``hm status`` names them."""

    pending_vectors: int = 0
    """Chunks that have no vector yet."""

    retrievers: tuple[str, ...] = ()
    ignored_terms: int = 0
    """Terms of the query beyond the first 64 that count."""

    suggestions: tuple[str, ...] = ()
    """Words of the memory near to words of the query that it does not have."""

    cut: DroppedCandidates = DroppedCandidates()
    warnings: tuple[str, ...] = ()
    took_ms: float = 0.0


@value
class SearchAnswer:
    """Hits, best first, and how strong the answer is."""

    hits: tuple[Hit, ...]
    report: SearchReport

    @property
    def is_unknown(self) -> bool:
        """Whether the hits are only the nearest there is, and no answer."""
        return bool(self.hits) and self.report.confidence == NONE

    @property
    def is_weak(self) -> bool:
        """Whether such hits seldom answer such a query."""
        return bool(self.hits) and self.report.confidence == WEAK

    def with_warnings(self, more: Iterable[str]) -> SearchAnswer:
        """Return the answer with further warnings in its report."""
        warnings = (*self.report.warnings, *more)
        if warnings == self.report.warnings:
            return self
        return replaced(self, report=replaced(self.report, warnings=warnings))


@value
class SearchSettings:
    """How hits are found, fused, weighed and cut: each a key of config.json."""

    min_score: float = 0.3
    """Relevance, before age and importance, under which a candidate is not a hit."""

    fusion: str = "standardised"
    """standardised, weighted or rrf."""

    vector_weight: float = 0.4
    """Share of the vector retriever in ``standardised`` fusion, 0..1."""

    weighted_vector_weight: float = 0.6
    """Share of the vector retriever in ``weighted`` fusion, 0..1."""

    half_life_days: float = 69.3147
    """Days after which age has taken half of what it may take: ln 2 / 0.01."""

    decay_floor: float = 0.9
    """The least that age leaves of a score, 0..1; 0: age may take all of it."""

    nearness_weight: float = 1.0
    """How much it counts that a memory was kept for the caller, 0..1; 0: nothing."""

    diversity: bool = False
    """Maximal marginal relevance over the hits."""

    diversity_lambda: float = 0.7
    """Share of relevance against novelty, 0..1, where ``diversity`` is on."""

    chunk_chars: int = 800
    """Characters of a chunk at most, and of hits that are joined."""
