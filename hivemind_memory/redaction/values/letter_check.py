"""Judges whether a value without a digit may be a password, by its place and letters.

Nothing tells a password of letters from a word of a document but the place it stands
in. Where only a password can be, each word counts that documents do not put there.
"""

from __future__ import annotations

import re

from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.lazy_pattern import lazy_re
from hivemind_memory.redaction.values.value_check import (
    is_no_secret,
    is_placeholder,
    is_scrambled,
    looks_random,
)

SHORTEST = 5
LONGEST = 100
_LAST_LATIN = "\u024f"
_SPELT = lazy_re(r"[^\W\d_](?:[^\W\d_]|[!#$%&*+@^~?._-])*")
_VARIABLE = lazy_re(r"[a-z]+(?:_[a-z]+)+|[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+")
_PARTS = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
_TWO_WORDS = lazy_re(r"(?:[A-Z][a-z]{2,14}){2,5}")
_FILE_OR_HOST = lazy_re(r"[\w.-]+\.(?:[a-z]{2,4}|local|internal|example|invalid)")
# What names a secret or a thing that has one, in a name such as ``userPassword``.
_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
        auth authentication authorization code config credential credentials db
        default email env field file form function hash host id input key label
        login mask name new object old option param parameter pass passphrase passwd
        password passwords passwort path placeholder prompt pwd reset root secret
        secrets setting settings storage str string text token type url user
        username users val value values variable vault kennwort motdepasse
        contrasena
        """,
    )
)
# What documents write in the place of a password, or about it.
_DOC_WORDS = frozenset(
    re.findall(
        r"[\w-]+",
        """
        above access account admin administrator again algorithm allow allowed
        always and any are argument arguments array asked auto automatic based basic
        before below between blank bool boolean both bytes callback called cannot
        case change changed char character characters chars check checked class
        clear clear-text cleartext client command complete configured correct create
        created crypt current data database date deny deprecated description details
        different digest disable disabled display does double echo either empty
        enable enabled encoded encrypted encryption enter entered entry error even
        every except expired external fail failed false fields find first for
        forbidden forgotten format found from function generate generated given
        global guest hash hashed have here hidden however ignore ignored incorrect
        instead integer interactive internal into invalid item keyring keychain
        kerberos length letter letters line list stdin stdout bcrypt scrypt await
        async abcdef abcdefg infinity buffer attributes local lock locked login long
        lower made make manager manual mandatory match matching maximum message
        method minimum missing mixed mode module must name needed never next
        none normal nothing null number object obsolete once only open optional
        option options or other otherwise parse plain plaintext plain-text please
        policy present private prompt prompted prompts protect protected protection
        provide provided public random read readonly record recommended recovery
        redacted reference remote remove removed repeat repeated request require
        required requirements reset response result return returned returns right
        safe same sample saved see select send sent server service session sets
        setting settings shadow shared short should show shown simple since single
        size skip something special specified specify static status still store
        stored strict string strings strong stronger success supplied
        supported system temporary test text than that their them then there these
        this time timeout true type types unchanged undefined unencrypted unknown
        unless unlocked unset until update updated upper used user users uses using
        utility validation value values variable verbose verify wallet want warning
        weak what when where which while will with without word wrong yes your
        obligatoire facultatif requis erforderlich optional leer wert zeichenkette
        valor cadena requerido obligatorio opcional vergessen ändern oublié olvidada
        one-time read-only non-empty case-sensitive base-encoded passwordless
        """,
    )
)
_SAID_OF_IT = lazy_re(
    r"(?i).*(?:ed|ing|ables?|ibles?|ary|ory|al|ive|ent|ant|ous|ful|less|ic|ly|able"
    r"|ness|tion|sion|ment|ity|ance|ence|iert|lich|bar|isch|igt|ndert|etzt|ado|ada"
    r"|ido|ida|toire|é|ée|ato|ata|uto|uta)"
)


@asked_once
def may_be_letters(value: str) -> bool:
    """Whether letters, in quotes or after ``=``, are a password where one stands.

    >>> [may_be_letters(value) for value in ("kuvaritomel", "required", "userPassword")]
    [True, False, False]
    """
    if not (SHORTEST <= len(value) <= LONGEST) or _SPELT.fullmatch(value) is None:
        return False
    if max(value) > _LAST_LATIN or is_placeholder(value) or _is_metavariable(value):
        return False
    if value.strip("!?.-").lower() in _DOC_WORDS or _FILE_OR_HOST.fullmatch(value):
        return False
    parts = [part.lower() for part in _PARTS.findall(value)]
    return _NAMES.isdisjoint(parts) and not _is_one_name(value.lower())


@asked_once
def may_be_bare(value: str) -> bool:
    """Whether letters without quotes are a password, and no variable of code."""
    return may_be_letters(value) and _VARIABLE.fullmatch(value) is None


@asked_once
def may_be_said(value: str) -> bool:
    """Whether a word that a sentence ends with is a password, and no word about it.

    >>> [may_be_said(value) for value in ("OrbitTornado", "incorrect", "encrypted")]
    [True, False, False]
    """
    if not may_be_bare(value):
        return False
    is_odd = is_scrambled(value) or _TWO_WORDS.fullmatch(value) is not None
    return is_odd or _SAID_OF_IT.fullmatch(value) is None


@asked_once
def may_be_any(value: str) -> bool:
    """Whether a value, with digits or not, is a password where only one can stand."""
    if may_be_letters(value):
        return True
    return (
        len(value) >= SHORTEST
        and not value.isalpha()
        and any(letter.isalpha() for letter in value)
        and value.isascii()
        and (looks_random(value) or not is_no_secret(value, firm=True))
        and not _is_metavariable(value)
        and not _is_one_name(value.lower())
        and _VARIABLE.fullmatch(value) is None
        and value[0] not in "-/$<{%([\\"
    )


def _is_metavariable(value: str) -> bool:
    """Whether a value is in capitals, as help and documents name what to fill in."""
    return value == value.upper() and re.fullmatch("[A-Z_.-]+", value) is not None


def _is_one_name(low: str) -> bool:
    """Whether a word in one case ends or begins with what names a secret."""
    return re.search("passw|passphrase|secret|token|kennwort|contrase", low) is not None
