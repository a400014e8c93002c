"""How text becomes the terms that are looked up: one rule for notes and questions.

The full-text engine splits at everything that is not a letter, a digit or a combining
mark, folds case and diacritics, and stems English. What it cannot do is added here, as
*extra terms* beside the text of a chunk and as extra terms of a question: one- and
two-grams of scripts that write no spaces, the parts of identifiers, and the plain form
of characters that Unicode keeps for compatibility.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

MAX_TERMS = 64
"""Terms of one question that count; what is beyond is reported as ignored."""

MAX_QUESTION_CHARS = 4_000
"""Characters of a question that are read at all: 64 terms fit many times over."""

# Scripts that write no spaces between words, and Hangul, whose words carry endings
# that no stemmer here takes off: Thai, Lao, Tibetan, Myanmar, Khmer, Kana, Bopomofo,
# Han, Hangul. Ranges of the Unicode blocks, version 15.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007"
    "\u3040-\u30ff\u3100-\u312f\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_ASCII_COMPOUND = re.compile(r"[A-Za-z0-9]+(?:[-_./\\:@]+[A-Za-z0-9]+)*")
_ASCII_PART = re.compile(r"[A-Za-z0-9]+")


@cache
def _mixed_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what finds words like fooBar, HTTPServer or utf8, and their parts."""
    word = r"\b(?=\w*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d))[A-Za-z0-9]+"
    return re.compile(word), re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class _Patterns:
    """Patterns for text beyond ASCII: compiling them takes longer than an answer."""

    def __init__(self) -> None:
        # Marks belong to their word: without them Hindi and Thai fall into pieces.
        marks = "\u0300-\u036f\u0900-\u0dff\u0e00-\u109f\u1780-\u17ff"
        word = rf"(?:[^\W_]|[{marks}])"
        spaced = rf"(?:(?![{_UNSPACED}]){word})"
        self.compound = re.compile(rf"{word}+(?:[-_./\\:@]+{word}+)*")
        self.part = re.compile(rf"{word}+")
        self.unspaced_run = re.compile(f"[{_UNSPACED}]+")
        # What stands right beside an unspaced run: the engine takes "NHK杯" for one.
        self.glued = re.compile(
            f"(?<=[{_UNSPACED}]){spaced}+|{spaced}+(?=[{_UNSPACED}])"
        )


@cache
def _patterns() -> _Patterns:
    """Return the patterns, compiled once."""
    return _Patterns()


# Words that ask and carry nothing: closed classes of English (pronouns, auxiliaries,
# articles, prepositions, question words). In other languages the rarity of a word
# among the notes does the same, a little more slowly.
_QUESTION_WORDS = """
a about am an and any are as at be been being by can could did do does doing for from
had has have having he her hers him his how i if in into is it its itself just me mine
my of on or our ours shall she should so some such than that the their theirs them then
there these they this those to us was we were what when where which while who whom
whose why will with would you your yours
"""
QUESTION_WORDS = frozenset(_QUESTION_WORDS.split())


class Term(NamedTuple):
    """One thing to look up."""

    text: str
    """A word, a gram, or words that must stand side by side (``snake case``)."""

    is_phrase: bool = False
    """Several words side by side, looked up beside each of them."""


class QuestionTerms(NamedTuple):
    """A question, ready to be looked up."""

    terms: tuple[Term, ...]
    """At most ``MAX_TERMS``, each once, words before phrases."""

    ignored: int
    """Terms that did not count because there were more."""


def question_terms(question: str) -> QuestionTerms:
    """Return the terms of *question*; any text at all is legal.

    Question words are left out unless nothing else is left.

    >>> [term.text for term in question_terms("Where is the user_id set?").terms]
    ['user', 'id', 'set', 'user id']
    """
    text = question[:MAX_QUESTION_CHARS]
    compound_pattern, part_pattern = _ASCII_COMPOUND, _ASCII_PART
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFKC", text)
        compound_pattern, part_pattern = _patterns().compound, _patterns().part
    words: dict[str, None] = {}
    phrases: dict[str, None] = {}
    for compound in compound_pattern.findall(text):
        parts = part_pattern.findall(compound)
        if len(parts) > 1:
            phrases[" ".join(parts).lower()] = None
        for part in parts:
            words.update(dict.fromkeys(_terms_of_word(part)))
    weighty = [word for word in words if word not in QUESTION_WORDS]
    kept = weighty or list(words)
    terms = [Term(word) for word in kept]
    terms += [Term(phrase, is_phrase=True) for phrase in phrases]
    return QuestionTerms(tuple(terms[:MAX_TERMS]), max(0, len(terms) - MAX_TERMS))


def extra_terms(body: str) -> str:
    """Return the terms of *body* that the full-text engine would not find by itself.

    Space-separated, in the order of the text, a term as often as it occurs; empty for
    plain prose. Linear in the length of *body*.

    >>> extra_terms("see HTTPServer in 东京")
    'http server 东 东京 京'
    """
    if body.isascii():
        return " ".join(_parts_of_mixed_words(body))
    from unicodedata import is_normalized, normalize

    patterns = _patterns()
    found = _parts_of_mixed_words(body)
    if not is_normalized("NFKC", body):
        plain = normalize("NFKC", body)
        known = set(body.split())
        found += [word for word in plain.split() if word not in known]
        body = plain
    runs = patterns.unspaced_run.findall(body)
    if runs:
        found += patterns.glued.findall(body)
    for run in runs:
        found += _grams(run)
    return " ".join(found)


def _terms_of_word(word: str) -> list[str]:
    """Return *word* itself, its parts, and the grams of its unspaced runs."""
    if word.isascii():
        if word.isalpha() and word.islower():  # the usual word of a question
            return [word]
        parts = _parts_of_mixed_words(word)
        return [word.lower(), *parts] if parts else [word.lower()]
    terms: list[str] = []
    end = 0
    for run in _patterns().unspaced_run.finditer(word):
        if run.start() > end:
            terms.append(word[end : run.start()].lower())
        terms += _grams(run.group())
        end = run.end()
    if end < len(word):
        terms.append(word[end:].lower())
    return terms


def _parts_of_mixed_words(text: str) -> list[str]:
    """Return the parts of words like ``fooBar``, ``HTTPServer`` or ``utf8``."""
    mixed_word, mixed_part = _mixed_patterns()
    parts: list[str] = []
    for word in mixed_word.findall(text):
        parts += [part.lower() for part in mixed_part.findall(word)]
    return parts


def _grams(run: str) -> list[str]:
    """Return the one- and two-grams of a run, each one-gram before its two-gram."""
    grams: list[str] = []
    for at, character in enumerate(run):
        grams.append(character)
        if at + 1 < len(run):
            grams.append(run[at : at + 2])
    return grams
