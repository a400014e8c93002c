"""How strongly the words of a chunk answer the words of a question."""

from __future__ import annotations

from math import log
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.model.matches import TermCount, WordCandidate, WordMatches

K1 = 1.2
B = 0.75
"""Saturation of a term's count, and the share of the length in it: the usual values
of BM25 (Robertson, Zaragoza: The probabilistic relevance framework, 2009). A word in
the headings or the path counts like one in the text, damped by the length of the trail
on its own: two fields of equal weight, as in BM25F (same source, section 3.6)."""

SUBCHUNK_WEIGHT = 0.5
"""What the best bullet or paragraph adds, scored like a chunk of its own."""

SUBCHUNK_LENGTH = 0.5
"""Mean length of a unit, as a share of the mean length of a chunk."""


class WordScore(NamedTuple):
    """How strongly a chunk answers by its words, and what that is made of."""

    chunk: float
    """Of the chunk as a whole."""

    subchunk: float
    """What its best bullet or paragraph adds."""

    found: int
    """Words of the question that the chunk holds."""

    @property
    def total(self) -> float:
        """The sum of the parts, in 0..1: 1 is what no chunk can reach."""
        return self.chunk + self.subchunk


def word_scores(matches: WordMatches) -> dict[int, WordScore]:
    """Return the strength of every candidate of the lane of words, by chunk.

    It is BM25F of the chunk plus that of its best unit, as a share of the most that
    this question allows: terms that no note holds count as asked, so that one common
    word out of five unknown ones is a weak answer, in a small memory as in a large
    one.
    """
    weights = [_weight(term, matches.chunk_count) for term in matches.known]
    most = sum(
        _weight(term, matches.chunk_count)
        for term in matches.asked
        if not term.is_phrase
    )
    scale = 1 / ((most or sum(weights) or 1.0) * (1 + SUBCHUNK_WEIGHT))
    shares = [weight * scale for weight in weights]
    return {
        candidate.place.chunk_id: _strength(candidate, matches, shares)
        for candidate in matches.candidates
    }


def word_count(matches: WordMatches) -> int:
    """Return how many words the question asked for, phrases apart."""
    return sum(not term.is_phrase for term in matches.asked)


def _weight(term: TermCount, chunk_count: int) -> float:
    """Return a term's weight: BM25's inverse document frequency, above 0."""
    return log(1 + (chunk_count - term.chunks + 0.5) / (term.chunks + 0.5))


def _strength(
    candidate: WordCandidate, matches: WordMatches, shares: Sequence[float]
) -> WordScore:
    """Return the strength of one candidate."""
    text_norm = 1 - B + B * candidate.length / max(1.0, matches.mean_length)
    trail_norm = (
        1
        - B
        + B * candidate.breadcrumbs_length / max(1.0, matches.mean_breadcrumbs_length)
    )
    chunk = 0.0
    found = 0
    for term, (in_text, in_trail) in enumerate(candidate.counts):
        if in_text or in_trail:
            count = in_text / text_norm + in_trail / trail_norm
            chunk += shares[term] * count / (count + K1)
            found += not matches.known[term].is_phrase
    if not candidate.subchunks:
        return WordScore(chunk, SUBCHUNK_WEIGHT * chunk, found)
    mean_unit_length = max(1.0, matches.mean_length * SUBCHUNK_LENGTH)
    best = 0.0
    for length, counts in candidate.subchunks:
        damping = K1 * (1 - B + B * length / mean_unit_length)
        value = 0.0
        for term, in_unit in counts.items():
            value += shares[term] * in_unit / (in_unit + damping)
        best = max(best, value)
    return WordScore(chunk, SUBCHUNK_WEIGHT * best, found)
