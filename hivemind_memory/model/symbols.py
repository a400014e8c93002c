"""Words with signs: ``C++``, ``C#``, ``B::C``, ``.env``, ``--force``, ``&&``.

The full-text engine cuts their signs off. So each is one more term of a note and of a
query, its signs written as characters for private use, which the engine takes for
letters.
"""

from __future__ import annotations

import re
from functools import cache

_SIGNS = "!#&+-.:<=>?|_"
_FIRST_SIGN = 0xE400
"""Signs are written as characters from here on; no common font draws anything there."""

_WRITTEN = {ord(sign): _FIRST_SIGN + ord(sign) for sign in _SIGNS}
_MAX_CHARS = 40
"""What is longer is a line of signs, or no word that anybody looks for."""


def signed_words(text: str) -> list[str]:
    """Return the words of *text* that are what they are by their signs, as terms.

    In the order of the text, a word as often as it occurs.

    >>> len(signed_words("C++ or c# with --force && .env, a.b, a-b and 1 + 1."))
    5
    """
    found = []
    for match in _pattern().finditer(text):
        start, word = match.start(), match.group()
        if word in {"++", "#"} or word.startswith("::"):
            name = _name_before().search(text, max(0, start - _MAX_CHARS), start)
            if name is None:
                continue
            word = name.group() + word
        if len(word) <= _MAX_CHARS:
            found.append(word.lower().translate(_WRITTEN))
    return found


def may_hold_signs(text: str) -> bool:
    """Whether a query may hold such a word: most hold none, and to compile is slow."""
    return not text.isalnum() and any(sign in text.rstrip("?!. ") for sign in _SIGNS)


def is_all_signs(word: str) -> bool:
    """Whether a term of ``signed_words`` has no letter: an operator."""
    return all(_FIRST_SIGN <= ord(character) < _FIRST_SIGN + 128 for character in word)


@cache
def _pattern() -> re.Pattern[str]:
    """Return what finds the signs; it begins with a set, so that it skips quickly."""
    return re.compile(
        r"""[-!#&+.:<=>?|](?:
          (?<=\+)\+(?![\w+])                                    # C++
        | (?<=[A-Za-z]\#)(?![\w#])                              # C#
        | (?<=\w:):[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*              # B::C
        | (?<=\.)(?<![\w.:/\\)\]]\.)[A-Za-z_][\w-]*(?:\.\w+)*   # .env, .env.local
        | (?<=-)(?<![^\s`("'\[|]-)-?[A-Za-z][\w-]*                 # --force, -m
        | (?<=-)(?<![-<]-)>(?![\w>])                            # ->
        | (?<=[!&<=>?|])(?<![^\s`("'].)[&<=>?|]{1,2}(?![^\s`)"',;])  # &&, !=
        )""",
        re.VERBOSE | re.ASCII,
    )


@cache
def _name_before() -> re.Pattern[str]:
    """Return what finds the word that ends where signs begin."""
    return re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
