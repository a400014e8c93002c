"""Finds the words of a query in a snippet, and the lines worth showing. Pure."""

from __future__ import annotations

import re
from unicodedata import combining, normalize

from hivemind_memory.model.terms import query_terms
from hivemind_memory.patterns.lazy_pattern import lazy_re

_WORD = lazy_re(r"(?:[^\W_]|[\u0300-\u036f])+")
# What English hangs on a word: enough to light up "deployed" for "deploy". The index
# has a real stemmer; a light that is missing here costs no hit.
_ENDINGS = ("ments", "ment", "ings", "ing", "ers", "ied", "ies", "er", "ed", "es", "s")
_SHORTEST_STEM = 3


def spans(text: str, query: str) -> list[tuple[int, int]]:
    """Return where *text* says a word of *query*: start and end, in order, disjoint.

    Case, diacritics and common English endings do not matter.

    >>> spans("We deployed the café.", "how to deploy a CAFE")
    [(3, 11), (16, 20)]
    """
    terms = [term.text for term in query_terms(query).terms if not term.is_phrase]
    stems = {_stem(_fold(term)) for term in terms}
    # Scripts without spaces have no words to compare: their terms are looked for.
    grams = [term for term in terms if len(term) > 1 and not term[0].isascii()]
    found = [
        match.span()
        for match in _WORD.finditer(text)
        if _stem(_fold(match.group())) in stems
    ]
    for gram in grams:
        found += [match.span() for match in re.finditer(re.escape(gram), text)]
    return _joined(found)


def best_lines(text: str, query: str, limit: int) -> tuple[int, int]:
    """Return the window of at most *limit* lines that says most of *query*.

    Returns:
        Number of the first line, from 0, and of the line after the last.
    """
    lines = text.split("\n")
    if len(lines) <= limit:
        return 0, len(lines)
    weights = [len(spans(line, query)) for line in lines]
    starts = range(len(lines) - limit + 1)
    start = max(starts, key=lambda at: sum(weights[at : at + limit]))
    # A window that begins with lines of no interest moves down to the first that has.
    while start < len(lines) - limit and not weights[start] and any(weights[start:]):
        start += 1
    return start, start + limit


def _fold(word: str) -> str:
    """Return a word without case and diacritics."""
    if word.isascii():
        return word.lower()
    letters = normalize("NFKD", word.casefold())
    return "".join(letter for letter in letters if not combining(letter))


def _stem(word: str) -> str:
    """Return a folded word without its English ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)]
            break
    return word.rstrip("ey") if len(word) > _SHORTEST_STEM else word


def _joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that touch made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
