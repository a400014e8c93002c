"""Finds passwords that a sentence, a command or a pair with an account gives away.

``use pw Xk9#mQ2 for the vpn``, ``admin / Xk9#mQ2``, ``htpasswd -b file bob Xk9#mQ2``:
nothing assigns these values, so they have to look like a chosen password; an option of
a known command (``commands``) is believed unless it is a plain word.
"""

from __future__ import annotations

import re
from itertools import pairwise

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.commands import FORMS
from hivemind_memory.redaction.in_code.setting_names import classify_name
from hivemind_memory.redaction.sentence_gate import (
    ACCOUNTS,
    CREDENTIAL_WORDS,
    LOGIN_WORDS,
    PASSWORD_WORDS,
    SECRET_WORDS,
    has_pair,
)
from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.values.value_check import (
    is_no_secret,
    is_placeholder,
    is_scrambled,
    is_sure,
    is_wordy,
    looks_random,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords

_PASSWORD = "password"  # noqa: S105 - the name of a kind
_SAID = lazy_re(
    r"(?i)(?<![\w$.-])(?:(?:pass(?:word|wd|phrase|code|wort)?|pw|pwd|kennwort|"
    r"contrase[ñn]a|senha|mot de passe|parola|wachtwoord|has[łl]o|şifre|пароль)s?)"
    r"[*_]{0,2}[ \t]{1,3}(?:(?:is|to|now|as)[ \t]+)?[*_]{0,2}"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{6,100})"
)
_DIRECTIVE = lazy_re(
    r"(?im)^[ \t>-]*[\w-]{0,40}pass(?:word|wd|phrase)?[ \t]{1,8}"
    r"(?P<quote>[\"'])(?P<value>[^\s\"']{6,100})"
)
_BRACKETED = lazy_re(
    r"(?i)\b(?:password|passphrase|pw|pwd|pass)[ \t]*\((?P<quote>)"
    r"(?P<value>[^\s\"'`()]{6,100})\)"
)
_LATER_SAID = lazy_re(
    r"(?i)\b(?:password|passphrase|pw)\b[^\n.!?]{0,60}?[ \t](?:is|to|now|:)[ \t]+"
    r"(?:now[ \t]+)?(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{8,100})"
)
_LOGGED_IN = lazy_re(
    r"(?i)\b(?:log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|connect|authenticate)\b"
    r"[^\n.!?]{0,60}?\b(?:as|user|with)[ \t]+[\"'`]?[\w.@+-]{2,60}[\"'`]?[ \t]+"
    r"(?:with|using|and)[ \t]+"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{8,100})"
)
_CREDS = lazy_re(
    r"(?i)\b(?:creds?|credentials|login|logins|zugangsdaten)\b[^\n!?]{0,60}?[ \t(]"
    r"[\w.@+-]{2,60}[ \t]+/[ \t]+(?P<quote>[\"'`]?)(?P<value>[^\s\"'`/|]{6,100})"
)
_CELL = lazy_re(r"(?i)<t[dh][^<>]{0,80}>([^<>]{1,100})</t[dh]>")
_PAIR = lazy_re(
    rf"(?i)(?<![\w/.@:-])(?:{'|'.join(ACCOUNTS)})[\"'`]?(?:[ \t]+/[ \t]+|:|,[ \t]*)"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`/|,:]{6,100})"
)
_LATER = lazy_re(
    r"(?i)\b(?:token|secret|api[ -]?key|password|credential)s?\b[^\n.!?]{1,60}?[ \t(]"
    r"(?P<quote>[\"'`]?)(?P<value>[A-Za-z0-9_+/=-]{24,400})(?![\w/])"
)
_LONG_RUN = lazy_re(r"\S{24}")
_SENTENCES = tuple(
    (frozenset(words), pattern)
    for words, pattern in (
        (PASSWORD_WORDS, _SAID),
        (("pass",), _DIRECTIVE),
        (("pass", "pw"), _BRACKETED),
        (("pass", "pw"), _LATER_SAID),
        ((), _PAIR),
        (LOGIN_WORDS, _LOGGED_IN),
        (CREDENTIAL_WORDS, _CREDS),
        (SECRET_WORDS, _LATER),
    )
)
"""Words of which a line must have one -> what is looked for in it."""

