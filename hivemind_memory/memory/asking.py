"""One question from text to hits: the flow of design, step by step.

The steps themselves are pure and live in ``search``; here they are called in order,
with what the index finds.
"""

from __future__ import annotations

from hivemind_memory.model.query import Cut, Hit, SearchAnswer, SearchReport
from hivemind_memory.model.terms import Term, question_terms
from hivemind_memory.search.choosing import choose
from hivemind_memory.search.ranking import rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.index.sqlite.index import SqliteIndex
    from hivemind_memory.memory.vectoring import QuestionVector
    from hivemind_memory.model.matches import Place, VectorMatches, WordMatches
    from hivemind_memory.model.query import Part, Query, SearchSettings
    from hivemind_memory.search.choosing import Choice

WORD_CANDIDATES = 60
VECTOR_CANDIDATES = 50
"""Candidates of each lane. The judged questions lose nothing to more; a reranker of
the first 50 could reach .93 (docs/quality.md)."""

PART_MIN_CHARS = 3
PARTS_OF_WORD = 5
"""A word that no note holds is looked up as a part of so many longer words."""


class Lanes:
    """What both lanes found."""

    __slots__ = ("ignored", "places", "vectors", "words")

    def __init__(
        self,
        words: WordMatches,
        vectors: VectorMatches | None,
        places: dict[int, Place],
        ignored: int,
    ) -> None:
        self.words = words
        self.vectors = vectors
        self.places = places
        self.ignored = ignored


def look_up(index: SqliteIndex, text: str, question: QuestionVector) -> Lanes:
    """Return what the lanes of the index find for a question."""
    terms, ignored = question_terms(text)
    words = index.find_words(terms, limit=WORD_CANDIDATES)
    unknown = {term.text for term in words.asked if not term.chunks}
    if unknown:
        more = _with_longer_words(index, terms, unknown)
        if more:
            words = index.find_words(more, limit=WORD_CANDIDATES)
    places = {found.place.chunk_id: found.place for found in words.candidates}
    vectors = None
    if question.vector is not None:
        lane = index.vector_lane(question.fingerprint)
        vectors = lane.find(question.vector, limit=VECTOR_CANDIDATES, also=list(places))
        if vectors is not None:
            new = [chunk for chunk in vectors.cosines if chunk not in places]
            places.update(index.places(new))
    return Lanes(words, vectors, places, ignored)


def answer(
    index: SqliteIndex,
    query: Query,
    lanes: Lanes,
    *,
    settings: SearchSettings,
    today: int,
) -> SearchAnswer:
    """Return the hits for *query*; the report tells only what is known here."""
    ranking = rank(
        lanes.words, lanes.vectors, lanes.places, settings=settings, today=today
    )
    texts: dict[int, tuple[str, str]] = {}

    def read(chunks: Sequence[int]) -> dict[int, str]:
        texts.update(index.texts(chunks))
        return {chunk: text for chunk, (text, _) in texts.items()}

    choice = choose(
        ranking.ranked,
        read,
        limit=max(1, query.max_results),
        diversity=settings.diversity_lambda if settings.diversity else None,
    )
    missing = [
        chosen.ranked.place.chunk_id
        for chosen in choice.hits
        if chosen.ranked.place.chunk_id not in texts
    ]
    if missing:
        read(missing)
    report = SearchReport(
        mode="keyword" if lanes.vectors is None else "hybrid",
        reason="",
        is_fresh=True,
        lanes=("words",) if lanes.vectors is None else ("words", "vectors"),
        ignored_terms=lanes.ignored,
        cut=Cut(
            below_min_score=ranking.below_min_score,
            overlapping=choice.overlapping,
            near_copies=choice.near_copies,
            over_limit=choice.over_limit,
        ),
    )
    return SearchAnswer(hits=_hits(choice, texts, query), report=report)


def suggest(index: SqliteIndex, words: WordMatches) -> tuple[str, ...]:
    """Return words of the memory near to words of the question that it lacks."""
    # Only a question without answers comes here.
    from hivemind_memory.search.suggesting import MAX_SUGGESTIONS, nearest_words

    unknown = [
        term.tokens[0] for term in words.asked if not term.chunks and not term.is_phrase
    ]
    vocabulary = index.vocabulary() if unknown else []
    found: dict[str, None] = {}
    for token in unknown:
        for near in nearest_words(token, vocabulary):
            found[index.spelled(near)] = None
    return tuple(found)[:MAX_SUGGESTIONS]


def _with_longer_words(
    index: SqliteIndex, terms: Sequence[Term], unknown: set[str]
) -> list[Term]:
    """Replace words that no note holds by longer words that contain them.

    Returns:
        The terms to look up instead; empty when nothing contains any of them.
    """
    more: list[Term] = []
    has_found = False
    for term in terms:
        longer: list[str] = []
        if term.text in unknown and len(term.text) >= PART_MIN_CHARS:
            longer = index.words_containing(term.text, limit=PARTS_OF_WORD)
        has_found = has_found or bool(longer)
        more += [Term(word) for word in longer] or [term]
    return more if has_found else []


def _hits(
    choice: Choice, texts: dict[int, tuple[str, str]], query: Query
) -> tuple[Hit, ...]:
    """Return what the caller gets."""
    hits = []
    for chosen in choice.hits:
        place = chosen.ranked.place
        text, headings = texts.get(place.chunk_id, ("", ""))
        parts: tuple[Part, ...] = ()
        if query.should_explain:
            from hivemind_memory.search.explaining import explain

            parts = explain(chosen)
        lanes = []
        if chosen.ranked.words is not None:
            lanes.append("words")
        if chosen.ranked.cosine is not None:
            lanes.append("vectors")
        hits.append(
            Hit(
                path=place.path,
                start_line=place.start_line,
                end_line=place.end_line,
                score=chosen.score,
                relevance=chosen.ranked.relevance,
                snippet=_shown(text),
                headings=tuple(headings.split("\n")) if headings else (),
                date=_date_of(place.day),
                lanes=tuple(lanes),
                parts=parts,
            )
        )
    return tuple(hits)


def _shown(text: str) -> str:
    """Return the lines of a chunk without the comment that says who wrote it."""
    if text.startswith("<!-- hm "):
        text = text.partition("\n")[2]
    return text.strip("\r\n")


def _date_of(day: int | None) -> str:
    """Return a day since the epoch as ISO 8601."""
    if day is None:
        return ""
    from datetime import date  # loaded by nothing else on a cold way

    return date.fromordinal(719_163 + day).isoformat()
