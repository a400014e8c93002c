"""Judges whether a value is a password, by its look and its place.

In prose a value must mix kinds of characters as no word does; where only a password can
stand, behind ``-u name:`` for instance, a word with a number is enough.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.lone_passwords import is_chosen_password
from hivemind_memory.redaction.values.passphrase_check import is_dashed
from hivemind_memory.redaction.values.value_check import (
    entropy,
    is_identifier,
    is_no_secret,
    is_passphrase,
    is_placeholder,
    is_scrambled,
    is_wordy,
    looks_random,
)

_ENDS_IN_SIGN = lazy_re(
    r"(?=[^A-Z]{0,60}[A-Z])(?=[^a-z]{0,60}[a-z])[A-Za-z][\w.-]{3,40}\d{2,6}[!?#$%&*@+^~]{1,3}"
)
_WORDS_AND_NUMBER = lazy_re(
    r"[A-Z][a-z]{2,14}[-_.+][A-Za-z][a-z]{2,14}\d{2,6}[!?#$%&*@+]?"
    r"|[A-Z][a-z]{3,20}[@#$!%&*+?_]\d{3,6}[!?#$%&*@+]?"
    r"|[A-Za-z]{3,14}[._-]?[A-Za-z]{0,14}[!#$%&*+?]\d{2,6}"
)
_LETTERS_AS_DIGITS = lazy_re(
    r"(?=[^\d]{0,20}[A-Za-z][0-9][A-Za-z])(?=\w*[_!?#$%&*@+-]|\w*[A-Z])"
    r"[A-Za-z][\w!?#$%&*@+-]{6,40}\d{2,6}[!?#$%&*@+]{0,2}"
)
_NUMBERED_WORD = lazy_re(
    r"[A-Za-z]{4,20}(?:[_.-]?[A-Za-z]{3,20})?[_.!@#-]?\d{2,6}[!?#$%&*@+]{0,3}"
)
# ``Http2Stream``, ``Apache-2.0``, ``all-MiniLM-L6-v2``: names with a number.
_NAME = lazy_re(
    r"(?:[A-Z]?[a-z]{2,12}|[A-Z]{2,5})\d{0,2}(?:[A-Z][a-z]{2,12})*\d{0,2}"
    r"|[A-Za-z]+(?:[-_][A-Za-z]+)*[-_]?v?\d+(?:\.[\dx]+)+(?:[-_.]\w{1,8})?"
    r"|[a-z][a-z0-9]{1,2}(?:_[A-Z]{2})?\.[A-Za-z0-9-]+(?:@\w+)?"
    r"|\w+(?:-\w+)*-[vV]\d+(?:\.\d+)*"
)
_SIGNED = lazy_re(r"[A-Za-z0-9!#$%&*+@^_?~-]{8,40}")
_ONE_OF_MANY = lazy_re(
    r"(?i)(?:db|host|node|srv|server|user|test|port|vm|web|app|rev|v|version|prod"
    r"|dev|stage|staging|r|id|build|release|page|table|section|room|team|py|python"
    r"|sha|utf|iso|rfc|cve|aes|md|http|tls|ssl|ipv|x|arm|amd|win|win32|mysql|postgres"
    r"|postgresql|redis|ubuntu|debian|fedora|centos|node|java|jdk|php|ruby)[_.-]?\d+.*"
)

_DAY = lazy_re(r"(?:19|20)\d\d(?:(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01]))?")


@asked_once
def is_likely(value: str) -> bool:
    """Whether a value is a password that a person chose, or made at random."""
    if is_chosen_password(value) or is_scrambled(value) or is_passphrase(value):
        return True
    if len(value) < 10 or not value.isascii() or is_no_secret(value, firm=False):
        return False
    return (
        any(letter.islower() for letter in value)
        and any(letter.isupper() for letter in value)
        and any(letter.isdigit() for letter in value[1:-1])
        and not is_wordy(value)
        and entropy(value) >= 3.0
        and re.fullmatch(r"[\w+/=.!$%&*#?^~@-]+", value) is not None
    )


@asked_once
def looks_chosen(value: str) -> bool:
    """Whether a value beside a word for a password is what a person chose as one.

    >>> list(map(looks_chosen, ("OrchidIndigo46?", "b33tl3_Muffin171", "Base64")))
    [True, True, False]
    """
    if (
        len(value) < 8
        or not value.isascii()
        or is_no_secret(value, firm=False)
        or is_identifier(value)
        or _NAME.fullmatch(value) is not None
    ):
        return False
    return (
        is_likely(value)
        or _ENDS_IN_SIGN.fullmatch(value) is not None
        or _WORDS_AND_NUMBER.fullmatch(value) is not None
        or _is_jumble(value)
        or (
            _LETTERS_AS_DIGITS.fullmatch(value) is not None
            and "_" not in value.strip("_").replace("_", "", 1)
            and value != value.upper()
        )
    )


def _is_jumble(value: str) -> bool:
    """Whether small and large letters follow each other as in no name."""
    return (
        len(value) >= 10
        and _SIGNED.fullmatch(value) is not None
        and value[1:] != value[1:].lower()
        and value[1:] != value[1:].upper()
        and len(re.findall("[A-Z]+|[a-z]+", value)) >= 4
        and is_gibberish(value, most=0.5)
    )


@asked_once
def may_be_chosen(value: str) -> bool:
    """Whether a value may be a password where only a password stands.

    >>> [may_be_chosen(value) for value in ("sommer2024", "Monday!19", "db01", "anna")]
    [True, True, False, False]
    """
    if (
        len(value) < 6
        or is_no_secret(value, firm=True)
        or is_identifier(value)
        or _ONE_OF_MANY.fullmatch(value)
    ):
        return False
    return (
        looks_chosen(value)
        or _NUMBERED_WORD.fullmatch(value) is not None
        or is_dashed(value)
        or (looks_random(value) and not is_wordy(value))
        or (
            _SIGNED.fullmatch(value) is not None
            and any(letter in "!?#$%&*@+^~" for letter in value)
            and (
                any(letter.isdigit() for letter in value)
                or (value[1:] != value[1:].lower() and is_gibberish(value))
            )
            and any(letter.isalpha() for letter in value)
        )
    )


def may_be(value: str) -> bool:
    """Whether a value may be a password where only a password can be."""
    return (
        not is_placeholder(value)
        and not value.isalpha()
        and value[0] not in "$<{%("
        and "$(" not in value
    )


def is_one_of_many(value: str) -> bool:
    """Whether a value is a name with its number: ``db01``, ``ubuntu-22``."""
    return _ONE_OF_MANY.fullmatch(value) is not None


def is_counted(digits: str) -> bool:
    """Whether digits are rather a year, a day, a power of two or a round number.

    >>> [is_counted(value) for value in ("2027", "20261122", "4096", "5000", "4821")]
    [True, True, True, True, False]
    """
    return _DAY.fullmatch(digits) is not None or (
        digits.isdecimal()
        and len(digits) >= 4
        and (digits.endswith("000") or int(digits).bit_count() == 1)
    )


def is_random(value: str) -> bool:
    """Whether a long value of letters of one case and digits is no word."""
    return (
        len(value) >= 20
        and sum(letter.isdigit() for letter in value) >= 3
        and looks_random(value)
        and re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", value) is None  # rather a hash
        and not is_placeholder(value)
        and not is_wordy(value)
        and max(map(len, re.split(r"[-_.:/]", value))) >= 16
    )


# The pairs of letters that make up 96 % of those in the words of English documents.
_PAIRS = frozenset(
    first + second
    for first, seconds in {
        "a": "bcdfgiklmnprstuvy", "b": "aeiloru", "c": "acehiklortu", "d": "adeilosu",
        "e": "abcdefgijlmnpqrstvwxy", "f": "aefiloru", "g": "ehinrsu", "h": "aeiortu",
        "i": "abcdefglmnoprstvxz", "j": "es", "k": "es", "l": "adefilostuy",
        "m": "abeimopsu", "n": "acdefginostuv", "o": "abcdgiklmnoprstuvw",
        "p": "adeiloprstuy", "q": "u", "r": "acdegiklmnorstuy", "s": "acehiloprstuy",
        "t": "acehiloprstuy", "u": "abcdegilmnprst", "v": "aei", "w": "aehio",
        "x": "pt", "y": "nops", "z": "e",
    }.items()
    for second in seconds
)  # fmt: skip


def is_gibberish(value: str, *, most: float = 0.6) -> bool:
    """Whether the letters of a value follow each other as those of no word do.

    >>> is_gibberish("bdfn-evzp-qhhb-lfzr"), is_gibberish("open-file-name-list")
    (True, False)
    """
    pairs = [
        part[at : at + 2]
        for part in re.findall("[a-z]+", value.lower())
        for at in range(len(part) - 1)
    ]
    return bool(pairs) and sum(pair in _PAIRS for pair in pairs) <= most * len(pairs)
