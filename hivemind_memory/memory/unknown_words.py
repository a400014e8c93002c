"""Handles query words that no note holds: tries longer words, and suggests others.

Loaded only when a query has such a word.
"""

from __future__ import annotations

from hivemind_memory.model.terms import QueryTerm, is_run
from hivemind_memory.search.suggestions import (
    MAX_SUGGESTIONS,
    nearest_words,
    parts_left,
    slips_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.index.port import IndexView, Vocabulary
    from hivemind_memory.model.matches import WordMatches

MAX_WHOLE_READS = 3
"""Words that no note holds for which the vocabulary is read, at most."""

CORRECTED_MIN_CHARS = 5
"""Letters that the stem of a word must have to be corrected: most shorter ones are a
slip away from another."""

TWO_SLIPS_MIN_CHARS = 9
"""Letters from which two slips are corrected."""

PART_MIN_CHARS = 3
PARTS_OF_WORD = 5
"""Longer words that are looked up instead of a word that no note holds, at most."""

SHORT_HASH_CHARS = 7
"""Letters from which the beginning of a run names it, as git abbreviates a commit."""

CHANCE_LENGTHS = 3
"""A word so many times as long holds a part by chance, unless it begins with it."""


def suggest(view: IndexView, words: WordMatches) -> tuple[str, ...]:
    """Return words of the memory near to words of the query that it lacks."""
    unknown = [
        term.tokens[0] for term in words.asked if not term.chunks and not term.is_phrase
    ]
    unknown = unknown[:MAX_WHOLE_READS]
    if not unknown:
        return ()
    known = view.vocabulary()
    found: dict[str, None] = {}
    for token in unknown:
        tokens = known.near_tokens(token, parts_left(token, slips_in(token)))
        for near in nearest_words(token, tokens, known.is_seen):
            found[known.shortest_spelling(near)] = None
    return tuple(found)[:MAX_SUGGESTIONS]


def with_corrections(
    vocabulary: Vocabulary, terms: Sequence[QueryTerm], words: WordMatches
) -> tuple[list[QueryTerm], dict[str, str]]:
    """Replace misspelled words by those of the notes that they are a slip away from.

    Returns:
        The terms to look up instead, and word -> what is looked up for it.
    """
    unknown = {
        term.text: term.tokens[0]
        for term in words.asked
        if not term.chunks and not term.is_phrase and term.text.isalpha()
    }
    corrected: dict[str, str] = {}
    for word, token in unknown.items():
        # Stems are compared, and that of "naples" has four letters.
        if len(token) < CORRECTED_MIN_CHARS or len(corrected) == MAX_WHOLE_READS:
            continue
        slips = 1 if len(word) < TWO_SLIPS_MIN_CHARS else 2
        known = vocabulary.near_tokens(token, parts_left(token, slips))
        near = nearest_words(token, known, vocabulary.is_seen, limit=slips)
        # What only goes on where the word ends is looked up as a longer word.
        near = [other for other in near if not other.startswith(token)]
        if near:
            corrected[word] = vocabulary.shortest_spelling(near[0])
    return [
        QueryTerm(corrected.get(term.text, term.text), term.is_phrase, term.is_generic)
        if term.text in corrected
        else term
        for term in terms
    ], corrected


def with_longer_words(
    vocabulary: Vocabulary, terms: Sequence[QueryTerm], words: WordMatches
) -> tuple[list[QueryTerm], frozenset[str]]:
    """Replace words that no note holds by longer words that begin with them.

    When no word at all was found, longer words may contain them anywhere. A word that
    has nothing but longer words that hold it by chance stays, and counts as missing.

    Returns:
        The terms to look up instead, empty when there are no longer words; and which of
        them were found by chance.
    """
    unknown = {term.text for term in words.asked if not term.chunks}
    anywhere = not words.known
    left = MAX_WHOLE_READS if anywhere else len(terms)
    more: list[QueryTerm] = []
    chances: set[str] = set()
    has_found = False
    for term in terms:
        longer: list[str] = []
        if left and term.text in unknown and len(term.text) >= PART_MIN_CHARS:
            left -= 1
            longer = vocabulary.longer_words(
                term.text, limit=PARTS_OF_WORD, anywhere=anywhere
            )
        has_found = has_found or bool(longer)
        meant = [word for word in longer if not _is_chance(term.text, word)]
        if longer and not meant:
            chances.update(longer)
            more.append(term)
            meant = longer
        more += [QueryTerm(word) for word in meant] or [term]
    return (more if has_found else []), frozenset(chances)


def _is_chance(part: str, word: str) -> bool:
    """Return whether a longer word says nothing about a part of it.

    >>> _is_chance("fee", "77a04f1c0ffee12"), _is_chance("3fa9c1b", "3fa9c1bde77a04f")
    (True, False)
    >>> _is_chance("chain", "keychain")
    False
    """
    begins = word.startswith(part)
    if is_run(word):
        return not begins or len(part) < SHORT_HASH_CHARS
    return not begins and len(word) >= CHANCE_LENGTHS * len(part)
