"""Texts that say nearly the same: sets of words, compared. Pure."""

from __future__ import annotations

import re

from hivemind_memory.markdown.front_matter import split_front_matter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.model.curation import TextCandidate


NEAR = 0.8
"""Jaccard similarity of two texts' words from which one nearly says the other: two
sentences of nine words that differ in one."""

_WORD = re.compile(r"\w+")
# One character is a word or a part of one there, and no space tells which.
_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard similarity of two sets, 0..1."""
    both = len(one & other)
    return both / max(1, len(one) + len(other) - both)


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text; pairs of characters where no space parts words.

    >>> sorted(words_in("Never, never deploy"))
    ['deploy', 'never']
    """
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if len(word) > 1 and _SPACELESS.search(word):
            found.update(word[at : at + 2] for at in range(len(word) - 1))
        else:
            found.add(word)
    return frozenset(found)


def similar_texts(
    content: str, candidates: Iterable[TextCandidate]
) -> list[tuple[TextCandidate, float]]:
    """Return the candidates that nearly say what *content* does, the nearest first."""
    words = words_in(content)
    found = []
    for candidate in candidates:
        front = split_front_matter(candidate.text)
        text = "\n".join(candidate.text.split("\n")[front.line_count :])
        share = similarity(words, words_in(text))
        if share >= NEAR:
            found.append((candidate, share))
    return sorted(found, key=lambda one: (-one[1], one[0].path, one[0].start_line))
