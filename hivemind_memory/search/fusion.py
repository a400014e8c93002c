"""Computes the raw score of a chunk from the matches of both retrievers.

A raw score is what chunks are ordered by: larger is better, additive, on the scale of
the words (1 is more than any chunk can reach). What each retriever gives is kept apart,
so the raw score and its explanation cannot disagree.
"""

from __future__ import annotations

from math import log, sqrt

from hivemind_memory.model.late_typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hivemind_memory.model.matches import (
        TermCount,
        VectorMatches,
        WordCandidate,
        WordMatches,
    )


RRF_K = 60
"""Rank offset of reciprocal rank fusion (Cormack, Clarke, Buettcher: Reciprocal rank
fusion, SIGIR 2009)."""

UNRELATED_DEVIATIONS = 1.5
"""A cosine so many deviations above the mean over all chunks is where being related
begins: below it the retriever of vectors speaks against a chunk."""

NAMED_SHARE = 0.25
"""What the vectors count, as a share of the usual, if a query names a section: they do
not read headings, and lead to other sections about the same."""

# What a query usually meets, worth so many chunks beside the measured ones: with a
# handful of chunks a mean and a deviation say little. Measured with four models.
_USUAL_WEIGHT = 20
_USUAL_BACKGROUND = 0.1
_USUAL_DEVIATION = 0.1
_USUAL_CANDIDATES = 10
_USUAL_WORD_DEVIATION = 0.12


class FusedScore(NamedTuple):
    """What each retriever gives to a chunk's raw score."""

    words: float
    vectors: float
    """Below 0 when the retriever speaks against the chunk."""

    @property
    def raw_score(self) -> float:
        """The sum of the retrievers."""
        return self.words + self.vectors


def fuse_words(words: Mapping[int, float]) -> dict[int, FusedScore]:
    """Return the raw scores when the retriever of words is alone."""
    return {chunk: FusedScore(raw_score, 0.0) for chunk, raw_score in words.items()}


def fuse_standardised(
    words: Mapping[int, float], vectors: VectorMatches, *, weight: float
) -> dict[int, FusedScore]:
    """Return raw scores where a deviation counts alike in both retrievers.

    Both retrievers know every candidate (no word found: 0; no vector: as an unrelated
    text). *weight* of a standardised cosine and 1 - *weight* of a standardised word
    raw score, written on the scale of the words:

        raw_score = words + weight / (1 - weight) * s_words / s_cosines * (cosine - o)

    The order does not depend on the offset o; it is where being related begins, so
    that a raw score means the same whether one retriever spoke or two.

    Args:
        words: Raw score by the retriever of words, by chunk.
        vectors: Cosines of every candidate.
        weight: Share of the vectors, 0 to below 1.
    """
    cosines = _two_level(vectors)
    chunks = {**dict.fromkeys(words), **dict.fromkeys(cosines)}
    offset = _related_from(vectors)
    found = [words.get(chunk, 0.0) for chunk in chunks]
    alike = [cosines.get(chunk, offset) for chunk in chunks]
    ratio = raw_score_deviation(found) / _deviation(alike, _USUAL_DEVIATION)
    factor = ratio * weight / max(1e-6, 1 - weight)
    return {
        chunk: FusedScore(word, factor * (cosine - offset))
        for chunk, word, cosine in zip(chunks, found, alike, strict=True)
    }


def fuse_weighted(
    words: Mapping[int, float], vectors: VectorMatches, *, weight: float
) -> dict[int, FusedScore]:
    """Return weight * cosine + (1 - weight) * words as a share of the best raw score.

    Args:
        words: Raw score by the retriever of words, by chunk.
        vectors: Cosines of every candidate.
        weight: Share of the vectors, 0 to 1.
    """
    cosines = _two_level(vectors)
    best = max(words.values(), default=0.0) or 1.0
    return {
        chunk: FusedScore(
            (1 - weight) * words.get(chunk, 0.0) / best,
            weight * max(0.0, cosines.get(chunk, 0.0)),
        )
        for chunk in {**dict.fromkeys(words), **dict.fromkeys(cosines)}
    }


def fuse_ranks(
    words: Mapping[int, float], vectors: VectorMatches, *, k: int = RRF_K
) -> dict[int, FusedScore]:
    """Return reciprocal rank fusion, scaled so that first in both retrievers is 1."""
    cosines = _two_level(vectors)
    by_words, by_vectors = (_ranks(retriever, k=k) for retriever in (words, cosines))
    scale = (k + 1) / 2
    return {
        chunk: FusedScore(
            scale * by_words.get(chunk, 0.0), scale * by_vectors.get(chunk, 0.0)
        )
        for chunk in {**by_words, **by_vectors}
    }


