"""Classifies text between blanks by its look: a secret, doubtful, or plain.

The gate remembers what it returns: most pieces stand in many texts.
"""

from __future__ import annotations

from enum import IntEnum

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.judgments import asked_once

SHORTEST = 4
_SHORTEST_CHOSEN = 5
_LONG = 16  # from here on letters of one case may be random
_QUOTES = lazy_re(r"[\"'`()\[\]{}<>|“”„«»：，、。（）]+")
_SEPARATORS = lazy_re(r"[,;:=/\\&?]+|[^\x00-\x7f]+")
_NUMBER_OR_VERSION = lazy_re(
    r"[\d.:/+\s%x-]+|v?\d+(?:\.\d+)+[\w.+-]{0,12}|(?:19|20)\d\d-\d\d-\d\d.*|\d+[a-zA-Z]{1,3}"
)
_NAME_OR_HASH = lazy_re(
    r"[a-z]+(?:[_.-][a-z]+)*[_.-]?\d{1,6}|[A-Z]+(?:[_.-][A-Z]+)*[_.-]?\d{1,6}|[0-9a-f]{7,12}"
)
_WORDS = lazy_re(
    r"(?:[A-Z]?[a-z]+|[A-Z]+)(?:[._/+-]+(?:[A-Z]?[a-z]+|[A-Z]+))*"
    r"|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*[A-Z]{0,5}|[A-Z]{2,6}[a-z]{2,}(?:[A-Z][a-z]{2,})*"
)
_PATH = lazy_re(r"[\w./:-]{1,200}?\.[a-z]{1,5}(?::\d{1,6}(?:-\d{1,6})?)?")
# Words as names in code are made of, and numbers with three words or none before them.
_ORDINARY = lazy_re(
    r"[^\w!#$%&*+?^~@]*+(?:(?:[A-Z]?[a-z]++(?:[A-Z][a-z]{2,}+)*+|[A-Z]++)"
    r"(?:[^A-Za-z0-9!#$%&*+?^~@]++|\Z)){1,40}+|[^\w!#$%&*+?^~@]*+"
    r"(?:(?:[A-Z]?[a-z]++(?:[A-Z][a-z]{2,}+)*+|[A-Z]++)[^A-Za-z0-9!#$%&*+?^~@]++){3,40}+"
    r"\d{1,6}+[^A-Za-z0-9!#$%&*+?^~@]*+"
)
_CONSONANTS = lazy_re("(?i)[bcdfghjklmnpqrstvwxz]{5}")
_IS_GIVEN = lazy_re(
    r"[\"'][\w!#$%&*+@^~?.-]{4,}[\"']|[:=@/](?![:/])[\w!#$%&*+@^~?.-]{4,}"
)
_UNLIKE_A_WORD = lazy_re(
    r"[0-9]|[!#$%&*+@^~?][A-Za-z]|[a-z][A-Z].*[a-z][A-Z]"
    r"|[A-Z]{2}[a-z]+[A-Z]|[a-z]-[a-z]+-[a-z]"
)
# Most pieces, so that they need not be asked one by one: what has nothing of that and
# is not long; numbers and versions; a word in bold; words as names in code are made of.
_SIMPLE = lazy_re(
    r"(?m)^(?:(?=.{1,15}$)[^A-Z0-9!#$%&*+@^~?\n-]*+[A-Z]?[^A-Z0-9!#$%&*+@^~?\n-]*+"
    r"|[\"'`(\[]*+[0-9.:/%+-]++[\"'`)\].,;:]*+"
    r"|\*\*[A-Z]?[a-z]{1,12}\*\*[.,:;]?"
    r"|(?=.{16,80}$)(?!.*[bcdfghjklmnpqrstvwxz]{5})(?!(?:.*\.){3})"
    r"[\"'`(\[]*+[a-z]++(?:[._/:,()\[\]\"'`]++[a-z]++)*+[._/:,()\[\]\"'`]*+)$"
)
_DASHED = lazy_re("[A-Za-z]{3,12}(?:-[A-Za-z]{3,12}){2,9}")  # words, perhaps drawn
_GROUP_OF_FOUR = lazy_re("(?=[A-Z0-9a-z]{4})(?=.*[0-9])(?=.*[A-Z]).{4}")
_GROUPS = lazy_re("[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,7}")  # a product key
_SIGN = lazy_re("[!#$%&*+@^~?_.-]")
_EMPHASIS = lazy_re(r"\*\*([^*\s]+)\*\*")
_NAME = lazy_re(r"[A-Za-z0-9_.-]+")
_ENDS = "\"'`.,;:_()[]{}<>|-“”„«»"


