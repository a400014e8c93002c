"""Finds the words from which a wallet is restored: in a sentence, a list, with numbers.

They are twelve to thirty-three words of three to eight letters, and none of those that
every sentence has. A text that names no wallet, seed or phrase is not looked at.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.prose_words import WALLET_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_LETTER = "[a-zß-öø-ÿ]"  # of the lists in French, Spanish, Italian and Portuguese too
# Words of one kind of length, parted alike, from one mark or line end to another.
_WORDS_ALONE = lazy_re(
    rf"(?<![\w,;-])(?<!, )(?:\d{{1,2}}[.):][ ]?)?{_LETTER}{{3,10}}(?P<joint>,[ ]?|[ ]"
    r"|[ ]?[/|·-][ ]?|\t)"
    rf"(?:(?:\d{{1,2}}[.):][ ]?)?{_LETTER}{{3,10}}(?P=joint)){{10,31}}"
    rf"(?:\d{{1,2}}[.):][ ]?)?{_LETTER}{{3,10}}"
    rf"(?![\w-]|(?P=joint){_LETTER})"
)
_PHRASE = lazy_re(
    r"(?i)(?:seed|mnemonic|recovery|backup|wallet)(?:[ \t-]+(?:phrase|words?|seed))?"
    r"[^\n:=]{0,40}[:=\n][\s\"'`>*-]*"
    r"((?:(?:\d{1,2}[.):]?[ \t]*)?[a-z]{3,8}"
    r"(?:[ \t,;]+|[ \t]*\r?\n[ \t>*-]*(?![\r\n]))){11,23}(?:\d{1,2}[.):]?[ \t]*)?"
    r"[a-z]{3,8})(?![a-z])"
)
_PHRASE_STARTS = ("seed", "mnemonic", "recovery", "backup", "wallet")
_PHRASE_LENGTHS = frozenset((12, 15, 18, 20, 21, 24, 25, 33))
_FEWEST = 12
_WORD = lazy_re(r"[^\W\d_]+")
_LONGEST_LIST = 26  # lines of one word each
# Frequent words that no list of seed words holds (BIP 39).
_NO_SEED_WORDS = frozenset(
    (
        "the", "and", "are", "was", "were", "for", "from", "with", "not", "but",
        "has", "had", "our", "your", "its", "his", "her", "their", "him", "she",
        "been", "would", "could", "should", "than", "which", "who", "der", "das",
        "und", "ist", "nicht", "mit", "von", "les", "des", "une", "est", "que", "pour",
        "dans", "avec", "sur", "ses", "los", "las", "una", "por", "con", "para", "del",
        "sus", "che", "non", "per", "uma", "seus",
    )
)  # fmt: skip
_NUMBERED_WORDS = lazy_re(
    r"1(?<![\w.]1)[.):=-]?[ \t]{0,3}[a-z]{3,8}(?:[ \t,;|]{1,4}\d{1,2}[.):=-]?"
    r"[ \t]{0,3}[a-z]{3,8}){11,32}(?![\w-])"
)
_NUMBERED_LINES = lazy_re(
    r"(?<![\w.])1[.):=-]?[ \t]{1,3}[a-z]{3,8}(?:[ \t,;|]{0,8}(?:\r?\n[ \t>*|-]{0,8})?"
    r"\d{1,2}[.):=-]?[ \t|]{1,3}[a-z]{3,8}){11,32}(?![\w-])"
)
_WALLET_WORDS = frozenset(WALLET_WORDS)
SEED_WORDS = frozenset((*WALLET_WORDS, *_PHRASE_STARTS, "12.", "12)", "12:"))
"""One of these is in each text that has such words, in lower case."""


def _words_alone(there: LineWords) -> Iterator[re.Match[str]]:
    """Yield twelve words or more that stand together near a word for a wallet."""
    text = there.text
    for first, last in there.blocks(there.rows(_WALLET_WORDS), below=2):
        start = first
        for line in text[first:last].split("\n"):
            # Prose has other words among them: to ask the pattern takes far longer.
            run = longest = 0
            for word in _WORD.findall(line):
                is_likely = 2 < len(word) < 11 and word.islower()
                run = run + 1 if is_likely and word not in _NO_SEED_WORDS else 0
                longest = max(longest, run)
            if longest >= _FEWEST:
                yield from _WORDS_ALONE.finditer(text, start, start + len(line))
            start += len(line) + 1


def seed_phrases(there: LineWords) -> Iterator[TextSpan]:
    """Yield the seed phrases of wallets in a text with some of ``SEED_WORDS``."""
    for found in _words_alone(there):
        words = re.findall(f"{_LETTER}+", found[0])
        if len(words) in _PHRASE_LENGTHS and _NO_SEED_WORDS.isdisjoint(words):
            yield (*found.span(), "seed-phrase")
    every = [*_NUMBERED_WORDS.finditer(there.text)]
    every += there.near(_NUMBERED_LINES, _WALLET_WORDS, below=_LONGEST_LIST)
    for found in every:
        yield (*found.span(), "seed-phrase")
    for found in there.at(_PHRASE, _PHRASE_STARTS):
        words = re.findall("[a-z]+", found[1])
        if len(words) in _PHRASE_LENGTHS and _NO_SEED_WORDS.isdisjoint(words):
            yield (*found.span(1), "seed-phrase")
