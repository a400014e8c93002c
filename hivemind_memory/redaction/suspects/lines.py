"""Picks the lines of a text that may hold a secret, so that rules read only these.

Of most documents nine lines in ten hold no value that any rule would take for a secret,
and no word behind which a plain word is one. Such a line becomes a placeholder with
its indent, so rules find what is left where it stood: as many lines below its label, in
the same list or table.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_prose.statement_words import (
    CODE,
    KEY,
    OPENED,
    PASSWORD,
    SHARED,
)
from hivemind_memory.redaction.prose_words import (
    CODE_PARTS,
    NETWORK_PARTS,
    OPENED_PARTS,
    PASSWORD_PARTS,
    SHARED_PARTS,
)
from hivemind_memory.redaction.secret_names import PASSWORD_NAMES, PASSWORDS_ELSEWHERE
from hivemind_memory.redaction.spans import found_at, has_any
from hivemind_memory.redaction.suspects.below_labels import (
    MAX_TABLE,
    SHORT_LINE,
    SIGNS_OF_TABLES,
    BelowLabels,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

ABOVE = 4
"""Lines with text above a value on which its label may be."""

_BESIDE = 8  # lines below one that is kept: no rule looks further
_PLACEHOLDER = "x"
# What else is on the line of a value that a person may have chosen as a password.
_TAKEN_WORDS = (
    "login", "log in", "log-in", "logon", "log on", "log-on", "logged", "log ged",
    "log-ged", "signin", "sign in", "sign-in", "signedin", "signed in", "signed-in",
    "connect", "auth", "cred", "account", "user", "admin", "send", "key", "schl",
    "klucz", "klúcz", "cle", "clé", "clave", "llave", "chiave", "chave", "ключ",
    "vault", "root", "using", "uses", " / ", "<<<", "|", "->", "→", "–", "—",
)  # fmt: skip
_OPTION = lazy_re(r" --?[A-Za-z]")
_SHORT_NAMES = ("p:", "p=", "pw:", "pw=")
_SHORT_NAME = lazy_re(r"\bpw?[:=]")

_LABEL_PARTS = frozenset((
    *("pass", "assword", "assphrase", "pw", "contrase", "motdepasse", "mot de"),
    *(*PASSWORD_NAMES, *PASSWORDS_ELSEWHERE, *PASSWORD_PARTS, *OPENED_PARTS),
    *("losung", "diceware", "geheim", "cred", "logins", "zugangsdaten"),
    *("seed", "mnemonic", "recovery", "wallet", "bip39", "2fa", "mfa", "totp"),
    *("authenticator", "setup key", "two-factor", "base32"),
    *("scratch", "emergency", "one-time", "one time"),
    *("12. ", "12) ", "12: "), *SHARED_PARTS,
))  # fmt: skip
_LABEL = lazy_re(
    r"assword|assphrase|pass(?:word|wd|phrase|code|wort|ord|w\b)|passes\s*:"
    r"|(?<![a-z])(?:pass|pw|pwd|creds?|credentials?|logins|seed|wallet|recovery|mnemonic|2fa|mfa"
    r"|totp|passe|scratch|emergency)(?![a-z])|bip39|one[- ]time|zugangsdaten"
    r"|(?:user|my|db|root|admin|sudo|ssh|smtp|auth|pg)pass|(?:user|admin|root|db)pw"
    rf"|contrase|{'|'.join((*PASSWORD_NAMES, *PASSWORDS_ELSEWHERE))}"
    "|losung|diceware|geheim"
    r"|authenticator|setup key|two-factor|base32|mot de passe|motdepasse|12[.):][ ]"
)
"""What is next to or above a plain word or number that is a secret."""

_LABEL_STARTS = (
    "assword", "assphrase", "pass", "pw", "cred", "logins", "seed", "wallet",
    "recovery", "mnemonic", "2fa", "mfa", "totp", "scratch", "emergency", "bip39",
    "one-time", "one time", "zugangsdaten", "user", "mypass", "db", "root", "admin",
    "sudo", "ssh", "smtp", "auth", "pgpass", "contrase", *PASSWORD_NAMES,
    *PASSWORDS_ELSEWHERE, "losung", "diceware", "geheim", "setup key", "two-factor",
    "base32", "mot de passe", "motdepasse", "12",
)  # fmt: skip
"""One of these begins each of them."""

_NUMBER_PARTS = frozenset((
    *("pin", "puk", "code", "código", "codice", "код", "wlan", "wifi", "wi-fi", "wpa"),
    *("netzwerk", "network", "keypad", "tresor", "safe", "lockbox", "alarm", "cvv"),
    *("cvc", "kombination", "combina", "opens with", "öffnet mit", "ouvre avec"),
    *("abre con", "card", "visa", "amex", "karte", "carte", "tarjeta", "门禁"),
    *("bitlocker", "backup", "otp", "psk", "unlock", *CODE_PARTS, *NETWORK_PARTS),
))  # fmt: skip
_PHRASE_PARTS = frozenset((
    *("encrypt", "decrypt", "lock", "asks", "prompt", "type", "enter", "smtp", "imap"),
    *("mail", "icloud", "apple", "login", "app "),
))  # fmt: skip
_WRITING = frozenset(("echo ", "print", "send"))
LABEL_PARTS = (*_LABEL_PARTS, *_NUMBER_PARTS, *_PHRASE_PARTS, *_WRITING)
"""Words without which a line without a telling value holds no secret, in lower case."""

_NUMBER_LABEL = lazy_re(
    r"(?<![a-z])(?:pins?|puk|otp|psk|wpa\d?|visa|amex|cvv2?|cvc2?"
    r"|safe|alarm|backup|network)(?![a-z])|codes?(?![a-z])|código|codice|код|wlan"
    r"|wi-?fi|netzwerk|keypad|tresor|lockbox|kombination|combina|opens with|öffnet mit"
    r"|ouvre avec|abre con|card(?![a-z]{2})|karte|carte|tarjeta|门禁|bitlocker|unlock"
)
"""What is next to or above digits that are a secret."""

_QUOTED = lazy_re(r"(?:[\"'`“„«]|\*\*)(?P<value>[A-Za-z]{3,12}[-_.+ ][\w. +-]{5,80})")
_FOUR_GROUPS = lazy_re(
    r"[ -](?<=[a-z]{4}.)(?<![\w-][a-z]{4}.)[a-z]{4}(?:[ -][a-z]{4}){2}(?![\w-])"
)
_DIGIT = "[0-9\uff10-\uff19\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]"
_NUMBER = lazy_re(rf"{_DIGIT}{{2}}(?:{_DIGIT}|-{_DIGIT}{{2}})")

_ABOVE_WORDS = (
    "key", "token", "secret", "auth", "cred", "log", "sign", "account", "pass", "pw",
    "code", "pin", "puk", "cook", "hook", "valu", "content", "variable", "data", "name",
    "kind", "rand", "gen", "made", "connect", "open", "dial", "bind", "ftp", "smtp",
    "user", "hash", "crypt", "hmac", "aes", "jwt", "fernet", "cipher", "wallet",
    "client", "api", "sdk", "init", "conf", "setup", "bot", "set", "send", "vault",
    "basic", "seed", "recover", "backup", "http", "ssh", *NETWORK_PARTS,
)  # fmt: skip
_LABEL_ENDS = (":", "(", "{", "[", "=", "|", ",", "\\", "：")
"""What a line above a value has that may be its label."""


class SuspectText:
    """The lines of a text that may hold a secret, and where they stood."""

    __slots__ = ("_ends", "_shifts", "lines")

    def __init__(self, lines: LineWords, ends: list[int], shifts: list[int]) -> None:
        self.lines = lines
        """Those lines, with placeholders for the others."""

        self._ends = ends
        self._shifts = shifts

    def original(self, spans: Iterable[TextSpan]) -> Iterator[TextSpan]:
        """Yield spans of the lines as spans of the whole text."""
        for start, end, kind in spans:
            first = self._shifts[bisect_right(self._ends, start)]
            last = self._shifts[bisect_right(self._ends, end - 1)]
            yield (start + first, end + last, kind)


def suspect_lines(there: LineWords) -> SuspectText | None:
    """Return the lines of a text that may hold a secret; None: no line may."""
    labels = set(there.rows(_LABEL_PARTS))
    numbers = set(there.rows(_NUMBER_PARTS))
    phrases = set(there.rows(_PHRASE_PARTS))
    commands = _command_rows(there)
    asked = {*there.telling, *there.doubtful, *labels, *numbers, *phrases, *commands}
    if not asked:
        return None
    lines, starts = there.lines, there.starts
    is_kept = [False] * len(lines)
    below = BelowLabels(lines)
    for row in sorted(asked):
        line, low_line = lines[row], there.low[starts[row] : starts[row + 1] - 1]
        if row in there.telling or (
            row in there.doubtful and _is_taken(line, low_line)
        ):
            is_kept[row] = True
            _keep_above(lines, row, is_kept)
        if row in labels and _is_label(line, low_line):
            is_kept[row] = True
            below.keep(row, is_kept)
        elif row in commands:
            is_kept[row] = True
        elif row in numbers:
            _keep_numbers(lines, row, is_kept)
        if row in phrases and not is_kept[row]:
            is_kept[row] = _has_phrase(line)
    if True not in is_kept:
        return None
    return _kept_lines(there, is_kept)


def _is_taken(line: str, low: str) -> bool:
    """Whether a line says that a value on it signs in or opens something."""
    return (
        has_any(low, _TAKEN_WORDS)
        or (" -" in line and _OPTION.search(line) is not None)
        or (has_any(low, _SHORT_NAMES) and _SHORT_NAME.search(low) is not None)
    )


def _is_label(line: str, low: str) -> bool:
    """Whether a line says that a password or the words of a wallet follow."""
    return (
        any(found_at(_LABEL, low, low, _LABEL_STARTS))
        or any(found_at(PASSWORD, line, low, PASSWORD_PARTS))
        or any(found_at(OPENED, line, low, OPENED_PARTS))
        or any(found_at(SHARED, line, low, SHARED_PARTS))
    )


def _is_number_label(line: str) -> bool:
    """Whether a line speaks of something that digits open."""
    low = line.lower()
    return (
        _NUMBER_LABEL.search(low) is not None
        or any(found_at(CODE, line, low, CODE_PARTS))
        or KEY.search(line) is not None
    )


def _has_phrase(line: str) -> bool:
    """Whether a line has four groups of letters, or quotes words that were drawn."""
    from hivemind_memory.redaction.values.passphrase_check import is_drawn

    return _FOUR_GROUPS.search(line) is not None or any(
        is_drawn(re.split(r"[\"'`”»*]", found["value"])[0])
        for found in _QUOTED.finditer(line)
    )


def _command_rows(there: LineWords) -> set[int]:
    """Return the numbers of the lines with a command that takes a password."""
    from hivemind_memory.redaction.in_code.commands import FORMS, WORDS

    rows: list[tuple[re.Pattern[str], str]] = []
    if there.has_any(WORDS):
        rows = [(pattern, word) for word, pattern in FORMS if word in there]
    if there.has_any(_WRITING):
        from hivemind_memory.redaction.in_code.arguments import PIPED, SENT
        from hivemind_memory.redaction.in_formats.secret_fields import TO_FILE

        rows += [(PIPED, "echo "), (PIPED, "printf "), (SENT, "send")]
        rows += [(TO_FILE, "echo "), (TO_FILE, "print")]
    return {
        bisect_right(there.starts, at) - 1
        for pattern, word in rows
        for found in there.near(pattern, (word,))
        for at in (found.start(), found.end() - 1)
    }


def _keep_above(lines: list[str], row: int, is_kept: list[bool]) -> None:
    """Keep the lines above a value that may be its label, or the head of its table."""
    left = ABOVE
    for above in range(row - 1, -1, -1):
        if not left:
            break
        if lines[above] and not lines[above].isspace():
            is_kept[above] = is_kept[above] or _may_label(lines[above])
            left -= 1
    line = lines[row].strip()
    for sign in SIGNS_OF_TABLES:
        count = line.count(sign)
        for above in range(row - 1, max(-1, row - MAX_TABLE) if count else row, -1):
            if is_kept[above] or lines[above].strip().count(sign) != count:
                break
            is_kept[above] = True


def _may_label(line: str) -> bool:
    """Whether a line above a value may be its label, or open the form it is in."""
    return (
        not line.isascii()
        or line.rstrip().endswith(_LABEL_ENDS)
        or line.lstrip().startswith(("#", "|", ">", "-"))
        or has_any(line.lower(), _ABOVE_WORDS)
    )


def _keep_numbers(lines: list[str], row: int, is_kept: list[bool]) -> None:
    """Keep a line that speaks of a number, and the numbers on it and below."""
    rows = []
    left = ABOVE
    for below in range(row, len(lines)):
        if not left:
            break
        if _NUMBER.search(lines[below]):
            rows.append(below)
        left -= bool(lines[below]) and not lines[below].isspace()
    if rows and _is_number_label(lines[row]):
        for kept in (row, *rows):
            is_kept[kept] = True


def _kept_lines(there: LineWords, is_kept: list[bool]) -> SuspectText:
    """Return the lines that are kept, and placeholders for those beside them."""
    lines, starts = there.lines, there.starts
    parts: list[str] = []
    rows: dict[int, int] = {}
    ends: list[int] = []
    shifts: list[int] = []
    at = 0  # the place in what is returned
    kept = [row for row, keep in enumerate(is_kept) if keep]
    for place, last in enumerate(kept):
        following = kept[place + 1] if place + 1 < len(kept) else len(lines) + _BESIDE
        done = min(last + _BESIDE + 1, following, len(lines))
        for row in range(last, done):
            shown = lines[row]
            body = shown.lstrip(" \t") if len(shown) > SHORT_LINE else ""
            if row != last and len(body) > SHORT_LINE:
                shown = shown[: len(shown) - len(body)] + _PLACEHOLDER
            else:
                rows[row] = len(parts)
            shift = starts[row] - at
            if not shifts:
                shifts.append(shift)
            elif shift != shifts[-1]:
                ends.append(at)
                shifts.append(shift)
            parts.append(shown)
            at += len(shown) + 1
    return SuspectText(there.only(parts, rows), ends, shifts)