class Look(IntEnum):
    """What a piece between blanks may be."""

    PLAIN = 0
    DOUBTFUL = 1
    TELLING = 2


def looks_of(text: str) -> dict[str, Look]:
    r"""Return what the pieces of a text look like that are not plain.

    Args:
        text: One piece on each line.

    >>> looks_of("plain\\nXk9#mQ2w")
    {'Xk9#mQ2w': <Look.TELLING: 2>}
    """
    looks = {}
    for piece in set(text.split("\n")).difference(_SIMPLE.findall(text)):
        look = look_of(piece)
        if look:
            looks[piece] = look
    return looks


def look_of(piece: str) -> Look:
    """Return what a piece may be: what that part is which most looks like a secret."""
    look = Look.PLAIN
    if "**" in piece:
        piece = _EMPHASIS.sub(r"\1", piece)
    inner = piece.strip(_ENDS)
    if inner.isdecimal() or (
        inner.isalpha()
        and (inner.islower() or inner[1:].islower())
        and len(piece) < _LONG
    ):
        return look
    if _UNLIKE_A_WORD.search(piece) is None and len(piece) < _LONG:
        return look
    if (
        _ORDINARY.fullmatch(piece)
        and not _CONSONANTS.search(piece)
        and piece.count("-") < 2
        and piece.count(".") < 3
    ):
        return look
    for part in (inner,) if _NAME.fullmatch(inner) else _QUOTES.split(piece):
        inner = part.strip(_ENDS)
        if len(inner) < SHORTEST:
            continue
        parts = [value.strip(_ENDS) for value in _SEPARATORS.split(inner)]
        if len(parts) == 1:
            parts = [inner]
        elif "://" not in inner and not _PATH.fullmatch(inner):
            parts.append(inner)
        for value in parts:
            if len(value) >= SHORTEST:
                look = max(look, _look_of_value(value))
                if look is Look.TELLING:
                    return look
    if look is Look.DOUBTFUL and _IS_GIVEN.search(piece):
        return Look.TELLING
    return look


@asked_once
def _look_of_value(value: str) -> Look:
    """Return what a value may be, without a word that says so."""
    if _UNLIKE_A_WORD.search(value) is None and len(value) < _LONG:
        return Look.PLAIN
    if _NUMBER_OR_VERSION.fullmatch(value):
        return Look.PLAIN
    if value.count("-") > 1 or value.count(".") > 1:
        from hivemind_memory.redaction.values.passphrase_check import is_drawn

        if is_drawn(value):
            return Look.TELLING
    look = _by_form(value)
    return _judged(value) if look is None else look


def _by_form(value: str) -> Look | None:
    """Return what the form of a value says alone; None: nothing."""
    if _DASHED.fullmatch(value) or _GROUP_OF_FOUR.fullmatch(value):
        return Look.DOUBTFUL
    if _CONSONANTS.search(value):
        return None
    if _WORDS.fullmatch(value):
        return Look.PLAIN
    if _NAME_OR_HASH.fullmatch(value):
        return Look.DOUBTFUL if len(value) > _SHORTEST_CHOSEN else Look.PLAIN
    return None


def _judged(value: str) -> Look:
    """Return what the rules for values say of one."""
    from hivemind_memory.redaction.values.value_check import (
        is_identifier,
        is_scrambled,
        looks_random,
    )

    if value.isalpha() and value.isascii():
        is_odd = is_scrambled(value) or looks_random(value)
        return Look.TELLING if is_odd else Look.PLAIN
    if looks_random(value) or is_identifier(value) or _GROUPS.fullmatch(value):
        return Look.TELLING
    if len(value) < _SHORTEST_CHOSEN:
        return Look.PLAIN
    is_mixed = value != value.lower() and value != value.upper()
    if is_mixed or _SIGN.search(value):
        from hivemind_memory.redaction.values.password_check import looks_chosen

        if looks_chosen(value):
            return Look.TELLING
    return Look.DOUBTFUL