_CALL = frozenset("()=")
"""Signs of code: ``pass is_open=True``."""

_NEAR_CHARS = 12
_LICENCE = lazy_re(
    r"(?i)\b(?:licen[cs]e|product|activation|serial|cd|recovery|unlock)[ -]?(?:key"
    r"|code|number)\b"
    r"[^\n]{0,80}?[ \t:=`]([A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,7})(?![\w-])"
)
_KEY_FILE = lazy_re(
    r"(?i)\b(?:master|credentials|production)\.key\b[^\n]{0,40}?[:= \t`]"
    r"([0-9a-f]{32,64})(?![\w-])"
)
_RECOVERY = lazy_re(
    r"(?i)\b(?:recovery|backup|scratch)[ -]?codes?\b[^\n]{0,60}?[ \t:=`]"
    r"([a-z0-9]{4,6}-[a-z0-9]{4,6})(?![\w-])"
)
_SIGNATURE = lazy_re(
    r"(?i)[?&](?:x-(?:amz|goog)-(?:signature|security-token)|signature)"
    r"=([\w%+/=-]{24,2000})"
)
_JWK = lazy_re(r"\"(?:d|p|q|dp|dq|qi|k)\"[ \t]*:[ \t]*\"([\w-]{20,2000})\"")
_BITLOCKER = lazy_re(r"(?<![\d-])(?:\d{6}-){7}\d{6}(?![\d-])")
_CARD = lazy_re(r"(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d.-])")
_PIN = lazy_re(
    r"(?:\bPIN(?:[ -]?[Cc]ode)?|\b[Pp]in[ -]code|\bPUK)[ \t]*(?:\r?\n:|is"
    r"|[:=])?[ \t*`]{0,4}"
    r"(\d{4,8})(?![\w.:/-])"
)
_NEAR_CARD = 200
_TOP_OF_CARDS = frozenset(
    ("card", "visa", "mastercard", "amex", "karte", "carte", "tarjeta")
)


def in_sentences(there: LineWords) -> list[TextSpan]:
    """Return the passwords and keys that words around them give away."""
    text, low = there.text, there.low
    spans = list(_chosen(there))
    if there.has_any(_COMMANDS):
        for word, pattern in FORMS:
            if word in there:
                spans += _of_command(there.near(pattern, (word,)))
    for words, pattern, judge, kind in _NUMBERS:
        spans += [
            (*found.span(1), kind)
            for found in there.near(pattern, words, below=1)
            if judge is None or judge(found[1])
        ]
    if '"kty"' in low:
        spans += [
            (*found.span(1), "private-key")
            for found in _JWK.finditer(text)
            if looks_random(found[1])
        ]
    if "<t" in low:
        spans += _html_rows(text)
    if "bitlocker" in low or "recovery" in low:
        spans += [
            (*found.span(), "recovery-key") for found in _BITLOCKER.finditer(text)
        ]
    spans += _cards(there)
    return spans


def _chosen(there: LineWords) -> Iterator[TextSpan]:
    """Yield the values after a password's name, or after the name of an account.

    A pattern is tried on the lines alone that have one of its words.
    """
    for words, pattern in _SENTENCES:
        if pattern is _PAIR:
            if has_pair(there):
                yield from _values(pattern.finditer(there.text))
        elif pattern is _LATER:
            if _LONG_RUN.search(there.text):
                yield from _machine_made(there.near(_LATER, words))
        else:
            yield from _values(there.near(pattern, words))


