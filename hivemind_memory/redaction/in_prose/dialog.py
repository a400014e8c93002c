"""Finds passwords next to names, in answers and in lists, line by line.

``kim / Xk9…`` beside an address, the answer to a question for a password, the rows
below a heading. The place says how much a value must look like a password.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_prose.statement_words import SOFT
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.secret_names import PASSWORD_NAMES, PASSWORDS_ELSEWHERE
from hivemind_memory.redaction.sentence_gate import ACCOUNTS
from hivemind_memory.redaction.spans import TextSpan, found_at, has_any, line_starts
from hivemind_memory.redaction.values.password_check import (
    is_counted,
    looks_chosen,
    may_be_chosen,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hivemind_memory.redaction.line_words import LineWords

    _List = tuple[int, Callable[[str], bool]]

_PASSWORD_NAME = (
    r"(?:(?:ch)?pass(?:word|wd|phrase|code|wort|ord)?s?|pw|pwd|creds?|credentials?|logins?|"
    + "|".join(map(re.escape, (*PASSWORD_NAMES, *PASSWORDS_ELSEWHERE)))
    + r"|wpa\d?|psk|(?:network|wi-?fi|wlan)[ -](?:key|code))"
)
PASSWORD_WORDS = (
    "code", "pass", "chpass", "pw", "cred", "login", "wpa", "psk", "wifi", "wlan",
    "wi-fi", "network", *PASSWORD_NAMES, *PASSWORDS_ELSEWHERE,
)  # fmt: skip
_SAYS_PASSWORD = lazy_re(
    rf"(?i)(?<![a-z]){_PASSWORD_NAME}(?![a-z])|(?:{'|'.join(PASSWORDS_ELSEWHERE)})"
)
_TOKEN = lazy_re(r"(?<![^\s\"'`*(\[:=：“„«,/|])[^\s\"'`*()\[\]“”„«»<>|：]{8,80}")
_PLACE = lazy_re(
    r"(?i)https?://|\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<![a-z])(?:ssh|s?ftp|vnc|rdp|vpn|wi-?fi"
    r"|wlan|nas|router|switch|printer|drucker|jump-?(?:host|box)|bastion|server|host"
    r"|staging|prod|demo|admin|wp-admin|portal|panel|console|dashboard|grafana|jenkins"
    r"|jira|idrac|ipmi|ilo|bmc|camera|nvr|dvr|guest|gast|account|accounts|konto|zugang"
    r"|compte|cuenta|conta|login|logins|log in|smtp|imap|mailbox|user|username|utente"
    r"|benutzer|usuario|utilisateur|creds?|db|database|sql|oracle|mongo|redis|shared"
    r"|store|shop|tenant|kiosk|tablet|laptop|device|station|sandbox)(?![a-z])"
    r"|\w@\w"
)
_PAIRED = lazy_re(
    r"(?<![\w/@.:=#?&-])[\"'`*]{0,3}(?P<name>[A-Za-z][\w.@+\\-]{1,50})[\"'`*]{0,3}"
    r"(?P<sign>[ \t]{1,3}(?:/{1,2}|\||::?|–|—|->|→)[ \t]{1,3}|[ \t]?:[ \t]?|,[ \t]{1,3}"
    r"|(?<=[a-z])/)[\"'`*]{0,3}(?=(?P<value>[^\s\"'`|,;<>]{6,64}))"
)
_QUESTION = lazy_re(
    r"(?i)(?:\?|\b(?:pls|please|bitte|svp|por favor|plz|what(?:'?s| is)|needs?|wants?"
    r"|asks?|anyone have|code for|send me|which)\b)"
)
_ASKED = lazy_re(
    r"(?i)(?<![a-z])(?:(?:log-?in|sign-?in|door|gate|alarm|2fa|mfa|otp|sms|tan|access"
    r"|entry"
    r"|verification|verify|security|auth|authentication|one-time|confirmation|pairing"
    r"|unlock|registration|recovery)[ -]codes?"
    r"|codes?[ ]for[ ](?:the|my|your|our|a)?[ ]?(?:\w{1,12}[ ])?(?:door|gate|garage"
    r"|safe|alarm|login|account|vpn|bank|office|building|lock|card|phone|app|wi-?fi"
    r"|domain)"
    r"|pins?|otp|2fa|passcode|(?:wi-?fi|wlan|network)[ -]?(?:key|code)"
    r"|log-?ins?[ ](?:for|to|data|pls|please)|pass(?:word|wd|phrase|wort)?s?|pw|pwd"
    r"|creds?|credentials?|wpa\d?|psk"
    rf"|{'|'.join(map(re.escape, (*PASSWORD_NAMES, *PASSWORDS_ELSEWHERE)))})(?![a-z])"
    r"|(?:log-?ins?|wi-?fi|wlan|vpn)(?:[ ](?:pls|plz|please|bitte)|[ ]?\?)"
    rf"|{'|'.join(PASSWORDS_ELSEWHERE)}"
)
_ANSWER = lazy_re(
    r"[ \t>-]*(?:[\[(]?\d[\d:., /APMapm-]{3,22}[\])]?[ ,-]{0,3})?[*_]{0,2}[<@]?[\w.@-"
    r"]{1,24}"
    r"(?:[ ]\w{1,16})?>?[*_]{0,2}[ ]?[:|>][*_]{0,2}[ \t]{0,4}[`\"']?"
    r"(?P<value>[^\s`\"']{6,80})[`\"']?[^\n]{0,60}\Z"
)
# Who answers, a few words, and the number; little may follow.
_ANSWERED_CODE = lazy_re(
    r"(?i)[ \t>*-]*(?:[\[(]?\d\d?[:.]\d\d(?:[:.]\d\d)?[ ]?(?:[ap]m)?[\])]?[ ,-]{0,3})?"
    r"(?!(?:build|ticket|issue|pr|size|ean|id|version|port|date|order|commit|invoice)\b)"
    r"(?:[*_]{0,2}[<@]?[\w.@-]{1,24}(?:[ ]\w{1,16})?>?[*_]{0,2}[ ]?[:>|][*_]{0,2}"
    r"[ \t]{1,4})?"
    r"(?:(?:it|its|it's|is|says|that's|the|code|pin|now|got|here|try|use|enter|sure|yes"
    r"|ok|new|one|this|es|ist|der|lautet|c'est|le|el)[ ,:]{1,3}){0,5}[`\"'*]{0,3}"
    r"(?P<value>\d{6,8})[`\"'*]{0,3}(?:[ \t]*\Z|[.,;!(][^\n]{0,40}\Z"
    r"|[ ](?:(?:valid|expires|works|thanks|for|until)\b|[(–—-])[^\n]{0,40}\Z)"
)
_NEW_VALUE = lazy_re(
    r"(?i)[ \t>-]*(?:(?:the|your)[ ])?(?:(?:new|initial|current|temporary|generated"
    r"|old)[ ])?"
    r"(?:value|secret|one|is|result|output|it|neu\w*|nouveau|nueva"
    r"|nuova)[ \t]*[:=][ \t]*"
    r"[\"'`]?(?P<value>[^\s\"'`]{6,100})[\"'`]?[ \t\r]*\Z"
)
_BELOW = lazy_re(
    r"[ \t>]*(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+)?[`\"'*]{0,3}(?P<value>[^\s`\"'*]{6,80})"
    r"[`\"'*,]{0,3}[ \t\r]*\Z"
)
_CALLED_SO = lazy_re(
    rf"(?i)[\"'`*]{{0,3}}(?P<value>[^\s\"'`*()]{{6,64}})[\"'`*]{{0,3}}[ \t]{{1,3}}(?:"
    rf"<-+|←|is|was|ist|war|est|es|é|è"
    rf"|as|als|comme|como"
    rf"|come)[ \t]{{1,3}}(?:[a-zäöüß']{{2,9}}[ \t]{{1,3}}){{0,3}}?(?:[\w-]{{0,20}}[ "
    rf"\t]{{1,3}})?"
    rf"{_PASSWORD_NAME}(?![a-z])"
)
_LISTED = 8
_NO_LIST: _List = (0, looks_chosen)
_LIST_HEAD = lazy_re(
    r"(?i)(?P<sure>(?<![a-z])(?:(?:pass(?:word|phrase|code)|pw|pwd)s|passwörter"
    r"|kennwörter|contraseñas|mots de passe)(?:[ ](?:for|of|on|to|für|der|de)[ ]"
    r"[^\n:]{1,30})?(?:[ ]\([^\n()]{1,40}\))?[\s:*_#]*\Z)"
    r"|(?<![a-z])(?:(?:pass(?:word|phrase|code)|pw|pwd|login|cred|credential"
    r"|kennwort)s|passwörter|kennwörter|zugangsdaten)(?![a-z])"
    rf"|(?<![a-z]){_PASSWORD_NAME}[ \t*_]*:[ \t*_\r]*\Z"
)
_NETWORKS = ("wifi", "wi-fi", "wlan", "vpn")
_LONGEST_LINE = 500
_SHORT_LINE = 90
_HAS_DIGIT = lazy_re(r"[0-9]")


_AT_HOST = lazy_re(r"@[\w-]+(?:\.[\w-]+)+(?:[:/].*)?\Z")
_USED = lazy_re(
    r"(?i)\b(?:uses?|using|nutzt|nutzen|mit|utilise|avec|usa"
    r"|con)[ \t]{1,3}[\"'`*]{0,3}(?P<value>[^\s\"'`*|,;<>]{8,64})"
)
_SUM = lazy_re(r"(?i)(?:sha|md5|blake|crc|h1$|https?$)")
_CODE = lazy_re(r"[=;{}()\[\]/\\]|->|::|\w\.\w+\.\w|\w@[A-Za-z]")


_ROW = lazy_re(
    r"[ \t>]{0,20}(?:[-*+•][ \t]+"
    r"|\d{1,2}[.)][ \t]+)?[\"'`*]{0,3}[A-Za-z][\w.@+-]{1,40}[\"'`*]{0,3}"
    r"(?:[ \t]{0,3}(?::|=|/|\||,|–|—|->|→)[ \t]{0,3}|[ \t]{1,8})[\"'`*]{0,3}"
    r"(?P<value>[^\s\"'`*|,;]{6,64})[\"'`*]{0,3}[ \t\r]*\Z"
)


def on_lines(there: LineWords) -> Iterator[TextSpan]:
    """Yield what lines that speak of a password or a place to sign in hold."""
    text, low = there.text, there.low
    telling = {there.starts[row] for row in there.rows(PASSWORD_WORDS)}
    chosen = {
        there.starts[row]
        for piece, rows in there.odd.items()
        if _may_be_chosen(piece)
        for row in rows
    }
    paired = chosen | line_starts(low, (" / ",))
    if not telling and not paired:
        return
    start = 0
    above: list[tuple[bool, bool]] = []  # speaks of a password, asks for it
    is_below = False  # whether one of these does
    listed = _NO_LIST
    for line in text.split("\n"):
        at, start = start, start + len(line) + 1
        if len(line) > _LONGEST_LINE:
            above, is_below, listed = [], False, _NO_LIST
            continue
        is_telling = at in telling
        says = is_telling and any(
            found_at(_SAYS_PASSWORD, line, low[at : start - 1], PASSWORD_WORDS)
        )
        is_open = (
            (at in paired or says or listed[0] or is_below)
            and _HAS_DIGIT.search(line) is not None
            and _PUBLIC_LINE.search(line) is None
        )
        if is_open:
            is_led = at in chosen and (
                (not says and SOFT.search(line) is not None)
                or (_ALONE.match(line) is not None and _is_led_to(low, at))
            )
            if says or is_led:
                yield from _beside(line, at)
            if at in paired:
                yield from _pairs(line, at, is_known=says)
            if above and not says:
                yield from _answers(line, at, above)
            if listed[0] and not says:
                yield from _in_list(line, at, listed[1])
        if says or listed[0]:
            listed = _listed_below(line, listed, says=says)
        if (is_telling or is_below) and line.strip(" \t>`*-\r"):
            asks = False
            if is_telling:
                low_line = line.lower()
                says = says or has_any(low_line, _NETWORKS)
                asks = bool(_QUESTION.search(line) and _ASKED.search(line))
            above = [(says and len(line) < _SHORT_LINE, asks), *above[:1]]
            is_below = any(map(any, above))


def _is_led_to(low: str, at: int) -> bool:
    """Whether a line is near a word for a secret, a few lines away at most."""
    above = low[max(0, at - 4 * _SHORT_LINE) : at].split("\n")[-5:]
    below = low[at : at + 5 * _SHORT_LINE].split("\n")[1:5]
    return any(has_any(line, _LEADING) for line in (*above, *below))


def _listed_below(line: str, listed: _List, *, says: bool) -> _List:
    """Return how many lines below are a list of passwords, and what judges its values.

    What is in a list of logins must look like a password; under ``Passwords:``, a
    word with a number is enough.
    """
    is_short = says and len(line) < _SHORT_LINE
    head = _LIST_HEAD.search(line) if is_short else None
    if head:
        return _LISTED, may_be_chosen if head["sure"] else looks_chosen
    if not line or line.isspace():
        return _NO_LIST
    return max(0, listed[0] - 1), listed[1]


@asked_once
def _may_be_chosen(piece: str) -> bool:
    """Whether a piece between blanks holds what looks like a password."""
    return (
        _SHORTEST <= len(piece) < _LONGEST_PIECE
        and not piece.islower()
        and not piece.isupper()
        and not piece.isalpha()
        and any(map(looks_chosen, _SEPARATORS.split(piece)))
    )


_LEADING = ("pass", "secret", "token", "cred", "auth", "login", "pw")
_ALONE = lazy_re(
    r"[ \t>]{0,12}(?:[-*•+][ ]{1,3}|\d[.)][ ])?[*`\"']{0,3}"
    r"[A-Za-z0-9!#$%&*@^_?~.-]{8,32}[*`\"']{0,3}[ \t\r]*\Z"
)
_SHORTEST = 8
_LONGEST_PIECE = 200
_SEPARATORS = lazy_re(r"[\"'`()\[\]“”„«»<>|：,;:=/]+|\.(?=\Z)|\*{2}")
# Keys and hashes that are meant to be seen, pictures, and names of resources.
_PUBLIC_LINE = lazy_re(
    r"ssh-(?:rsa|dss|ed|ecdsa)|AAAA|arn:|\$2[aby]\$|\$argon|;base64,|data:\w+/|SHA256:|h1:"
)


def _beside(line: str, start: int) -> Iterator[TextSpan]:
    """Yield the words of a line that look like a password that a person chose."""
    for called in _CALLED_SO.finditer(line):
        if may_be_chosen(called["value"]):
            yield (
                start + called.start("value"),
                start + called.end("value"),
                "password",
            )
    for found in _TOKEN.finditer(line):
        value = found[0].rstrip(".,;:")
        if looks_chosen(value) and "://" not in value and not _CODE.search(value):
            yield (
                start + found.start(),
                start + found.start() + len(value),
                "password",
            )


def _pairs(line: str, start: int, *, is_known: bool) -> Iterator[TextSpan]:
    """Yield what follows a name, if it looks like that one's password."""
    is_place = is_known or _PLACE.search(line) is not None
    for used in _USED.finditer(line) if is_place else ():
        value = used["value"].rstrip(".,;:)")
        if looks_chosen(value) and not _CODE.search(value):
            at = start + used.start("value")
            yield (at, at + len(value), "password")
    for found in _PAIRED.finditer(line):
        value = _AT_HOST.sub("", found["value"].rstrip(".,;:)"))
        sign = found["sign"].strip()
        if not value or _CODE.search(value) or _SUM.match(found["name"]):
            continue
        is_spaced = found["sign"] != sign and sign not in {":", ","}
        is_name = found["name"].lower() in ACCOUNTS
        if ((is_place or is_spaced or is_name) and looks_chosen(value)) or (
            (
                (is_spaced and is_name)
                or (is_place and sign == "/" and is_spaced and "](" not in line)
            )
            and may_be_chosen(value)
        ):
            at = start + found.start("value")
            yield (at, at + len(value), "password")


