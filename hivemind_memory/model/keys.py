"""Compares keys: which are the same, and which are too similar to be two. Pure.

People and agents type ``Deploy_Day`` for ``deploy-day``: case, dashes, underscores,
blanks and how a letter with a mark is encoded make no difference. A key that differs
from another in accents alone, in a dash between letters that is or is not there, or in
another sign in place of one, may be another word (*resume*, *résumé*); it is
refused with the other's name, and the caller decides.
"""

from __future__ import annotations

import unicodedata

from hivemind_memory.model.display import escape_line, shorten
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_GAPS = lazy_re(r"[\s_\u002d\u00ad\u058a\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+")
# What is not seen: joiners, direction marks, variation selectors.
_UNSEEN = lazy_re("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
# Accents of Latin, Greek and Cyrillic. In other scripts a mark is a letter.
_ACCENTS = lazy_re("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]")
_DOTS = lazy_re(r"-*+[.:/=,;][-.:/=,;]*+")
# "v1-1" and "v11" are two versions.
_DASH_IN_WORD = lazy_re(r"(?<!\d)-|-(?!\d)")

_SHOWN_CHARS = 80
"""Of a name that nothing has."""

MAX_TYPED_CHARS = 300
"""What is longer is no mistyped name. To compare a text of megabytes with
the names there are takes seconds."""


def folded_key(key: str) -> str:
    """Return what equal keys have in common.

    >>> folded_key("Deploy_Day") == folded_key(" deploy - DAY ")
    True
    """
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", key).casefold())
    text = unicodedata.normalize("NFKC", text)
    return _GAPS.sub("-", text).strip("-") or key.strip()


def near_key(key: str) -> str:
    """Return what keys have in common that are too near to be two.

    >>> near_key("résumé"), near_key("re-sume"), near_key("re.sume"), near_key("v1.1")
    ('resume', 'resume', 'resume', 'v1-1')
    >>> near_key("a:b") == near_key("a/b") == near_key("a = b"), near_key("c++")
    (True, 'c++')
    """
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", folded_key(key)))
    dashed = _DOTS.sub("-", unicodedata.normalize("NFKC", plain)).strip("-")
    return _DASH_IN_WORD.sub("", dashed) or key


def closest(
    name: str, known: Iterable[str], count: int = 1, *, similarity: float = 0.7
) -> tuple[str, ...]:
    """Return the names that *name* was probably meant to be, the nearest first.

    Args:
        name: What was typed.
        known: The names there are.
        count: The most names to return.
        similarity: Of the texts, 0 to 1, from which one is taken for the other.
    """
    if len(name) > MAX_TYPED_CHARS:
        return ()
    by_fold = {folded_key(known_key): known_key for known_key in sorted(known)}
    wanted = folded_key(name)
    # As alike as difflib can find texts of these lengths; loading it costs more.
    alike = [
        folded
        for folded in by_fold
        if 2 * min(len(folded), len(wanted)) >= similarity * (len(folded) + len(wanted))
    ]
    near: list[str] = []
    if alike:
        from difflib import get_close_matches

        near = get_close_matches(wanted, alike, count, similarity)
    if not near:  # of a short name two letters that changed places are a large part
        near = [folded for folded in by_fold if sorted(folded) == sorted(wanted)][
            :count
        ]
    return tuple(by_fold[folded] for folded in near)


def similar_names(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return what ``closest`` does, or else the shortest that begins with these words.

    >>> similar_names("zoom", ("zoom-limit", "zoomed-map")), similar_names("a", ("b",))
    (('zoom-limit',), ())
    """
    if len(name) > MAX_TYPED_CHARS:
        return ()
    names = sorted(known)
    head = f"{folded_key(name)}-"
    longer = [other for other in names if folded_key(other).startswith(head)]
    return closest(name, names) or tuple(sorted(longer, key=len)[:1])


def no_such(kind: str, name: str, tail: str = "") -> str:
    """Return the sentence that nothing has a name, which is shown on one line.

    >>> no_such("key", "deploy")
    "There is no key 'deploy'."
    """
    shown = escape_line(shorten(name, _SHOWN_CHARS))
    return f"There is no {kind} {quoted(shown)}{tail}."


def quoted(name: str) -> str:
    """Return a name between quotes, as a shell takes it for one word."""
    if "'" not in name:
        return f"'{name}'"
    from shlex import quote  # a name with such a quote is rare

    return quote(name)


def pasted(words: Iterable[str]) -> str:
    r"""Return a command that is offered to be pasted: bash and zsh read these words.

    >>> print(pasted(["pi", "two words", "a\nb'", "\udcff1"]))
    pi 'two words' $'a\012b\047' $'\3771'
    """
    return " ".join(map(_pasted_word, words))


def _pasted_word(word: str) -> str:
    """Return a word as a shell reads it, on one line and with nothing unseen."""
    from shlex import quote

    if word.isprintable():
        return quote(word)
    shown = [
        letter if letter.isprintable() and letter not in "\\'" else _octal(letter)
        for letter in word
    ]
    return f"$'{''.join(shown)}'"


def _octal(letter: str) -> str:
    """Return the bytes of a letter as a shell reads them between ``$'`` and ``'``."""
    data = letter.encode("utf-8", "surrogateescape")
    return "".join(f"\\{byte:03o}" for byte in data)


def operand(name: str) -> str:
    """Return a name as the last word of a command that is offered to be pasted.

    >>> operand("deploy-day"), operand("two words"), operand("-draft.md")
    ('deploy-day', "'two words'", '-- -draft.md')
    """
    from shlex import quote

    return f"-- {quote(name)}" if name.startswith("-") else quote(name)
