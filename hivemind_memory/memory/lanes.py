"""What the lanes of the index find for a question."""

from __future__ import annotations

from hivemind_memory.model.terms import Term, question_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.index.sqlite.index import SqliteIndex
    from hivemind_memory.index.sqlite.sight import Sieve
    from hivemind_memory.index.sqlite.vocabulary import Vocabulary
    from hivemind_memory.model.matches import (
        Place,
        QuestionVector,
        VectorMatches,
        WordMatches,
    )

WORD_CANDIDATES = 25
"""Candidates for ten hits when the words are alone: what their rough ranking puts
behind these does not come back among the first ten (docs/quality.md)."""

FUSED_WORD_CANDIDATES = 40
FUSED_VECTOR_CANDIDATES = 100
"""Candidates of each lane when both speak: one may lift what the other puts low."""

WANTED_FACTOR = 2
"""Candidates of each lane for every hit that is wanted, if that is more."""

MAX_WHOLE_READS = 3
"""So many words that no note holds are worth reading the whole vocabulary for."""

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


def look_up(
    index: SqliteIndex,
    text: str,
    question: QuestionVector,
    *,
    wanted: int,
    sieve: Sieve,
) -> Lanes:
    """Return what the lanes of the index find for a question.

    Args:
        index: What answers.
        text: The question.
        question: Its vector, or why there is none.
        wanted: Hits that are wanted.
        sieve: Which chunks may be found.
    """
    is_alone = question.vector is None
    word_limit = WORD_CANDIDATES if is_alone else FUSED_WORD_CANDIDATES
    word_limit = max(word_limit, WANTED_FACTOR * wanted)
    vector_limit = max(FUSED_VECTOR_CANDIDATES, WANTED_FACTOR * wanted)
    terms, ignored = question_terms(text)
    words = index.find_words(terms, limit=word_limit, sieve=sieve)
    if any(not term.chunks for term in words.asked):
        more = _with_longer_words(index.words(sieve), terms, words)
        if more:
            words = index.find_words(more, limit=word_limit, sieve=sieve)
    places = {found.place.chunk_id: found.place for found in words.candidates}
    vectors = None
    if question.vector is not None:
        lane = index.vector_lane(question.fingerprint)
        vectors = lane.find(
            question.vector, limit=vector_limit, also=list(places), sieve=sieve
        )
        if vectors is not None:
            new = [chunk for chunk in vectors.cosines if chunk not in places]
            places.update(index.places(new))
    return Lanes(words, vectors, places, ignored)


def suggest(index: SqliteIndex, words: WordMatches, sieve: Sieve) -> tuple[str, ...]:
    """Return words of the memory near to words of the question that it lacks."""
    # Only a question without answers comes here.
    from hivemind_memory.search.suggesting import MAX_SUGGESTIONS, nearest_words

    unknown = [
        term.tokens[0] for term in words.asked if not term.chunks and not term.is_phrase
    ]
    unknown = unknown[:MAX_WHOLE_READS]
    if not unknown:
        return ()
    known = index.words(sieve)
    vocabulary = known.all()
    found: dict[str, None] = {}
    for token in unknown:
        for near in nearest_words(token, vocabulary, known.is_seen):
            found[known.spelled(near)] = None
    return tuple(found)[:MAX_SUGGESTIONS]


def _with_longer_words(
    vocabulary: Vocabulary, terms: Sequence[Term], words: WordMatches
) -> list[Term]:
    """Replace words that no note holds by longer words that begin with them.

    When no word at all was found, longer words may contain them anywhere.

    Returns:
        The terms to look up instead; empty when there are no longer words.
    """
    unknown = {term.text for term in words.asked if not term.chunks}
    anywhere = not words.known
    left = MAX_WHOLE_READS if anywhere else len(terms)
    more: list[Term] = []
    has_found = False
    for term in terms:
        longer: list[str] = []
        if left and term.text in unknown and len(term.text) >= PART_MIN_CHARS:
            left -= 1
            longer = vocabulary.longer_words(
                term.text, limit=PARTS_OF_WORD, anywhere=anywhere
            )
        has_found = has_found or bool(longer)
        more += [Term(word) for word in longer] or [term]
    return more if has_found else []
