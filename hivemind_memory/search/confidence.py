"""Says how likely a hit answers the query, and whether anything is known at all.

A score says how well a chunk matches, a confidence how often such a match is right:
of hits with 0.8, four of five answer. It is a logistic model over evidence that every
memory has, so it means the same in statutes and in diaries. Pure; decision 032 has the
reasons, and ``benchmarks/confidence.py`` fits and checks the numbers.
"""

from __future__ import annotations

from math import exp, log

from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.query import NONE, STRONG, WEAK
from hivemind_memory.search.fusion import term_weight, unknown_share, word_count
from hivemind_memory.search.ranking import score_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.model.matches import WordMatches
    from hivemind_memory.search.hit_selection import SelectedHit
    from hivemind_memory.search.ranking import RankedChunk

STRONG_FROM = 1 / 2
"""The answer is strong if one of the nearest chunks answers more likely than not."""

WEAK_FROM = 1 / 4
"""Below it nothing is known. Both bounds were set by the rates that
``benchmarks/confidence.py`` prints."""

LACK_WEIGHT = 3.0
"""How much it counts against an answer that its best chunk lacks a word of the query,
by the share of the query's information in that word: what lacks *encrypt* and holds
*columns* is seldom about encrypting. In log odds for the whole information."""

USUAL_LACK = 0.16
"""A lack that costs nothing: about what the best chunk of a right answer has."""

LEAD_SCALE = 0.03
"""A raw score larger by this much is e times as likely to be the right one."""

NOTHING_RAW_SCORE = 0.1
"""The raw score of a rival that always stands: that the memory does not know."""

MAX_LEAD = 4.0
"""Beyond e^4 to 1 a lead says no more."""

CONSIDERED = 25
"""Candidates that a lead is over: always as many, however many hits are wanted."""

RIVALS = 10
"""Candidates that count as rivals, and among which an answer may be."""


FEW_CHUNKS = 4
"""In a memory of so few chunks, a word that no note holds counts half: that *which* and
*use* are missing says little there."""

MAX_GUESSED = 0.49
"""The confidence of what was found by corrected words alone, at most: no answer is
strong because of it."""

_MIN_RAW_SCORE = 1e-6
_MAX_RIVALS = 1e12


class Evidence(NamedTuple):
    """What speaks for one chunk; all that a confidence is made of."""

    lead: float
    """Log odds that it is the right one of the candidates, by their raw scores."""

    relevance: float
    """The share of the query's information that it holds, as its score before age:
    rare words weigh more, by how rare they are in this memory."""

    words: float
    """Logarithm of 1 + the words of the query that it holds: a single word in
    common is seldom an answer."""

    rivals: float
    """Logarithm of 1 + how many of the nearest chunks are as strong, it included."""


class Model(NamedTuple):
    """The coefficients of the logistic model; those of ``rivals`` are below 0."""

    constant: float
    lead: float
    relevance: float
    words: float
    rivals: float


MODEL = Model(constant=-2.62, lead=0.37, relevance=4.14, words=0.56, rivals=-0.89)
"""Fitted by ``python -m benchmarks.confidence`` on 3,347 judged questions of nine
public sets in five languages, and 1,872 asked of notes that don't answer them, by words
alone. The same numbers hold with vectors."""


class Assessment(NamedTuple):
    """How much an answer can be relied on."""

    level: str
    """strong, weak or none; empty where no word was asked."""

    confidences: list[float]
    """Of each hit, in their order; 0..1."""


def assess(
    ranked: Sequence[RankedChunk],
    hits: Sequence[SelectedHit],
    *,
    words: WordMatches,
    fusion: str = "",
    corrected: frozenset[str] = frozenset(),
) -> Assessment:
    """Return how likely each hit answers, and how likely any of the nearest chunks.

    Args:
        ranked: The candidates, best first.
        hits: Those that are shown.
        words: What the retriever of words found.
        fusion: How both retrievers were fused; empty: the words were alone.
        corrected: Words that were looked up instead of misspelled ones. What has none
            of the others is weak at most: the query never said what it says.
    """
    asked = word_count(words)
    if not (asked or fusion):
        return Assessment("", [0.0] * len(hits))
    nearest = ranked[:RIVALS]
    # Most hits are among the nearest, and one chunk has one confidence.
    wanted = {chunk.place.chunk_id: chunk for chunk in nearest}
    wanted |= {hit.ranked.place.chunk_id: hit.ranked for hit in hits}
    found = evidence_of(ranked, list(wanted.values()), words=words, fusion=fusion)
    confidences = dict(zip(wanted, map(confidence_of, found), strict=True))
    guessed = _guessed(wanted, words, corrected) if corrected else frozenset()
    for chunk_id in guessed.intersection(confidences):
        confidences[chunk_id] = min(confidences[chunk_id], MAX_GUESSED)
    of_hits = [confidences[hit.ranked.place.chunk_id] for hit in hits]
    sure = [chunk for chunk in nearest if chunk.place.chunk_id not in guessed]
    # A chunk that holds every word is what was looked for, whatever else holds them.
    if asked and any(_found(chunk) == asked for chunk in sure):
        return Assessment(STRONG, of_hits)
    likely = [confidences[chunk.place.chunk_id] for chunk in nearest]
    lack = USUAL_LACK
    if nearest and not fusion:  # a vector may find what is said in other words
        best = likely.index(max(likely))
        lack = lack_of(nearest[best].place.chunk_id, words)
    level = level_of(likely, lack)
    if level == STRONG and guessed:
        of_sure = [confidences[chunk.place.chunk_id] for chunk in sure]
        level = STRONG if level_of(of_sure, lack) == STRONG else WEAK
    return Assessment(level, of_hits)


