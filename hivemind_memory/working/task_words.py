"""How well a text has the words of a task. No I/O.

A word counts in all its forms, which are those of a search, and as a part of a name:
``rounding`` is in ``round_half_up`` and in ``roundHalfUp``. Rare words count more than
frequent ones, and a word that is in a text many times counts little more than one that
is there twice.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import NamedTuple

from hivemind_memory.context.query_words import telling_words
from hivemind_memory.model.inflections import stem_of
from hivemind_memory.model.terms import query_terms
from hivemind_memory.model.word_forms import other_forms
from hivemind_memory.sqlite.word_stems import english_stem

MIN_COVERAGE = 0.15
"""Share of the words' weight that a text must have to be a candidate."""

_MIN_STEM = 4
_ENDING = re.compile(
    r"(?:(?<=.{4})(?:ings?|ers?|ed|es|en|ly|s|e|y|ies|ied)"
    r"|(?<=.{5})(?:ations?|ions?|ment|ments))$"
)
"""Ends that a word has in some of its forms; ``station`` is no form of ``stat``.
What is left is also looked for inside longer words, unlike the stem of a search."""

_MAX_WORDS = 24
_NAME_COUNTS = 2
"""A word in a path or a heading counts as so many in the text."""

_COUNTED_TEXTS = 40
"""Texts in which each word is counted, those that hold most of the words."""

_SATURATION = 0.5
_LENGTH_SHARE = 0.75
_NUMBER = re.compile(r"(?<![\w.,])\d{3,}(?![\w.,]\d)")
"""A status, a port, an error: in a task it tells more than most words."""

_NAMED_FILE = re.compile(r"[\w.-]*(?:/[\w.-]+)+|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}")


class WordPattern(NamedTuple):
    """One word of a task."""

    word: str
    stem: str
    """In small letters, what most of its forms begin with."""

    letters: tuple[str, ...]
    """A text with some form of it has one of these, in small letters."""

    pattern: str
    """A regular expression that finds what may be a form of it."""

    def may_be_in(self, small: str) -> bool:
        """Return whether a text in small letters may have the word."""
        return any(map(small.__contains__, self.letters))

    def count(self, text: str) -> int:
        """Return how often a text has the word, in any form."""
        found = _compiled(self.pattern).findall(text)
        return sum(1 for other in found if _is_form(other, self.word, self.stem))


class WordCounts(NamedTuple):
    """How often the words of a task are in one text."""

    counts: tuple[int, ...]
    """In the order of the words."""

    chars: int
    """Length of the text."""


class FoldedTexts:
    """Texts with their small letters, which many words are looked for in."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Fold each text once; the names are paths."""
        self.texts = texts
        self._small = {
            path: f"{path} {text}".casefold() for path, text in texts.items()
        }

    def holding(self, stem: str) -> int:
        """Return how many texts have some letters."""
        return sum(1 for small in self._small.values() if stem in small)

    def ranked(self, words: TaskWords) -> tuple[list[tuple[str, float]], Coverage]:
        """Return the texts that cover most of some words, and how they are weighed.

        Words are only counted in the few that hold most of them.
        """
        seen = {
            path: WordCounts(
                tuple(int(known.may_be_in(small)) for known in words.patterns),
                len(small),
            )
            for path, small in self._small.items()
        }
        coverage = Coverage(words, seen.values())
        likely = heapq.nsmallest(
            _COUNTED_TEXTS, seen, key=lambda path: (-coverage.of(seen[path]), path)
        )
        shares = [
            (path, coverage.of(words.count(self.texts[path], f"{path} ")))
            for path in likely
        ]
        return sorted(shares, key=lambda pair: (-pair[1], pair[0])), coverage


class TaskWords:
    """The words of one task."""

    def __init__(self, task: str, *, limit: int = _MAX_WORDS) -> None:
        """Find the words that tell what a task is about; without any, take all."""
        words = telling_words(task)
        words += tuple(dict.fromkeys(_NUMBER.findall(task)))
        if not words:
            terms = query_terms(task).terms
            words = tuple(term.text for term in terms if not term.is_phrase)
        self.patterns = tuple(map(_pattern_of, dict.fromkeys(words[:limit])))

    def count(self, text: str, names: str = "") -> WordCounts:
        """Return how often each word is in a text, and in its names.

        Args:
            text: The text.
            names: Its path and its headings.
        """
        small, small_names = text.casefold(), names.casefold()
        counts = []
        for known in self.patterns:
            count = known.count(text) if known.may_be_in(small) else 0
            if known.may_be_in(small_names) and known.count(names):
                count += _NAME_COUNTS
            counts.append(count)
        return WordCounts(tuple(counts), len(text))

    def found(self, counted: WordCounts) -> list[str]:
        """Return the words that are in a text."""
        pairs = zip(self.patterns, counted.counts, strict=True)
        return [known.word for known, count in pairs if count]


