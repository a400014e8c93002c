"""Measures how similar two texts are, and orders items so that they don't repeat.

The one home of the word split for comparing texts, of Jaccard similarity and of maximal
marginal relevance. Pure.
"""

from __future__ import annotations

from hivemind_memory.model.terms import QUESTION_WORDS
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    from hivemind_memory.model.curation import TextCandidate

    T = TypeVar("T")

NEAR_DUPLICATE = 0.8
"""Similarity from which two texts say nearly the same: two sentences of nine words that
differ in one. A save warns of such a text."""

_WORD = lazy_re(r"\w+")
# In these scripts a character is a word or part of one, and no space separates words.
_SPACELESS = lazy_re(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text; pairs of characters where no space separates words.

    >>> sorted(words_in("Never, never deploy"))
    ['deploy', 'never']
    """
    words = _WORD.findall(text.casefold())
    if text.isascii() or _SPACELESS.search(text) is None:
        return frozenset(words)
    found: set[str] = set()
    for word in words:
        if len(word) > 1 and _SPACELESS.search(word):
            found.update(word[at : at + 2] for at in range(len(word) - 1))
        else:
            found.add(word)
    return frozenset(found)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard similarity of two sets of words, 0..1."""
    both = len(one & other)
    return both / max(1, len(one) + len(other) - both)


def share_in(text: str, other: str) -> float:
    """Return how many of the words of a text another one has, 0..1.

    >>> share_in("Never deploy", "we never do"), share_in("", "we")
    (0.5, 0.0)
    """
    words = words_in(text)
    return len(words & words_in(other)) / max(1, len(words))


class ChosenTexts:
    """The texts chosen so far, to measure how much of another text they say already.

    Each text is split once, and compared with each chosen text once.
    """

    def __init__(self) -> None:
        self._words: dict[str, frozenset[str]] = {}
        self._chosen: list[frozenset[str]] = []
        self._nearest: dict[str, tuple[int, float]] = {}

    def add(self, text: str) -> None:
        """Choose a text."""
        self._chosen.append(self.words_of(text))

    def nearest(self, text: str) -> float:
        """Return the similarity to the nearest of the chosen texts, 0..1."""
        compared, nearest = self._nearest.get(text, (0, 0.0))
        words = self.words_of(text)
        for other in self._chosen[compared:]:
            nearest = max(nearest, similarity(words, other))
        self._nearest[text] = (len(self._chosen), nearest)
        return nearest

    def has(self, text: str) -> bool:
        """Return whether a chosen text says nearly the same, and all of this one.

        One rule for five services differs only by their names: those are five texts.
        """
        words = self.words_of(text)
        return self.nearest(text) >= NEAR_DUPLICATE and any(
            similarity(words, other) >= NEAR_DUPLICATE
            and words - other <= QUESTION_WORDS
            for other in self._chosen
        )

    def words_of(self, text: str) -> frozenset[str]:
        """Return the words of a text."""
        if text not in self._words:
            self._words[text] = words_in(text)
        return self._words[text]


def by_marginal_relevance(
    items: Iterable[T],
    *,
    relevance: Callable[[T], float],
    nearest: Callable[[T], float],
    share: float,
) -> Iterator[T]:
    """Yield items by maximal marginal relevance: relevant first, repetition last.

    The caller decides about each item before it asks for the next one.

    Args:
        items: The first of equals wins.
        relevance: 0..1, larger is better.
        nearest: Similarity of an item to the nearest one chosen so far, 0..1.
        share: Lambda, 0..1: the share of relevance against novelty.

    Source:
        Carbonell, Goldstein: The use of MMR, diversity-based reranking for reordering
        documents and producing summaries, SIGIR 1998.
    """
    left = list(items)
    while left:
        values = [
            share * relevance(item) - (1 - share) * nearest(item) for item in left
        ]
        yield left.pop(values.index(max(values)))


def similar_texts(
    content: str, candidates: Iterable[TextCandidate]
) -> list[tuple[TextCandidate, float]]:
    """Return the candidates that nearly say what *content* does, the nearest first."""
    # A search compares texts too, and needs no front matter for it.
    from hivemind_memory.markdown.front_matter import split_front_matter

    words = words_in(content)
    found = []
    for candidate in candidates:
        front = split_front_matter(candidate.text)
        text = "\n".join(candidate.text.split("\n")[front.line_count :])
        share = similarity(words, words_in(text))
        if share >= NEAR_DUPLICATE:
            found.append((candidate, share))
    return sorted(found, key=lambda pair: (-pair[1], pair[0].path, pair[0].start_line))