def _in_list(line: str, start: int, judge: Callable[[str], bool]) -> Iterator[TextSpan]:
    """Yield the value of a row ``name: value`` in a list of passwords."""
    found = _ROW.match(line)
    if found and judge(found["value"]) and not _CODE.search(found["value"]):
        at = start + found.start("value")
        yield (at, at + len(found["value"]), "password")


def _answers(
    line: str, start: int, above: list[tuple[bool, bool]]
) -> Iterator[TextSpan]:
    """Yield what answers a question for a password, or is below a word for it."""
    if above[0][1] or (len(above) > 1 and above[1][1]):
        found = _ANSWER.match(line)
        digits = _ANSWERED_CODE.match(line.rstrip())
        if digits and not is_counted(digits["value"]):
            yield (start + digits.start("value"), start + digits.end("value"), "pin")
        if found and may_be_chosen(found["value"].rstrip(".,;)")):
            value = found["value"].rstrip(".,;)")
            at = start + found.start("value")
            yield (at, at + len(value), "password")
    if any(name for name, _ in above):
        found = _BELOW.match(line)
        value = found["value"].rstrip(".,;") if found else ""
        if found and looks_chosen(value) and not _CODE.search(value):
            at = start + found.start("value")
            yield (at, at + len(value), "password")
        if found and re.fullmatch("[0-9a-f]{32}|[0-9a-f]{40}", value):
            at = start + found.start("value")
            yield (at, at + len(value), "password")
        found = _NEW_VALUE.match(line)
        if found and may_be_chosen(found["value"]):
            yield (start + found.start("value"), start + found.end("value"), "password")