def _guessed(
    found: Mapping[int, RankedChunk], words: WordMatches, corrected: frozenset[str]
) -> frozenset[int]:
    """Return the chunks that were found by corrected words alone.

    A word that says little in any text makes none of them surer.
    """
    said = {
        candidate.place.chunk_id
        for candidate in words.candidates
        for term, counts in zip(words.known, candidate.counts, strict=True)
        if any(counts) and term.text not in corrected and not term.is_generic
    }
    ids = {number for number, chunk in found.items() if chunk.words is not None}
    return frozenset(ids - said)


def level_of(nearest: Sequence[float], lack: float = USUAL_LACK) -> str:
    """Return how strong an answer is.

    Args:
        nearest: Confidences of the nearest chunks.
        lack: See ``lack_of``, for the likeliest of them.

    >>> level_of([0.3, 0.3]), level_of([0.4]), level_of([0.2]), level_of([])
    ('strong', 'weak', 'none', 'none')
    >>> level_of([0.6], 0.1), level_of([0.6], 0.4)
    ('strong', 'weak')
    """
    none = 1 - any_of(nearest)
    against = exp(LACK_WEIGHT * (lack - USUAL_LACK))
    likely = (1 - none) / (1 - none + none * against)
    return STRONG if likely >= STRONG_FROM else WEAK if likely >= WEAK_FROM else NONE


def lack_of(chunk: int, words: WordMatches) -> float:
    """Return the largest share of the query's information in a word that a chunk lacks.

    In a memory of a few chunks, a word that no note holds counts less, see
    ``FEW_CHUNKS``.
    """
    held = {
        term
        for candidate in words.candidates
        if candidate.place.chunk_id == chunk
        for term, counts in zip(words.known, candidate.counts, strict=True)
        if any(counts)
    }
    known_share = words.chunk_count / (FEW_CHUNKS + words.chunk_count)
    weights = {
        term: term_weight(term, words.chunk_count)
        * (1.0 if term.chunks else known_share)
        for term in words.asked
        if not term.is_phrase
    }
    lacking = [weight for term, weight in weights.items() if term not in held]
    return max(lacking, default=0.0) / (sum(weights.values()) or 1.0)


def any_of(confidences: Sequence[float]) -> float:
    """Return how likely one of some chunks answers, as if they were independent."""
    none = 1.0
    for confidence in confidences:
        none *= 1 - confidence
    return 1 - none


def confidence_of(evidence: Evidence, model: Model = MODEL) -> float:
    """Return how likely a chunk with this evidence answers, 0..1."""
    odds = (
        model.constant
        + model.lead * evidence.lead
        + model.relevance * evidence.relevance
        + model.words * evidence.words
        + model.rivals * evidence.rivals
    )
    return 1 / (1 + exp(-odds))


def evidence_of(
    ranked: Sequence[RankedChunk],
    wanted: Sequence[RankedChunk],
    *,
    words: WordMatches,
    fusion: str = "",
) -> list[Evidence]:
    """Return what speaks for each of the *wanted* candidates.

    Args:
        ranked: All candidates, best first.
        wanted: Some of them.
        words: What the retriever of words found.
        fusion: How both retrievers were fused; empty: the words were alone.
    """
    # Only the default fusion keeps raw scores on the scale of the words; with another
    # the words are judged alone.
    has_word_scale = fusion in {"", "standardised"}
    more = 0.0
    if words.chunk_count and len(words.known) < len(words.asked):
        seldom = FEW_CHUNKS / (FEW_CHUNKS + words.chunk_count)
        more = 1 / (1 - seldom * unknown_share(words)) - 1

    def raw_score_of(candidate: RankedChunk) -> float:
        by_words = candidate.words.total if candidate.words else 0.0
        raw_score = candidate.raw_score if has_word_scale else by_words
        return min(1.0, max(_MIN_RAW_SCORE, raw_score + more * by_words))

    raw_scores = [raw_score_of(chunk) for chunk in ranked[:CONSIDERED]]
    nothing = exp(NOTHING_RAW_SCORE / LEAD_SCALE)
    candidates = nothing + sum(exp(raw / LEAD_SCALE) for raw in raw_scores)
    fourth_powers = sum(raw**4 for raw in raw_scores[:RIVALS])
    found = []
    for candidate in wanted:
        raw_score = raw_score_of(candidate)
        others = candidates * exp(-raw_score / LEAD_SCALE) - 1
        found.append(
            Evidence(
                lead=max(-MAX_LEAD, -log(max(others, exp(-MAX_LEAD)))),
                relevance=score_of(raw_score),
                words=log(1 + _found(candidate)),
                rivals=log(1 + min(fourth_powers / raw_score**4, _MAX_RIVALS)),
            )
        )
    return found


def _found(candidate: RankedChunk) -> int:
    """Return how many words of the query a candidate holds."""
    return candidate.words.found if candidate.words else 0
