"""Judges whether a value may be a secret: not an example, a word, a path or code."""

from __future__ import annotations

import re
from math import log2

from hivemind_memory.model.own_forms import ULID_FORM, UUID_FORM
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.setting_names import ValueKind
from hivemind_memory.redaction.judgments import asked_once

SHORTEST_OF_LETTERS = 16
_URL_OR_PATH = lazy_re(
    r"(?:vault|op|env|file|secrets?|ssm|keyring|keychain|arn|sops|ref|bw):[\w./#@:-]{3}"
    r"|projects/[\w-]+/(?:secrets|locations|serviceAccounts|keyRings)/"
    r"|[a-z][a-z0-9+.-]{1,20}://|(?:~|\.{1,2})?/[\w.@-]+/|\.{1,2}/|~/|[A-Za-z]:[\\/]"
    r"|[\w.-]+(?:/[\w.-]+)*\.(?:py|js|ts|go|rs|md|json|ya?ml|toml|txt|pem|key|env|sh|html?"
    r"|com|org|net|io|dev|local)\Z"
)
_ADDRESS = lazy_re(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_CODE = lazy_re(
    r"[A-Za-z_$][\w$.:-]*[(\[{].*|[({\[].*"
    r"|[A-Za-z_$]\w*(?:(?:\.|->|::)[A-Za-z_$]\w*)+[,;]?"
)
_TECHNICAL = lazy_re(
    r"(?i)(?:[a-z]+[_-](?!\d+[a-z]{1,3}\Z))?(?:argon2\w*|sha-?\d{1,3}\w*|base\d\d\w*|utf-?\d+|pbkdf2\w*"
    r"|[hrep]s\d{3}|oauth\d?|ed25519|x25519|aes[-_]?\d{3}\w*|md5|bcrypt\d*|scrypt\d*|rsa\d*|rsa\w*-pkcs\S*|ecdsa\S*|hmac-sha\S*"
    r"|v\d+(?:\.\d+)*|(?:param|value|input|field|test|user|name|column|option|arg|str|var"
    r"|example|item|step|line|page|part|row|key|token|secret|pass(?:word|wd)?|pwd)_?\d+"
    r"|id_\w+|varchar\d*|char\d+|u?int\d+|float\d+|python\d*|1password|auth0|k8s|s3|ec2"
    r"|http[23]?|ipv[46]|i18n|a11y|\d+[a-z]{1,3})|(?-i:[a-z]{1,7}|[A-Z]{1,7})[_-]\d+[a-z]{1,3}"
)
# Keys and names that providers publish, and files below a folder.
_PUBLIC = lazy_re(
    r"pk_(?:live|test)_\w+|(?i:sha\d{1,3}|md5)[:-].*|#[a-z]+(?:-[a-z]+)+|phc_\w{20,}|[\w.=+-]+(?:/[\w.=+-]+)+\.[a-z]{2,8}(?:\.gz)?"
)
# Two words with capitals and a number: ``Luna.Hund97``, not ``System.Int32``.
_TWO_WORDS = lazy_re(
    r"[A-Z][a-z]{2,14}\.[A-Z][a-z]{2,14}(?<!Int)(?<!Float)(?<!Complex)[_-]?\d{2,4}[!?#$%&*+]?"
)
_TWO_CASES = lazy_re(r"[a-z]{3,}_[A-Z][a-z]+\d{1,4}")
_NUMBERS = lazy_re(r"[\d.,:/_+\sxTZ-]+|\d+(?:\.\d+)?[a-zA-Z%]{1,6}")
_VERSION_OR_DATE = lazy_re(r"v?\d+(?:\.\d+)+[\w.+-]{0,12}|\d{4}-\d\d-\d\d.*")
_SYMBOL = lazy_re(r"[!@#$%^&*+=?~]")


def is_real(
    name: str, value: str, holds: ValueKind, *, firm: bool, tight: bool
) -> bool:
    """Whether a value is what its name says.

    Args:
        name: The name that it is assigned to.
        value: The value.
        holds: What the name says of it.
        firm: It is quoted, or is in an environment file: not code.
        tight: The value follows the name, without other words between.
    """
    if len(value) < (4 if holds is ValueKind.PASSWORD else 8):
        return False
    if len(value) < SHORTEST_OF_LETTERS and value.isalpha():
        # A word: by far the most that follows such a name.
        return tight and is_scrambled(value)
    if is_no_secret(value, firm=firm):
        return False
    if holds is ValueKind.PASSWORD:
        if (
            firm
            and name.lower().endswith("phrase")
            and len(re.split("[-_.]", value)) > 3
        ):
            return True  # several words, as a passphrase has them
        return _is_password(value, firm=firm, tight=tight)
    loose = holds is ValueKind.KEY and not (firm and name.isupper())
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


def is_no_secret(value: str, *, firm: bool) -> bool:
    """Whether a value is an example, a number, a path, an address or code."""
    return _is_no_firm_secret(value) if firm else _is_no_loose_secret(value)


@asked_once
def _is_no_firm_secret(value: str) -> bool:
    return _is_no_secret(value, firm=True)


@asked_once
def _is_no_loose_secret(value: str) -> bool:
    return _is_no_secret(value, firm=False)


def _is_no_secret(value: str, *, firm: bool) -> bool:
    """Judge for ``is_no_secret``."""
    return (
        value[0] in "[\0"
        or "\0" in value
        or is_placeholder(value)
        or _NUMBERS.fullmatch(value) is not None
        or _VERSION_OR_DATE.fullmatch(value) is not None
        or (
            _TECHNICAL.fullmatch(value) is not None
            and _TWO_CASES.fullmatch(value) is None
        )
        or _PUBLIC.fullmatch(value) is not None
        or (_URL_OR_PATH.match(value) is not None and not _is_base64(value))
        or _ADDRESS.fullmatch(value) is not None
        or (
            _CODE.fullmatch(value) is not None
            and not (firm and _is_odd(value))
            and _TWO_WORDS.fullmatch(value) is None
        )
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
    kinds = value != value.lower() and value != value.upper()
    if digits:
        if kinds and (symbols or "-" in value[1:-1]) and len(value) >= 10:
            return True  # a phrase of several words is a password too
        few_words = len(re.findall("[A-Za-z]+", value)) < 4
        separated = "-" in value or "_" in value or "." in value
        plain = is_wordy(value) and separated and not symbols
        plain = plain and re.search(r"[a-z]\d[a-z]\w*\d\d$", value) is None
        return (
            len(value) >= (5 if firm else 6) and (firm or not plain) and few_words
        ) or symbols
    if symbols:
        return len(value) >= 6 and not value.isalpha()
    mixed = value[1:] != value[1:].lower() and value != value.upper()
    return value[-1:] in "!?" and mixed and len(value) >= 8


def is_scrambled(value: str) -> bool:
    """Whether letters are those of no word, and of no name in code.

    >>> is_scrambled("wqciSSPGtxYv"), is_scrambled("getElementById")
    (True, False)
    """
    parts = _CAMEL.findall(value)
    return (
        value.isascii()
        and value.isalpha()
        and len(value) >= 10
        and value != value.upper()
        and len(parts) >= 4
        and len(value) < 2.8 * len(parts)
        and entropy(value) >= 2.8
    )


def _is_machine_made(name: str, value: str, *, loose: bool, tight: bool) -> bool:
    """Whether a value looks like one that a machine has made."""
    low = name.lower()
    if not value.isascii():
        return False  # a sentence, in a script without blanks
    if is_identifier(value):
        return tight and any(
            word in low
            for word in (
                "secret",
                "token",
                "apikey",
                "api_key",
                "api-key",
                "auth",
                "access_key",
            )
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


PLACEHOLDERS = (
    "example", "placeholder", "changeme", "change-me", "change_me", "redacted",
    "dummy", "sample", "replace", "yourpass", "yoursecret",
    "yourtoken", "yourkey", "yourapi", "insert-", "insert_", "insertyour",
    "****", "....",
    "not-a-real", "notareal", "abcdefgh", "12345678", "deadbeef",
)  # fmt: skip
"""What is in examples and in no real value, in lower case."""
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
_VARIABLE = lazy_re(
    r"(?i)\$\{?\w+(?:[:\-?+/#%][^\s}]*)?\}?|\$\w+[.\[-].*|\$\(.*|\$\{\{.*|#\{.*"
    r"|%\w+%|%\(\w+\)[a-z]|%[-+#0 ]?\d*[a-z]|@\w+@|<.*|&\w+;?.*|\{+[^{}]*\}+|\{\{.*"
    r"|!(?:vault|secret|env|ref|sub|getatt|include|encrypted)\b.*"
)
_SAYS_SO = lazy_re(
    r"(?i)(?<![a-z0-9])(?:your|fake|todo|my|some|the)[-_]|[-_]here(?![a-z0-9])"
)
_PARTS = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CAMEL = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_PHRASE = lazy_re(r"[A-Za-z0-9]{2,12}(?:[-_.][A-Za-z0-9]{2,12}){3,9}")
_CONSONANTS = lazy_re(r"[bcdfghjklmnpqrstvwxz]{5,}")
_HEX = lazy_re(r"[0-9a-fA-F]+")
UUID = lazy_re(rf"(?i){UUID_FORM}")
_FINGERPRINT = lazy_re("[0-9A-F]{40}")
_ACCOUNT = lazy_re("AC[0-9a-f]{32}")  # of Twilio
ULID = lazy_re(ULID_FORM)


@asked_once
def entropy(text: str) -> float:
    """Return the bits that a letter of the text carries, after Shannon.

    >>> round(entropy("abab"), 1)
    1.0
    """
    if not text:
        return 0.0
    shares = [text.count(letter) / len(text) for letter in set(text)]
    return -sum(share * log2(share) for share in shares)


@asked_once
def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a real one.

    >>> list(map(is_placeholder, ("<your key>", "${TOKEN}", "****", "k8#Rw2!q")))
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


@asked_once
def is_wordy(value: str) -> bool:
    """Whether a value is made of words, with a number here and there.

    >>> [is_wordy(value) for value in ("base64-encoded", "getToken2", "kR7vQ2xLm9")]
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
    """Whether the word can be pronounced."""
    vowels = sum(letter in "aeiouy" for letter in word)
    return (
        len(word) > 1
        and 0.18 <= vowels / len(word) <= 0.8
        and _CONSONANTS.search(word) is None
    )


def is_passphrase(value: str) -> bool:
    """Whether a value is four words or more and a number, some with a capital.

    >>> is_passphrase("Copper-Tanne-lantern-Tanne-68"), is_passphrase("see-note-4-of-5")
    (True, False)
    """
    words = re.split("[-_.]", value)
    return (
        _PHRASE.fullmatch(value) is not None
        and sum(word.isdigit() for word in words) == 1
        and sum(word.isalpha() and len(word) > 3 for word in words) >= 3
        and value != value.lower()
        and not is_placeholder(value)
    )


@asked_once
def is_identifier(value: str) -> bool:
    """Whether a value names a thing and opens nothing: a UUID, a ULID, a GPG key."""
    return any(form.fullmatch(value) for form in (UUID, ULID, _FINGERPRINT, _ACCOUNT))


@asked_once
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