def _values(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the passwords that a pattern has found."""
    for found in places:
        value = found["value"].rstrip(".,;:!?)]}*_")
        if is_chosen(value, is_quoted=bool(found["quote"])):
            at = found.start("value")
            yield (at, at + len(value), _PASSWORD)


def _machine_made(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the random values of lines that speak of a secret."""
    for found in places:
        value = found["value"]
        is_hex = re.fullmatch(r"[0-9a-f]{32,128}", value) is not None
        # Behind the word itself alone; elsewhere on the line it is rather a hash.
        is_near = found.start("value") - found.start() <= _NEAR_CHARS
        if (is_hex and is_near and looks_random(value)) or (
            is_sure(value) and _has_run(value)
        ):
            yield (*found.span("value"), "secret")


def _has_run(value: str) -> bool:
    """Whether a value has a part too long for one of several words."""
    longest = max(map(len, re.split("[-_/+=]", value)))
    return longest >= (12 if len(value) >= 32 else 16)


def is_chosen(value: str, *, is_quoted: bool) -> bool:
    """Whether a person may have chosen a value as a password: no word of a sentence.

    It mixes kinds of letters as passwords do: ``Xk9#mQ2``, not ``base64`` or ``utf-8``.
    """
    if len(value) < (6 if is_quoted else 8) or is_no_secret(value, firm=is_quoted):
        return False
    body = value.strip("-_./")
    digits = sum(letter.isdigit() for letter in body)
    symbols = sum(not letter.isalnum() and letter not in "-_./:" for letter in body)
    letters = [letter for letter in body if letter.isalpha()]
    is_mixed = any(letter.isupper() for letter in letters[1:]) and any(
        letter.islower() for letter in letters
    )
    if not letters or value[0] == "-" or not _CALL.isdisjoint(body):
        return False
    plain = [letter for letter in body if letter.isalnum()]
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(plain))
    kinds = bool(digits) + bool(symbols) + is_mixed
    return (
        kinds >= 2
        or (digits >= 2 and changes >= 3)
        or (is_quoted and kinds >= 1 and not is_wordy(value))
        or looks_random(value)
    )


def _of_command(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the values that a command takes as a password."""
    for found in places:
        value = found["value"].rstrip(")],")
        if not is_placeholder(value) and (not value.isalpha() or is_scrambled(value)):
            start = found.start("value")
            yield (start, start + len(value), _PASSWORD)


def _is_mixed(value: str) -> bool:
    """Whether a value has letters and digits."""
    return (
        re.search("[0-9]", value) is not None
        and re.search("[A-Za-z]", value) is not None
    )


_NUMBERS: tuple[
    tuple[frozenset[str], re.Pattern[str], Callable[[str], bool] | None, str], ...
] = tuple(
    (frozenset(words), pattern, judge, kind)
    for words, pattern, judge, kind in (
        (("signature=", "token="), _SIGNATURE, looks_random, "signature"),
        (
            ("licen", "product", "activation", "serial", "cd", "recovery", "unlock"),
            _LICENCE,
            None,
            "licence-key",
        ),
        ((".key",), _KEY_FILE, looks_random, "secret"),
        (("recovery", "backup", "scratch"), _RECOVERY, _is_mixed, "recovery-code"),
        (("pin", "puk"), _PIN, None, "pin"),
    )
)
"""Words -> what is looked for on their lines, what judges it, and its kind."""

_COMMANDS = frozenset(word for word, _ in FORMS)
WORDS = _COMMANDS.union(
    _TOP_OF_CARDS, *(row[0] for row in _SENTENCES), *(row[0] for row in _NUMBERS)
)
"""Words that the gate looks for before ``in_sentences`` is asked, in lower case."""


def _html_rows(text: str) -> Iterator[TextSpan]:
    """Yield the cells of HTML tables below a head that speaks of a password."""
    heads: list[str] = []
    for row in re.finditer(r"(?is)<tr[^<>]{0,80}>(.{1,2000}?)</tr>", text):
        cells = list(_CELL.finditer(text, row.start(1), row.end(1)))
        if "<th" in row[1].lower():
            heads = [cell[1] for cell in cells]
        for head, cell in zip(heads, cells, strict=False):
            if classify_name(head) and is_chosen(cell[1].strip(), is_quoted=True):
                yield (*cell.span(1), _PASSWORD)


def _cards(there: LineWords) -> Iterator[TextSpan]:
    """Yield the numbers of payment cards on lines that speak of one."""
    low = there.low
    for found in there.near(_CARD, _TOP_OF_CARDS):
        first = max(0, found.start() - _NEAR_CARD)
        before = low[first : found.start()].rpartition("\n")[2]
        after = low[found.end() : found.end() + _NEAR_CARD].partition("\n")[0]
        line = before + after
        digits = [int(letter) for letter in found[0] if letter.isdigit()]
        if any(word in line for word in _TOP_OF_CARDS) and _is_luhn(digits):
            yield (*found.span(), "card-number")


def _is_luhn(digits: list[int]) -> bool:
    """Whether the check digit is right (ISO/IEC 7812-1, annex B)."""
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
