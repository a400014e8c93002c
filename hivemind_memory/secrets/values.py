"""Whether what is assigned to a name is a secret: not code, a path or an example."""

from __future__ import annotations

import re

from hivemind_memory.secrets.names import Holds
from hivemind_memory.secrets.plausible import (
    entropy,
    is_identifier,
    is_placeholder,
    is_wordy,
    looks_random,
)

SHORTEST_OF_LETTERS = 16
_URL_OR_PATH = re.compile(
    r"(?:vault|op|env|file|secrets?|ssm|keyring|keychain|arn|sops|ref|bw):[\w./#@:-]{3}"
    r"|[a-z][a-z0-9+.-]{1,20}://|(?:~|\.{1,2})?/[\w.@-]+/|\.{1,2}/|~/|[A-Za-z]:[\\/]"
    r"|[\w.-]+(?:/[\w.-]+)*\.(?:py|js|ts|go|rs|md|json|ya?ml|toml|txt|pem|key|env|sh|html?"
    r"|com|org|net|io|dev|local)\Z"
)
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_CODE = re.compile(
    r"[A-Za-z_$][\w$.:-]*[(\[{].*|[({\[].*"
    r"|[A-Za-z_$]\w*(?:(?:\.|->|::)[A-Za-z_$]\w*)+[,;]?"
)
_TECHNICAL = re.compile(
    r"(?i)(?:[a-z]+[_-])?(?:argon2\w*|sha-?\d{1,3}\w*|base\d\d\w*|utf-?\d+|pbkdf2\w*"
    r"|[hrep]s\d{3}|oauth\d?|ed25519|x25519|aes[-_]?\d{3}\w*|md5|bcrypt\d*|scrypt\d*|rsa\d*"
    r"|v\d+(?:\.\d+)*|(?:param|value|input|field|test|user|name|column|option|arg|str|var"
    r"|example|item|step|line|page|part|row|key|token|secret|pass(?:word|wd)?|pwd)_?\d+"
    r"|id_\w+|varchar\d*|char\d+|u?int\d+|float\d+|python\d*|1password|auth0|k8s|s3|ec2"
    r"|http[23]?|ipv[46]|i18n|a11y|\d+[a-z]{1,3})"
)
_NUMBERS = re.compile(r"[\d.,:/_+\sxTZ-]+|\d+(?:\.\d+)?[a-zA-Z%]{1,6}")
_VERSION_OR_DATE = re.compile(r"v?\d+(?:\.\d+)+[\w.+-]{0,12}|\d{4}-\d\d-\d\d.*")
_SYMBOL = re.compile(r"[!@#$%^&*+=?~]")


def is_real(name: str, value: str, holds: Holds, *, firm: bool, tight: bool) -> bool:
    """Whether a value is what its name says.

    Args:
        name: The name that it is assigned to.
        value: The value.
        holds: What the name says of it.
        firm: It is quoted, or stands in an environment file: not code.
        tight: The value follows the name, without other words between.
    """
    if len(value) < (4 if holds is Holds.PASSWORD else 8):
        return False
    if len(value) < SHORTEST_OF_LETTERS and value.isalpha():
        return False  # a word: by far the most that follows such a name
    if _is_no_secret(value, firm=firm):
        return False
    if holds is Holds.PASSWORD:
        return _is_password(value, firm=firm, tight=tight)
    loose = holds is Holds.KEY and not (firm and name.isupper())
    return _is_machine_made(name, value, loose=loose, tight=tight)


def is_sure(value: str) -> bool:
    """Whether a value has small and large letters and digits, as if at random."""
    return (
        any(letter.isdigit() for letter in value)
        and value != value.lower()
        and value != value.upper()
        and entropy(value) >= 3.5
        and looks_random(value)
        and not is_placeholder(value)
        and not is_identifier(value)
    )


def _is_no_secret(value: str, *, firm: bool) -> bool:
    """Whether a value is an example, a number, a path, an address or code."""
    return (
        value[0] in "[\0"
        or "\0" in value
        or is_placeholder(value)
        or _NUMBERS.fullmatch(value) is not None
        or _VERSION_OR_DATE.fullmatch(value) is not None
        or _TECHNICAL.fullmatch(value) is not None
        or (_URL_OR_PATH.match(value) is not None and not _is_base64(value))
        or _ADDRESS.fullmatch(value) is not None
        or (_CODE.fullmatch(value) is not None and not (firm and _is_odd(value)))
        or any(letter.isspace() for letter in value)
    )


def _is_base64(value: str) -> bool:
    """Whether what looks like a path is a key that has slashes."""
    return len(value) >= 32 and "." not in value and looks_random(value)


def _is_odd(value: str) -> bool:
    """Whether brackets and dots in a quoted value are those of a password."""
    return looks_random(value) or ("(" in value and ")" not in value)


def _is_password(value: str, *, firm: bool, tight: bool) -> bool:
    """Whether a value may be a password: not a plain word."""
    letters = any(letter.isalpha() for letter in value)
    digits = any(letter.isdigit() for letter in value)
    symbols = _SYMBOL.search(value.rstrip("!?")) is not None
    if looks_random(value):
        return True
    if len(value) > 128 or not letters or not tight:
        return False
    if digits:
        few_words = len(re.findall("[A-Za-z]+", value)) < (4 if firm else 3)
        separated = "-" in value or "_" in value or "." in value
        plain = is_wordy(value) and separated and not symbols
        return (
            len(value) >= (5 if firm else 6) and (firm or not plain) and few_words
        ) or symbols
    if symbols:
        return len(value) >= 6 and not value.isalpha()
    mixed = value[1:] != value[1:].lower() and value != value.upper()
    return value[-1:] in "!?" and mixed and len(value) >= 8


def _is_machine_made(name: str, value: str, *, loose: bool, tight: bool) -> bool:
    """Whether a value looks like one that a machine has made."""
    low = name.lower()
    if is_identifier(value):
        return tight and any(
            word in low for word in ("secret", "apikey", "api_key", "api-key", "auth")
        )
    if loose:
        plain = re.fullmatch("[0-9a-fA-F]+", value) is not None
        return len(value) >= 20 and not plain and _is_random_run(value)
    if re.fullmatch("[0-9a-fA-F]{7,128}", value):
        # Beside a secret's very name alone; elsewhere it is a hash.
        return tight and len(value) >= 16 and looks_random(value)
    return len(value) >= 10 and looks_random(value)


def _is_random_run(value: str) -> bool:
    """Whether a long value has no structure that a person would see."""
    return (
        looks_random(value)
        and entropy(value) >= 3.5
        and max(map(len, re.split(r"[-_.:/]", value))) >= 16
    )