class Coverage:
    """Says how much of a task's words a text covers, among other texts."""

    def __init__(self, words: TaskWords, texts: Iterable[WordCounts]) -> None:
        """Weigh the words by how many of the texts have them."""
        seen = list(texts)
        sizes = range(len(words.patterns))
        holding = [sum(1 for text in seen if text.counts[at]) for at in sizes]
        known = [
            math.log(1 + (len(seen) - count + 0.5) / (count + 0.5)) if count else 0.0
            for count in holding
        ]
        # A word that no text has says nothing of which one is meant, but that the task
        # is about something else, too: it weighs as much as the others do on average.
        mean = sum(known) / (sum(map(bool, holding)) or 1)
        self._weights = [weight or mean for weight in known]
        self._mean_chars = _mean_chars(seen)

    def of_sections(self, sections: Iterable[WordCounts]) -> Coverage:
        """Return the same weights for the sections of the texts, which are shorter."""
        narrowed = copy(self)
        narrowed._mean_chars = _mean_chars(list(sections))  # noqa: SLF001 - a copy
        return narrowed

    def of(self, counted: WordCounts) -> float:
        """Return the share of the words' weight that a text has, 0..1.

        Source:
            The saturation of BM25 (Robertson, Zaragoza: The Probabilistic Relevance
            Framework, 2009), divided by what a text with all words would get.
        """
        whole = sum(self._weights)
        if not whole:
            return 0.0
        length = counted.chars / (self._mean_chars or 1.0)
        slow = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length)
        pairs = zip(self._weights, counted.counts, strict=True)
        return sum(weight * n / (n + slow) for weight, n in pairs if n) / whole


def _mean_chars(texts: Sequence[WordCounts]) -> float:
    """Return the mean length of some texts; 1 if there are none."""
    return sum(text.chars for text in texts) / len(texts) if texts else 1.0


def named_files(task: str, paths: Sequence[str]) -> list[str]:
    """Return the files that a task names, by their path or its end.

    >>> named_files("why does cart.py round?", ["src/cart.py", "src/mycart.py"])
    ['src/cart.py']
    """
    found: dict[str, None] = {}
    for match in _NAMED_FILE.findall(task):
        name = match.strip("./")
        if name:
            ends = f"/{name}"
            found |= dict.fromkeys(
                path for path in paths if path == name or path.endswith(ends)
            )
    return list(found)


_compiled = lru_cache(maxsize=4_096)(re.compile)
"""Most words of what was found are never counted."""


@lru_cache(maxsize=65_536)
def _is_form(found: str, word: str, stem: str) -> bool:
    """Return whether a word begins as another one does, or has the same stem."""
    if not word.isascii():
        return True
    small = found.lower()
    return (
        small == word
        or (len(word) >= _MIN_STEM and small.startswith(stem))
        or english_stem(small) == english_stem(word)
        or small in other_forms(word)
    )


def _pattern_of(word: str) -> WordPattern:
    """Return what finds a word, with other endings and inside names."""
    if not word.isascii():
        # A script without blanks has no boundaries; others rarely have such names.
        stem = stem_of(word)
        stem = stem if stem in word else word
        forms = (stem, *other_forms(word))
        pattern = rf"(?i:{'|'.join(map(re.escape, forms))})"
        return WordPattern(word, stem, forms, pattern)
    is_short = len(word) < _MIN_STEM
    stem = word if is_short else _stem_of(word)
    english = english_stem(word)
    others = other_forms(word)
    letters = {stem, english, *others}
    if english.endswith("i"):  # *city* and *cities* have one stem, *citi*
        letters.add(f"{english[:-1]}y")
    begin = _common_beginning(stem, english.removesuffix("i"))
    more = "".join(f"|{re.escape(form)}(?![a-z])" for form in others)
    if is_short:
        found = rf"(?<![A-Za-z0-9])(?i:{re.escape(begin)}{more})[a-z]*(?![a-z0-9])"
    else:
        inside = re.escape(begin.capitalize())
        found = rf"(?<![A-Za-z])(?i:{re.escape(begin)}{more})[a-z]*"
        found += rf"|(?<=[a-z0-9]){inside}[a-z]*"
    least = [it for it in letters if not any(o in it for o in letters - {it})]
    return WordPattern(word, stem, tuple(least), found)


def _common_beginning(first: str, second: str) -> str:
    """Return what two words begin with.

    >>> _common_beginning("stopp", "stop")
    'stop'
    """
    ends = range(len(first), 0, -1)
    return next((first[:end] for end in ends if second.startswith(first[:end])), "")


def _stem_of(word: str) -> str:
    """Return what most forms of a word begin with.

    >>> [_stem_of(word) for word in ("rounding", "delivery", "station", "charged")]
    ['round', 'deliver', 'station', 'charg']
    """
    ending = _ENDING.search(word)
    return word if ending is None else word[: ending.start()]
