"""Asks the retrievers of the index: candidates for a query, not yet ranked."""

from __future__ import annotations

from hivemind_memory.memory.query_forms import with_forms
from hivemind_memory.memory.same_text import shown_text
from hivemind_memory.model.filters import DEFAULT_FILTER
from hivemind_memory.model.matches import QueryVector
from hivemind_memory.model.terms import query_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from hivemind_memory.index.port import Index, IndexView
    from hivemind_memory.model.curation import TextCandidate
    from hivemind_memory.model.filters import Access
    from hivemind_memory.model.matches import ChunkLocation, VectorMatches, WordMatches


WORD_CANDIDATES = 25
"""Candidates for ten hits of a search by words alone: what the rough ranking puts
lower never makes the top ten (docs/quality.md)."""

FUSED_WORD_CANDIDATES = 40

FUSED_VECTOR_CANDIDATES = 100
"""Candidates of each retriever when both are used: one may lift what the other ranks
low."""

WANTED_FACTOR = 2
"""Candidates of each retriever for every hit that is wanted, if that is more."""

NEAR_CANDIDATES = 5
"""More candidates from scopes near to the caller, or half of what is wanted: each
costs time."""

MAX_SIMILAR = 10
"""Chunks that are compared with a text before it is saved."""

MAX_SIMILAR_CHARS = 1_000
"""Characters of that text that are looked up."""


class RetrievedCandidates:
    """What both retrievers found."""

    __slots__ = (
        *("corrected", "corrections", "has_more", "ignored", "places", "vectors"),
        "words",
    )

    def __init__(
        self,
        words: WordMatches,
        vectors: VectorMatches | None,
        places: dict[int, ChunkLocation],
        ignored: int,
        *,
        has_more: bool,
    ) -> None:
        self.words = words
        self.vectors = vectors
        self.places = places
        self.ignored = ignored
        self.has_more = has_more
        self.corrections: dict[str, str] = {}
        """Misspelled word -> the word of the notes that was looked up instead."""

        self.corrected: frozenset[str] = frozenset()
        """Those words of the notes, without what the query has as well."""


def retrieve(
    index: Index,
    text: str,
    query_vector: QueryVector,
    *,
    wanted: int,
    view: IndexView,
    near: Collection[str] = (),
    is_literal: bool = False,
) -> RetrievedCandidates:
    """Return what the retrievers of the index find for a query.

    Args:
        index: What answers.
        text: The query.
        query_vector: Its vector, or why there is none.
        wanted: Hits that are wanted.
        view: The index as this query sees it.
        near: Scopes of the caller, of which more is looked up if the words are common.
        is_literal: See ``Query``.
    """
    is_alone = query_vector.vector is None
    word_limit = WORD_CANDIDATES if is_alone else FUSED_WORD_CANDIDATES
    word_limit = max(word_limit, WANTED_FACTOR * wanted)
    vector_limit = max(FUSED_VECTOR_CANDIDATES, WANTED_FACTOR * wanted)
    terms, ignored = query_terms(text)
    terms = with_forms(view, terms, text)
    words = view.find_words(terms, limit=word_limit, only_if_all_known=not is_literal)
    corrections: dict[str, str] = {}
    chances: frozenset[str] = frozenset()
    if not is_literal and _has_unknown(words):
        from hivemind_memory.memory.unknown_words import (
            with_corrections,
            with_longer_words,
        )

        more, corrections = with_corrections(view.vocabulary(), terms, words)
        if corrections:
            terms = tuple(more)
            words = view.find_words(terms, limit=word_limit, only_if_all_known=True)
        if _has_unknown(words):
            more, chances = with_longer_words(view.vocabulary(), terms, words)
            words = view.find_words(more or terms, limit=word_limit)
    if near and len(words.candidates) >= word_limit:
        # The rough ranking knows no scope: where hundreds of notes share a word, it
        # cuts off what was kept for the caller.
        limit = max(NEAR_CANDIDATES, wanted // 2)
        more_near = view.find_near_words(words, near, limit=limit)
        if more_near:
            words = words._replace(candidates=[*words.candidates, *more_near])
    has_more = len(words.candidates) >= word_limit
    places = {found.place.chunk_id: found.place for found in words.candidates}
    vectors = None
    if query_vector.vector is not None:
        vectors = view.find_vectors(
            query_vector.fingerprint,
            query_vector.vector,
            limit=vector_limit,
            also=list(places),
        )
        if vectors is not None:
            has_more |= len(vectors.cosines) >= vector_limit
            new = [chunk for chunk in vectors.cosines if chunk not in places]
            places.update(index.chunk_locations(new))
    found = RetrievedCandidates(words, vectors, places, ignored, has_more=has_more)
    found.corrections = corrections
    guessed = chances.union(corrections.values())
    asked = query_terms(text).terms if guessed else ()
    found.corrected = guessed.difference(term.text for term in asked)
    return found


def _has_unknown(words: WordMatches) -> bool:
    """Return whether no note holds one of the words that were asked for."""
    return any(not term.chunks for term in words.asked)


def find_similar(
    index: Index, text: str, *, access: Access, today: int
) -> list[TextCandidate]:
    """Return chunks that share words with a text, the likeliest to say the same first.

    Args:
        index: What to look in.
        text: The text; only its beginning is compared.
        access: What the caller may see.
        today: Days since the epoch.
    """
    from hivemind_memory.model.curation import TextCandidate

    terms, _ = query_terms(text[:MAX_SIMILAR_CHARS])
    with index.snapshot():
        view = index.view(access, DEFAULT_FILTER, today)
        found = view.find_words(terms, limit=MAX_SIMILAR)
        texts = index.texts(
            [candidate.place.chunk_id for candidate in found.candidates]
        )
    places = [
        candidate.place
        for candidate in found.candidates
        if candidate.place.chunk_id in texts
    ]
    return [
        TextCandidate(
            place.path,
            place.start_line,
            place.end_line,
            shown_text(texts[place.chunk_id][0]),
        )
        for place in places
    ]