def _two_level(vectors: VectorMatches) -> dict[int, float]:
    """Return the mean of a chunk's cosine and that of its best subchunk."""
    subchunks = vectors.subchunk_cosines
    return {
        chunk: (cosine + subchunks[chunk]) / 2
        for chunk, cosine in vectors.cosines.items()
    }


def _related_from(vectors: VectorMatches) -> float:
    """Return the cosine from which a text counts as related to the query."""
    count = vectors.chunk_count
    total = count + _USUAL_WEIGHT
    mean = (count * vectors.background + _USUAL_WEIGHT * _USUAL_BACKGROUND) / total
    spread = (
        count * (vectors.deviation**2 + (vectors.background - mean) ** 2)
        + _USUAL_WEIGHT * _USUAL_DEVIATION**2
    ) / total
    return mean + UNRELATED_DEVIATIONS * sqrt(spread)


def raw_score_deviation(raw_scores: list[float]) -> float:
    """Return the standard deviation of raw scores, leaning to the usual one if few."""
    return _deviation(raw_scores, _USUAL_WORD_DEVIATION)


def _deviation(values: list[float], usual: float) -> float:
    """Return the standard deviation of *values*, leaning to the usual one if few."""
    count = len(values)
    mean = sum(values) / max(1, count)
    squares = sum((value - mean) ** 2 for value in values)
    return sqrt((squares + _USUAL_CANDIDATES * usual**2) / (count + _USUAL_CANDIDATES))


def _ranks(found: Mapping[int, float], *, k: int) -> dict[int, float]:
    """Return 1 / (k + rank) for each chunk that a retriever found.

    Equal scores share a rank: by their ids one would go first that a rebuild puts last.
    """
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(found.values(), reverse=True), start=1):
        ranks.setdefault(score, rank)
    return {chunk: 1 / (k + ranks[score]) for chunk, score in found.items()}


K1 = 1.2
B = 0.75
"""Saturation of a term's count, and the share of the length in it: the usual values of
BM25 (Robertson, Zaragoza: The probabilistic relevance framework, 2009). A word in the
headings or the path counts like one in the text, damped by the length of the
breadcrumbs on its own: two fields of equal weight, as in BM25F (same source, section
3.6)."""

GENERIC_WEIGHT = 0.5
"""What a word counts that says little in any text; see ``model.generic_words``. Rarity
alone doesn't show in a small memory, nor of a word that is rare in writing and common
in questions."""

SUBCHUNK_WEIGHT = 0.5
"""What the best bullet or paragraph adds, scored like a chunk of its own."""

NOTE_WEIGHT = 0.15
"""What the whole note adds: the words that its other chunks hold."""

NOTE_CANDIDATES = 25
"""Candidates, in the order of the rough ranking, that show what a note holds: always as
many, so that a score does not depend on how many hits are wanted."""

SUBCHUNK_LENGTH = 0.5
"""Mean length of a subchunk, as a share of the mean length of a chunk."""


class WordScore(NamedTuple):
    """How strongly a chunk answers by its words, and what that is made of."""

    chunk: float
    """Of the chunk as a whole."""

    subchunk: float
    """What its best bullet or paragraph adds."""

    found: int
    """Words of the query that the chunk holds."""

    is_by_reason: bool = False
    """One of them is only in the reason for which the memory replaced another."""

    note: float = 0.0
    """What the whole note adds."""

    @property
    def total(self) -> float:
        """The sum of the parts, in 0..1: 1 is what no chunk can reach."""
        return self.chunk + self.subchunk + self.note


def word_scores(matches: WordMatches) -> dict[int, WordScore]:
    """Return the raw score of every candidate of the retriever of words, by chunk.

    It is BM25F of the chunk, plus a part of that of its best subchunk and of its whole
    note, as a share of the most that this query allows: terms that no note holds
    count as asked, so that one common word out of five unknown ones is a weak answer,
    in a small memory as in a large one.
    """
    weights = [term_weight(term, matches.chunk_count) for term in matches.known]
    most = sum(
        term_weight(term, matches.chunk_count)
        for term in matches.asked
        if not term.is_phrase
    )
    scale = 1 / ((most or sum(weights) or 1.0) * (1 + SUBCHUNK_WEIGHT + NOTE_WEIGHT))
    shares = [weight * scale for weight in weights]
    scores = {
        candidate.place.chunk_id: _raw_score(candidate, matches, shares)
        for candidate in matches.candidates
    }
    notes = _note_scores(matches.candidates[:NOTE_CANDIDATES], shares)
    for candidate in matches.candidates:
        chunk, path = candidate.place.chunk_id, candidate.place.path
        score = scores[chunk]
        note = NOTE_WEIGHT * notes.get(path, score.chunk)
        scores[chunk] = score._replace(note=note)
    return scores


