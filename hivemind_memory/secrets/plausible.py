"""Whether a value could be a real secret: not an example, a word, a path or code."""

from __future__ import annotations

import re
from math import log2

PLACEHOLDERS = (
    "example", "placeholder", "changeme", "change-me", "change_me", "redacted",
    "dummy", "sample", "replace", "insert", "yourpass", "yoursecret",
    "yourtoken", "yourkey", "yourapi", "****", "....",
    "not-a-real", "notareal", "abcdefgh", "12345678", "deadbeef",
)  # fmt: skip
"""What stands in examples and in no real value, in lower case."""
STAND_INS = frozenset(
    (
        "password", "passwd", "passphrase", "passwort", "pass", "pwd", "pw",
        "secret", "secrets", "token", "key", "apikey", "api_key", "api-key",
        "credentials", "username", "user", "none", "null", "nil", "true", "false",
        "undefined", "string", "str", "text", "bytes", "int", "number", "bool",
        "boolean", "optional", "required", "any", "object", "env", "value",
        "hidden", "masked", "omitted", "removed", "unset", "empty", "default",
        "test", "testing", "foo", "bar", "baz", "foobar", "qwerty", "x-oauth-basic",
        "x-access-token", "oauth2", "p", "s", "t", "pass123", "password123",
        "password1", "mypassword", "mysecret", "mytoken", "my-secret", "my-token",
        "my-password", "supersecret", "secret123", "topsecret", "test123",
        "testpass", "testpassword",
    )
)  # fmt: skip
"""Whole values that only stand for one."""
_VARIABLE = re.compile(
    r"(?i)\$\{?\w+(?:[:\-?+/#%][^\s}]*)?\}?|\$\w+[.\[-].*|\$\(.*|\$\{\{.*|#\{.*"
    r"|%\w+%|%\(\w+\)[a-z]|%[-+#0 ]?\d*[a-z]|@\w+@|<.*|&\w+;?.*|\{+[^{}]*\}+|\{\{.*"
    r"|!(?:vault|secret|env|ref|sub|getatt|include|encrypted)\b.*"
)
_SAYS_SO = re.compile(
    r"(?i)(?<![a-z0-9])(?:your|fake|todo|my|some|the)[-_]|[-_]here(?![a-z0-9])"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{5,}")
_HEX = re.compile(r"[0-9a-fA-F]+")
UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


def entropy(text: str) -> float:
    """Return the bits that a letter of the text carries, after Shannon.

    >>> round(entropy("abab"), 1)
    1.0
    """
    if not text:
        return 0.0
    shares = [text.count(letter) / len(text) for letter in set(text)]
    return -sum(share * log2(share) for share in shares)


def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a real one.

    >>> [is_placeholder(one) for one in ("<your key>", "${TOKEN}", "****", "k8#Rw2!q")]
    [True, True, True, False]
    """
    low = value.lower()
    return (
        low.strip("'\"*_-.,;:!?()[]") in STAND_INS
        or any(word in low for word in PLACEHOLDERS)
        or len(set(low)) < 3
        or (_SAYS_SO.search(value) is not None and not looks_random(value))
        or (_VARIABLE.fullmatch(value) is not None and not looks_random(value))
        or "xxxxx" in value
        or "XXXXX" in value
        or "${" in value
        or "{{" in value
        or "…" in value
    )


def is_wordy(value: str) -> bool:
    """Whether a value is made of words, with a number here and there.

    >>> [is_wordy(one) for one in ("base64-encoded", "getToken2", "kR7vQ2xLm9")]
    [True, True, False]
    """
    parts = _PARTS.findall(value)
    words = [part.lower() for part in parts if part.isalpha()]
    numbers = len(parts) - len(words)
    if not words or numbers > (len(words) + 1) // 2:
        return False
    spoken = sum(len(word) for word in words if _is_spoken(word))
    # Random letters of both cases fall into many short pieces.
    least = 3.0 if len(words) < 4 else 3.6
    letters = sum(map(len, words))
    return letters >= least * len(words) and spoken >= 0.7 * letters


def spells_words(value: str) -> bool:
    """Whether a token spells what it is, as those in documents do.

    >>> spells_words("ghp_PersonalAccessToken01245678900000000")
    True
    """
    words = [part.lower() for part in _PARTS.findall(value) if part.isalpha()]
    letters = sum(map(len, words))
    spoken = sum(len(word) for word in words if _is_spoken(word) and len(word) > 3)
    return (
        value != value.upper()
        and len(words) > 2
        and letters >= 5 * len(words)
        and spoken >= 0.8 * letters
    )


def _is_spoken(word: str) -> bool:
    """Whether somebody could say it."""
    vowels = sum(letter in "aeiouy" for letter in word)
    return (
        len(word) > 1
        and 0.18 <= vowels / len(word) <= 0.8
        and _CONSONANTS.search(word) is None
    )


def is_identifier(value: str) -> bool:
    """Whether a value names a thing and opens nothing: a UUID or a ULID."""
    return UUID.fullmatch(value) is not None or ULID.fullmatch(value) is not None


def looks_random(value: str) -> bool:
    """Whether a value looks as if a machine had made it.

    >>> looks_random("q7Zp2LxV9rTb4Nw8"), looks_random("rotating-the-keys-2024")
    (True, False)
    """
    letters = sum(letter.isalpha() for letter in value)
    digits = sum(letter.isdigit() for letter in value)
    if len(value) < 8 or not letters or letters + digits < 0.6 * len(value):
        return False
    if _HEX.fullmatch(value):
        return len(value) >= 16 and digits > 0
    if is_wordy(value):
        return False
    kinds = value != value.lower() and value != value.upper()
    if digits:
        return entropy(value) >= (2.5 if len(value) < 16 else 3.0)
    return (kinds or letters >= 20) and len(value) >= 16 and entropy(value) >= 3.3
