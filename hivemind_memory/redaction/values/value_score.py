"""Scores what a value looks like: from a word of a sentence to a random password.

``handed_over`` adds this to what the sentence says. 0 is no secret; 1 to 2, a word or a
name with a number; 3, a password as people choose them; 5, one that a machine has made.
"""

from __future__ import annotations

from hivemind_memory.model.own_forms import is_own_name
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.values.letter_check import (
    may_be_bare,
    may_be_letters,
    may_be_spoken_word,
    says_what_it_is,
)
from hivemind_memory.redaction.values.passphrase_check import (
    is_dashed,
    is_drawn,
    is_spoken_phrase,
)
from hivemind_memory.redaction.values.password_check import (
    is_counted,
    is_likely,
    is_one_of_many,
    looks_chosen,
)
from hivemind_memory.redaction.values.value_check import (
    is_identifier,
    is_no_secret,
    is_placeholder,
    looks_random,
)

SHORTEST, LONGEST = 5, 128
_CODE = ("://", "(", "[", "{", "\\", "::", "->", "()", "…", "..", "</", "/>")
_ENDINGS = (
    *(".py", ".md", ".txt", ".json", ".yml", ".yaml", ".com", ".org", ".net", ".io"),
    *(".de", ".exe", ".zip", ".pdf", ".png", ".jpg", ".log", ".conf", ".local", ".lan"),
    *(
        ".sh",
        ".js",
        ".ts",
        ".gz",
        ".so",
        ".dev",
        ".html",
        ".xml",
        ".service",
        ".h",
        ".c",
    ),
)
_HEX = lazy_re("[0-9a-f]+|[0-9A-F]+")
_LONG = 14  # letters of one case in a row: longer than the words of sentences
_ID = lazy_re(r"\d{6,12}[A-Z]|[A-Z]{1,2}-\d{3,8}-[A-Z]{1,2}|\d{2,6}[A-Z]{1,2}\d{2,6}")
_HUMPS = lazy_re("[A-Z][a-z]+")
_TURNS = lazy_re(
    r"(?=.*[a-z])(?=.*[A-Z])(?=.*(?:[A-Za-z]\d[A-Za-z]|\d[A-Za-z]\d).{1,40}"
    r"(?:[A-Za-z]\d(?:[A-Za-z])|\d[A-Za-z]\d))[A-Za-z0-9]{6,40}"
)
TAIL = lazy_re(
    r"[a-z]{2,20}-[a-z-]{2,30}-(?=[a-z]*\d)(?=[a-z0-9]*\d[a-z]|[0-9a-f]+\Z)[0-9a-z]{8,40}"
)
_COUNTED = lazy_re(
    r"AAAA[A-Za-z0-9+/=]{20,}|arn:[a-z-]{3,20}:.*|"
    r"[\w/.-]{1,40}#\d+|.*\.\w{1,3}:\d+.*|\d{3}-[A-Z]?[a-z]+|(?:h1|sha\d+|md5)[:-].+|(?:[0-9A-Fa-f]{2}:){3,}[0-9A-Fa-f]{2}"
)
_SHA1 = 40
_CIPHER = lazy_re(
    r"(?i)(?:aes|x?chacha|poly|x?salsa|rsa|sha|camellia|twofish|serpent|blowfish|xts|des"
    r"|ecdsa|ed|curve|tls|ssl|zip|bit|luks|kms|x25519|hmac|wpa|argon|scrypt|bcrypt)[-_]?\d.*"
)
_STRONG = lazy_re(
    r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[!@#$%^&*=+?<>~])(?!.*[a-z]{4}|\w+=\w{2,}\Z|.*://)"
    r"[A-Za-z0-9!@#$%^&*=+?<>~-]{8,32}"
)
_GROUPS = lazy_re(
    r"(?=.*(?:[A-Z]\d[A-Z]|\d[A-Z]\d|\d[A-Z]{2}|[A-Z]{2}\d))"
    r"[A-Z0-9]{3,5}(?:-[A-Z0-9]{3,5}){1,3}"
)
_SUMS = frozenset((32, 40, 64, 96, 128))  # digits of usual sums
_PARTS = lazy_re(r"[^\W\d_]+|\d+|[^\w]+|_+")
_SIGNED = lazy_re(r"[^\W\d_]{2}[!#$%^*~?@&+]{1,2}[^\W_]{2}|\d[!#$%^*~?@&+]{1,3}$")
_CAMEL_OR_JOINT = lazy_re(r"[a-z][A-Z]|[_.!]")
_DOTTED = lazy_re(r"[A-Za-z]{3,12}\.[A-Za-z]{3,12}\d{1,4}(?<!Int..)(?<!Float..)")
_TWO_WORDS = lazy_re(r"[A-Za-z][a-z]{3,12}\.[A-Z][a-z]{2,12}")
_MEMBER = lazy_re(r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)*[#@+][a-z][A-Za-z]*")
_VERSIONED = lazy_re(
    r"(?i)[a-z][\w-]*[-_ ]?v?\d+(?:\.\d+)+\w*(?:\+|-only|-or-later)?|.*[-_]v\d+"
    r"|[a-z]+-?v\d{1,2}\+"
)
_STEP = lazy_re(
    r"[A-Z]{1,10}-\d{1,6}|\d+(?:st|nd|rd|th)|\d+x\d*|[a-z]\d{1,4}|\d+[a-z]{1,4}"
)

_FORMS = (
    (_STRONG, 4.0),
    (_ID, 2.0),
    (_DOTTED, 2.5),
    (_STEP, 0.0),
    (_CIPHER, 0.0),
    (_GROUPS, 2.5),
)
"""Forms and how each looks, before anything else is asked."""

_MIXED_FORMS = ((TAIL, 3.0), (_TURNS, 3.5), (_MEMBER, 1.0))
"""The same for what is no code and no identifier."""


@asked_once
def score(value: str) -> float:
    """Return how much a value looks like a secret, from 0 to 5.

    >>> list(map(score, ("required", "team4", "Orchid_Boat_31", "q7Zp2LxV9rTb4")))
    [0.0, 1.5, 3.0, 5.0]
    """
    is_unfit = len(value) < SHORTEST or len(value) > LONGEST
    if is_unfit or _is_code(value) or is_own_name(value):
        return 0.0
    if value.isalpha() or value.isdecimal():
        return _of_letters(value) if value.isalpha() else float(not is_counted(value))
    for pattern, looks in _FORMS:
        if pattern.fullmatch(value):
            return looks
    is_two = _TWO_WORDS.fullmatch(value) is not None
    if is_placeholder(value) or (is_no_secret(value, firm=True) and not is_two):
        return 0.0
    if _HEX.fullmatch(value):
        return _of_hex(value)
    return _of_mixed(value)


def _is_code(value: str) -> bool:
    """Whether a value is a part of a program, a path, a number or an address."""
    if _STRONG.fullmatch(value) and not _COUNTED.fullmatch(value):
        return False
    return (
        _COUNTED.fullmatch(value) is not None
        or any(sign in value for sign in _CODE)
        or "=" in value.rstrip("=")
        or value[0] in "/.~$-%@&<"
        or value[-1] == ">"
        or value.count("/") > 1
        or value.lower().endswith(_ENDINGS)
    )


def _of_letters(value: str) -> float:
    """Score letters alone: at most a word that no document would have there."""
    if not may_be_spoken_word(value):
        return 0.0
    return 2.0 if len(value) >= _LONG and value.islower() else 1.5


def _of_mixed(value: str) -> float:
    """Score a value with letters and something else."""
    if is_identifier(value):
        return 1.5
    if _VERSIONED.fullmatch(value) or is_one_of_many(value):
        return 0.5
    if is_likely(value):
        return 5.0
    return 4.0 if looks_chosen(value) else _of_parts(value)


@asked_once
def held(value: str) -> bool:
    """Whether a value is a password where only one can stand, with a digit or without.

    >>> list(map(held, ("kuvaritomel", "thunder_Key2", "user_password2")))
    [True, True, False]
    """
    return (
        may_be_letters(value)
        or (not value.isalpha() and score(value) >= _HELD)
        or (" " in value and is_spoken_phrase(value, is_quoted=True))
    )


@asked_once
def held_bare(value: str) -> bool:
    """The same without quotes, where a variable of code may stand."""
    return may_be_bare(value) or (not value.isalpha() and score(value) >= _BARE)


@asked_once
def is_chosen_pair(value: str) -> bool:
    """Whether a literal beside the name of a secret is its value, and no other name."""
    return not value.isalpha() and score(value) >= _BARE


_HELD, _BARE = 2.0, 2.5


def _of_hex(value: str) -> float:
    """Score digits and the letters a to f: rather a sum, if it is as long as one."""
    if len(value) < 8 or not any(map(str.isdigit, value)) or value.isdecimal():
        return 0.5
    if len(value) in _SUMS:
        return 2.0 if len(value) == _SHA1 else 3.0
    return 4.0 if len(value) > 12 or looks_random(value) else 2.0


def is_mixed_case(value: str) -> bool:
    """Whether a value has small and large letters."""
    return value != value.lower() and value != value.upper()


def _of_parts(value: str) -> float:
    """Score words, digits and signs by how they are put together."""
    for pattern, looks in _MIXED_FORMS:
        if pattern.fullmatch(value):
            return looks
    parts = _PARTS.findall(value)
    words = [part for part in parts if part.isalpha()]
    digits = [part for part in parts if part.isdigit()]
    if sum(map(len, words)) < _FEW:
        return 2.5 if looks_random(value) else 0.0
    if all(map(says_what_it_is, words)):
        return 0.5
    if _SIGNED.search(value):
        return 3.5 if digits else 2.5 + 0.5 * is_mixed_case(value)
    if digits and len(parts) == len(words) + len(digits):
        return _of_words(value, words, sum(map(len, digits)))
    return _of_joined(value, words, is_numbered=bool(digits))


def _of_joined(value: str, words: list[str], *, is_numbered: bool) -> float:
    """Score words and digits with signs between them."""
    if value.count("-") > 1 and (is_drawn(value, least=3) or is_dashed(value)):
        return 3.0 + 0.5 * is_numbered
    letters = sum(map(len, words))
    if not is_numbered:
        is_odd = is_mixed_case(value) and _CAMEL_OR_JOINT.search(value)
        return 1.5 if is_odd else 1.0
    if looks_random(value) and letters < 3 * len(words):
        return 3.5
    if is_mixed_case(value):
        return 3.0
    return 2.0 if letters >= _SOME and len(words) < _MANY_WORDS else 1.5


def _of_words(value: str, words: list[str], digits: int) -> float:
    """Score words and a number without a sign."""
    letters = sum(map(len, words))
    if looks_random(value):
        return 3.5
    if value[0].isalpha() and value[-1].isalpha() and letters > _SOME:
        return 3.0
    if digits > 1 and letters > _FEW:
        return 3.0 if letters > _FEW + 1 and not value.isupper() else 2.0
    if letters <= _SOME + 1:
        return 1.5
    is_humped = len(words) == 1 and len(_HUMPS.findall(value)) > 1
    return 3.0 if is_humped and is_mixed_case(value) else 2.5


_FEW, _SOME, _MANY_WORDS = 3, 7, 4  # letters, letters, words
