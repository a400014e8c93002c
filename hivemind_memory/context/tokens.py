"""How many tokens a text costs, estimated without a model's own vocabulary.

The text is cut into words, numbers, signs and characters of other scripts, and each
kind has a price. The prices are fitted to the most expensive of three published
vocabularies (OpenAI's o200k and cl100k, Anthropic's of Claude 2), so the estimate is
rather too high than too low.

Measured on 122 notes and source files of this project in 12 languages, with the npm
packages gpt-tokenizer 3 and @anthropic-ai/tokenizer: against the most expensive of the
three 0.86 to 1.22 of the true count (mean 1.03, 90 % within 0.93 to 1.15); Chinese 1.13
of it, Japanese 1.04, code 1.04, English 1.01. The newest vocabulary, o200k, is much
cheaper for other scripts: there the estimate is 1.5 (Chinese) to 3.7 (Thai) times high.
"""

from __future__ import annotations

import math

from hivemind_memory.patterns.lazy_pattern import lazy_re

# A word, a number, the start of a line, a wide gap, a sign, a foreign character.
_PIECE = lazy_re(
    r"(?P<word>[A-Za-z]+)|(?P<number>[0-9]+)|(?P<line>\n[^\S\n]*)|(?P<gap>[^\S\n]{2,})"
    r"|(?P<sign>[!-/:-@\[-`{-~])|(?P<foreign>[^\x00-\x7f])"
)
_PRICES = {"line": 0.8, "gap": 0.7, "sign": 0.6}
_WORD = 1.1
_LONG_FROM = 6
_PER_LETTER_MORE = 0.33
_PER_THREE_DIGITS = 1.25
# Last code point of a range -> price of one character in it.
_FOREIGN = (
    (0x024F, 2.4),  # accented Latin letters: they break a word in two
    (0x058F, 0.65),  # Greek, Cyrillic, Armenian
    (0x0DFF, 1.3),  # Hebrew, Arabic, the Indic scripts
    (0x0EFF, 1.8),  # Thai, Lao
    (0x1DFF, 1.4),
    (0x1EFF, 2.4),  # Vietnamese letters
    (0x2E7F, 1.5),  # dashes, quotes, arrows, boxes
    (0xABFF, 1.2),  # Chinese, Japanese
    (0xD7FF, 1.4),  # Korean syllables
    (0xFFFF, 1.2),
    (0x10FFFF, 3.0),  # emoji and rare signs: each of several bytes
)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens *text* costs, rounded up.

    >>> estimate_tokens("We deploy on Tuesdays only."), estimate_tokens("我们周二部署")
    (7, 8)
    """
    total = 0.0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup or ""
        if kind == "word":
            extra = len(piece[0]) - _LONG_FROM
            total += _WORD + _PER_LETTER_MORE * extra if extra > 0 else _WORD
        elif kind == "number":
            total += _PER_THREE_DIGITS * math.ceil(len(piece[0]) / 3)
        elif kind == "foreign":
            total += _price_of(ord(piece[0]))
        else:
            total += _PRICES[kind]
    return math.ceil(total)


def _price_of(code: int) -> float:
    """Return what one character beyond ASCII costs."""
    for last, price in _FOREIGN:
        if code <= last:
            return price
    return _FOREIGN[-1][1]
