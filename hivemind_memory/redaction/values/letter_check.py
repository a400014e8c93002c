"""Judges whether a value without a digit may be a password, by its place and letters.

Nothing tells a password of letters from a word of a document but the place it stands
in. Where only a password can be, each word counts that documents do not put there.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.values.passphrase_check import is_drawn
from hivemind_memory.redaction.values.value_check import (
    is_no_secret,
    is_placeholder,
    is_scrambled,
    looks_random,
)

SHORTEST = 5
SHORTEST_SPOKEN = 9
"""Letters of a word within a sentence; most words of sentences have fewer."""

_LONG = 15  # longer than all words but those with a known beginning
_LONG_WORD = lazy_re(
    r"(?i)(?:admin|anti|authen|author|auto|back|bi|charac|circum|co[mnur]|counter|crypt"
    r"|de|dis|effect|electr|en|environ|equi|ex|fore|funct|general|geo|graph|hyper|ident"
    r"|il|im|in|inter|intra|inst|kilo|macro|mal|mathem|mega|meta|micro|mid|mis|mono"
    r"|multi|nano|neuro|non|ob|off|op|over|para|par|per|photo|poly|post|pre|pro|pseudo"
    r"|psych|quasi|re|respons|self|semi|socio|special|stand|straight|sub|super|supple"
    r"|syn|techn|tele|theor|thermo|thou|trans|ultra|un|under|up|vari|ver|zusammen|ge"
    r"|ein|aus|ab|an|auf|be|vor|wieder|zu|gesti|impost|acc|ad|al|ap|as|at).*"
    r"|.*(?:ly|ung|ungen|heit|keit)$"
)
_LONG_ELSEWHERE = 11
_SAID_ELSEWHERE = lazy_re(
    r".*(?:ый|ий|ой|ая|яя|ое|ее|ые|ие|ен|ён|на|но|ны|ть|ся|ет|ют|ит|ат|ов|ом|ам|ах"
    r"|ости|ость"
    r"|ция|ции|ние|ния|ением|ами|его|ого|ому|им|ым|ых|их)"
)
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
# Longer words of sentences that speak of passwords.
_SPOKEN_OF_IT = frozenset(
    re.findall(
        r"\w+",
        """
        otherwise therefore nevertheless nonetheless however somewhere elsewhere
        anywhere
        everywhere anymore whenever wherever whatever through throughout afterwards
        afterward beforehand meanwhile likewise constraints multiple parameters
        combinations entries contexts approaches timestamp filename filenames hostname
        username userinfo localhost keywords callback callbacks databases notifications
        subcommand template templates interface namespace namespaces lifespan payload
        checkout snapshot resource resources processes attempts architecture strategies
        straightforward separate separately lowercase uppercase backslash whitespace
        certificate pinentry configure determine accommodate calculate authenticate
        generate validate terminate transport functions libraries machines subprocess
        preprocessor contains requires enforces recommends precisely neither
        pseudorandom
        everytime override fallback requests features packages dialogs numbers addresses
        questions sequence sequences signature signatures structure failure closure
        database hardcode plaintexts passphrases administrators equivalents complete
        consistent overwrite replicate duplicate superuser sysadmin
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
        toggle reject quarantine incorreta incorreto incorrecta incorrecto errada
        weak what when where which while will with yesterday without word wrong yes your
        obligatoire obligatoria facultatif verlopen vereist verplicht vergeten requis
        erforderlich optional leer wert zeichenkette
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


def may_be_spoken_word(value: str, *, is_quoted: bool = False) -> bool:
    """Whether a word within a sentence is a password that it states.

    >>> [may_be_spoken_word(word) for word in ("kuvaritomel", "therefore", "somewhere")]
    [True, False, False]
    """
    if is_quoted:
        return _is_spelt_out(value) and len(value) > 5
    if value.count("-") > 1 and is_drawn(value, least=3):
        return True
    if len(value) < SHORTEST_SPOKEN and not _TWO_WORDS.fullmatch(value):
        return False
    return _is_spelt_out(value) and value.lower() not in _SPOKEN_OF_IT


@asked_once
def may_be_answer(value: str) -> bool:
    """Whether a word where only a password is asked for is one."""
    if value.isalpha():
        return _is_spelt_out(value) and value.lower() not in _SPOKEN_OF_IT
    return may_be_any(value) and "://" not in value and not value.isdecimal()


@asked_once
def _is_spelt_out(value: str) -> bool:
    """Whether letters of any alphabet are a password, and no word about one."""
    if max(value) <= _LAST_LATIN:
        return may_be_said(value) or (
            len(value) >= _LONG
            and value.isalpha()
            and _LONG_WORD.match(value) is None
            and may_be_bare(value)
        )
    return (
        len(value) > _LONG_ELSEWHERE
        and value.isalpha()
        and _SAID_ELSEWHERE.fullmatch(value.lower()) is None
    )


@asked_once
def says_what_it_is(word: str) -> bool:
    """Whether a word names a secret, or says something of one, as documents do.

    >>> says_what_it_is("Username"), says_what_it_is("tulip")
    (True, False)
    """
    low = word.lower()
    return low in _NAMES or low in _DOC_WORDS or low in _SPOKEN_OF_IT


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