def _note_scores(
    candidates: Sequence[WordCandidate], shares: Sequence[float]
) -> dict[str, float]:
    """Return what each note shows as a whole, by path: BM25 over its candidates.

    A note is as long as its candidates: how long the others are says nothing about what
    it holds.
    """
    counts: dict[str, dict[int, float]] = {}
    lengths: dict[str, int] = {}
    for candidate in candidates:
        path = candidate.place.path
        lengths[path] = lengths.get(path, 0) + candidate.length
        counted = counts.setdefault(path, {})
        for term, in_chunk in enumerate(candidate.counts):
            if any(in_chunk):
                counted[term] = counted.get(term, 0.0) + sum(in_chunk)
    mean = max(1.0, sum(lengths.values()) / max(1, len(lengths)))
    scores = {}
    for path, counted in counts.items():
        damping = K1 * (1 - B + B * lengths[path] / mean)
        scores[path] = sum(
            shares[term] * count / (count + damping) for term, count in counted.items()
        )
    return scores


def names_section(matches: WordMatches) -> bool:
    """Return whether the headings and names above one chunk hold the whole query.

    Such a query is looking for that section, not for what is about the same.
    """
    words = [at for at, term in enumerate(matches.known) if not term.is_phrase]
    if not words or len(words) < word_count(matches):
        return False
    return any(
        not candidate.is_by_reason and all(candidate.counts[at][1] for at in words)
        for candidate in matches.candidates
    )


def vector_weight_of(matches: WordMatches, weight: float) -> float:
    """Return the share of the vectors for a query; *weight* is the usual one."""
    if not names_section(matches):
        return weight
    less = NAMED_SHARE * weight
    return less / (1 - weight + less) if less else weight


def word_count(matches: WordMatches) -> int:
    """Return how many words the query asked for, phrases apart."""
    return sum(not term.is_phrase for term in matches.asked)


def unknown_share(matches: WordMatches) -> float:
    """Return the share of a query's information that is in no note, 0..1."""
    weights = [
        (term_weight(term, matches.chunk_count), term.chunks)
        for term in matches.asked
        if not term.is_phrase
    ]
    most = sum(weight for weight, _ in weights)
    return sum(weight for weight, chunks in weights if not chunks) / (most or 1.0)


def term_weight(term: TermCount, chunk_count: int) -> float:
    """Return a term's weight: BM25's inverse document frequency, above 0."""
    # Chunks that hold several forms of a word are counted for each of them.
    chunks = min(term.chunks, chunk_count)
    weight = log(1 + (chunk_count - chunks + 0.5) / (chunks + 0.5))
    return GENERIC_WEIGHT * weight if term.is_generic else weight


def _raw_score(
    candidate: WordCandidate, matches: WordMatches, shares: Sequence[float]
) -> WordScore:
    """Return the raw score of one candidate."""
    text_norm = 1 - B + B * candidate.length / max(1.0, matches.mean_length)
    breadcrumbs_norm = (
        1
        - B
        + B * candidate.breadcrumbs_length / max(1.0, matches.mean_breadcrumbs_length)
    )
    chunk = 0.0
    found = 0
    for term, (in_text, in_breadcrumbs) in enumerate(candidate.counts):
        if in_text or in_breadcrumbs:
            count = in_text / text_norm + in_breadcrumbs / breadcrumbs_norm
            chunk += shares[term] * count / (count + K1)
            found += not matches.known[term].is_phrase
    is_by_reason = candidate.is_by_reason
    if not candidate.subchunks:
        return WordScore(chunk, SUBCHUNK_WEIGHT * chunk, found, is_by_reason)
    mean_subchunk_length = max(1.0, matches.mean_length * SUBCHUNK_LENGTH)
    best = 0.0
    for length, counts in candidate.subchunks:
        damping = K1 * (1 - B + B * length / mean_subchunk_length)
        value = 0.0
        for term, in_subchunk in counts.items():
            value += shares[term] * in_subchunk / (in_subchunk + damping)
        best = max(best, value)
    return WordScore(chunk, SUBCHUNK_WEIGHT * best, found, is_by_reason)
