"""Finds secrets among the arguments of commands, calls and settings.

No program is known here by name: an option that usually takes a password, a command
that sets variables, a value piped to a program that reads passwords, a name and a value
written apart. What such a place holds must still look like a secret.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.setting_names import ValueKind, classify_name
from hivemind_memory.redaction.values.password_check import (
    is_counted,
    is_likely,
    is_random,
    looks_chosen,
    may_be,
    may_be_chosen,
)
from hivemind_memory.redaction.values.value_check import is_real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_PASSWORD = "password"  # noqa: S105 - the name of a kind
_V = r"[\"'`]?(?P<value>[^\s\"'`<>|;]{6,200})"
_OPTION = lazy_re(
    r"(?<=[ \t])(?:-(?:[pPkKwWatsxz]|[pP](?:w|ass|asswd|wd)|setcookie|storepass|pin)"
    r"(?:[ \t]{1,4}|=|(?<=-p))|--?(?:pw|pwd|pass|passwd|pin|psk|secret|authkey|value"
    r"|body|plaintext|"
    r"secret-string|[\w-]{0,20}(?:key|token|password))[ \t=]{1,4}"
    r"|/(?:p|rp|pass|pwd|password)[: \t])" + _V
)
ACCOUNT = lazy_re(
    r"(?<=[ \t])(?:-u(?=\w)|(?:-\w{0,5}[uUay]|-auth"
    r"|--(?:auth|user|userpass|[\w-]{0,12}creds?"
    r"|proxy-user|basic-auth|login))[ \t=]{1,4})"
    r"(?:hmac-[\w-]{1,12}:)?[\"']?[\w.@\\+-]{1,60}[\"']?[:%](?:\"(?P<double>[^\s\"]{6,200})\""
    r"|'(?P<single>[^\s']{6,200})'|(?P<value>[^\s\"'`]{6,200}))"
)
SETTER = lazy_re(
    r"(?i)\b(?:setx(?:[ \t]+/m)?|setenv|set[ \t]+-[gux]{1,3}|(?:config|env|secrets?|"
    r"variables?|vars?)[: ](?:set|put|add|create)|putenv"
    r"|defaults[ \t]+write[ \t]+[\w.]+)"
    r"[ \t(]{1,4}(?:-{1,2}[\w-]{1,20}[ \t]+){0,3}[\"']?(?P<name>[A-Za-z_][\w.-]{1,60}"
    r")[\"']?"
    r"(?:[ \t]*(?:=|,|<<<|--(?:body|value)|-b)[ \t]*|[ \t]{1,4})" + _V
)
PAIR = lazy_re(
    r"(?i)[\"']?\b(?:name|key|field|label|id)[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?"
    r"(?P<name>[A-Za-z_][\w.:/-]{1,30}(?:[ ][\w.:/-]{1,30}){0,4}?)[\"']?[ \t]{0,8}"
    r"[,;]?[ \t\r]{0,4}+\n?[ \t,>]{0,20}+"
    r"[\"']?\b(?:value|val|content|secret)[\"']?[ \t]{0,8}[:=][ \t]{0,8}" + _V
)
PIPED = lazy_re(
    r"\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?(?:[\"'](?P<value>[^\"'\n]{4,200})[\"']"
    r"|(?P<plain>[^\s\"'|]{4,200}))[ \t]*\|[ \t]*[^\n]{0,40}?\b(?:cryptsetup"
    r"|sudo[ \t]+-S|gpg|"
    r"passwd|docker|podman|helm|secrets?|--[\w-]*stdin|kinit|su|ssh-add|insert|openssl|"
    r"keyctl|vncpasswd|smbpasswd|pass|bw|op|restic|borg|gh|glab|vault|login)\b"
)
_HERE = lazy_re(
    r"\b(?:secrets?|insert|login|auth|passwd|password|token|key"
    r"|cryptsetup)\b[^\n<]{0,80}"
    r"<<<[ \t]*" + _V
)
HERE = lazy_re(
    r"\b(?:secrets?|insert|login|auth|passwd|password|token|key|cryptsetup|luks\w*|sudo"
    r"|gpg|openssl|ssh-add|chpasswd|kinit|su|mount|unlock|borg|restic|vault)\b"
    r"[^\n<]{0,80}<<<[ \t]*"
    r"(?:'(?P<single>[^'\n]{5,100})'|\"(?P<double>[^\"\n]{5,100})\""
    r"|(?P<value>[^\s\"'<>|;]{5,100}))"
)
SENT = lazy_re(
    r"(?i)(?:assword|assphrase|\bpin\b)[^\n]{0,40}(?:\r?\n[^\n]{0,10})?\bsend(?:line)"
    r"?\b"
    r"[ \t(]+(?:--[ \t]+)?[\"'](?P<value>[^\"'\n\\]{4,100})(?:\\[rn]|[\"'])"
)
# What a script of expect types, if it can be nothing but a password.
TYPED_IN = lazy_re(
    r"\bsend[ \t]+(?:--[ \t]+)?\"(?=[^\"\n]{0,40}\d)(?=[^\"\n]{0,40}[a-z])"
    r"(?=[^\"\n]{0,40}[A-Z!@#%^&*?])(?P<value>[A-Za-z0-9!@#%^&*?+=_.-]{6,40})\\r\""
)
CALLED = lazy_re(
    r"(?i)\b(?:set|with)?_?(?:auth|login|connect|authenticate|credentials?"
    r"|basic_?auth)[\"']?[ \t]{0,8}[=:]?[ \t]{0,8}[(\[]"
    r"[ \t]{0,8}[\"'][\w.@+-]{1,60}[\"'][ \t]{0,8},"
    r"[ \t]{0,8}[\"'](?P<value>[^\"'\n]{6,100})[\"'][ \t]{0,8}[)\]]"
)
_SAID = lazy_re(
    r"(?i)\b(?:auth|creds?|credentials|log-?ins?|accounts?|zugang(?:sdaten)?"
    r"|anmeldung|identifiants?|"
    r"credenciales|acceso|cuenta|accesso)\b[^\n]{0,60}?[ \t(:=](?<!h1:)[\"'`]?(?!h1:"
    r"|sha)[\w.@+-]{2,60}[\"'`]?"
    r"(?:[ \t]*/[ \t]*|:|[ \t]*\|[ \t]*)[\"'`]?(?P<value>[^\s\"'`/|()]{8,100})"
)
_VERSIONED = lazy_re(
    r"https?://[^\s\"'`<>/]{4,100}(?:/[\w.-]{1,40}){0,3}?/v\d{1,2}/"
    r"(?P<value>[0-9a-f]{32}|[\w-]{30,64})(?=[\s\"'`)\]>,;]|\Z)"
)
_HOOK = lazy_re(
    r"(?i)https?://[^\s\"'`<>]{0,200}?hook[^\s\"'`<>/]{0,40}(?:/[^\s\"'`<>/]{0,60}){0"
    r",4}?/"
    r"(?P<value>[0-9a-f]{32}|[\w-]{20,80})(?=[/\s\"'`)\]>,;?]|\Z)"
)
_COOKIE = lazy_re(
    r"(?<=[ \t])(?:-b|--cookie)[ \t=]{1,3}[\"']?[\w.-]{1,40}=(?P<value>[\w.%~-]{16,40"
    r"0})"
)
_COMPARED = lazy_re(
    r"(?i)\b(?:p|pw|pass|passwd|password|token|secret|key)[ \t]{0,3}(?:===?"
    r"|\beq\b)[ \t]{0,3}"
    r"[\"'](?P<value>[^\"'\n]{6,100})[\"']"
)
_POSITIONAL = lazy_re(
    r"(?i)\b(?:alias[ \t]+set|account[ \t]+authorize|adduser|add_user|user[ \t]+add"
    r"|net[ \t]+user|"
    r"change_password|msg[ \t]+nickserv[ \t]+identify|useradd|-auth"
    r"|snmp-server[ \t]+user|wpa_passphrase|user_pw|owner_pw|mkpasswd|r[ow]community"
    r"|(?:isakmp|server|radius|tacacs)[ \t]+key|plain-text-password(?:-value)?"
    r"|--encrypt"
    r"|snmp(?:get|walk|set|bulkwalk)|pre-shared-(?:key|secret)|key-string|authentication-key)"
    r"\b[ \t]+(?P<words>[^\n|]{6,300})"
)
_DIGITS = lazy_re(
    r"(?i)(?:\b(?:opens[ ]with|öffnet[ ]mit|ouvre[ ]avec|abre[ ]con"
    r"|pin\b[^\n\d.]{0,24}?[ \t]|is|ist|est|es|lautet|to|auf|(?:pass)?code|pin)\b"
    r"|[:=：是è]|->|→)"
    r"[ \t*`\"']{0,4}"
    r"(?P<value>\d{4,8}|\d\d-\d\d-\d\d(?:-\d\d)?)(?![\w:/%-]|\.\d)"
)
_PLACES = (  # what a text is looked through for; _PLACE tells whole words
    "alarm", "door", "gate ", "safe ", "vault", "lockbox", "locker", "garage",
    "keypad", "building", "tür", "tuer", "tresor", "schloss", "schlüsselkasten",
    "coffre", "porte ", "portail", "digicode", "puerta", "caja fuerte", "cassaforte",
    "cancello", "portão", "cofre", "sim ", "router", "门禁", "保险箱", "домофон",
    "сейф",
    "phone", "handy", "card", "karte", "zoom", "tarjeta", "bluetooth", "pairing",
    "homekit", "smartcard", "meeting", "webinar", "conference", "dial-in",
    "voicemail", "besprechung", "réunion", "kiosk", "tablet", "ipad", "storage unit",
    "luggage",
)  # fmt: skip
_PLACE = lazy_re(
    r"(?<![^\W\d_])(?:alarm(?:anlage|code|e)?|(?:front|back)?door|gate|safe"
    r"|[a-zäöüß]{0,16}(?:tür|tuer|tresor|schloss|karte)"
    r"|vault|lockbox|locker|garage|keypad|building|schlüsselkasten|coffre"
    r"|porte|portail|digicode|puerta|caja fuerte|cassaforte|cancello|portão|cofre"
    r"|sim|router|(?:smart|cell|i)?phone|handy|(?:smart)?card"
    r"|zoom|tarjeta|bluetooth|pairing|homekit|meeting|webinar|conference|dial-in"
    r"|voicemail|besprechung|réunion|kiosk|tablet|ipad|storage unit|luggage|türcode"
    r"|tuercode|torcode|kartenpin|handypin)(?:s|n|en)?(?![^\W\d_])|门禁|保险箱|домофон|сейф"
)
_CODE = lazy_re(
    r"(?<![^\W\d_])(?:(?<!error[ _-])(?<!status[ _-])(?<!exit[ _-])(?<!return[ _-])"
    r"(?<!source[ _-])(?<!zip[ _-])(?<!postal[ _-])"
    r"(?<!qr[ _-])(?<!area[ _-])(?<!country[ _-])"
    r"(?<!response[ _-])(?<!result[ _-])"
    r"(?:pass|digi|door|tür|tuer|tor|zugangs|zugriffs|geheim|entry|key)?codes?"
    r"(?![ -](?:path|page|name|freeze|point|unit|review|base|block|line|coverage|gen"
    r"|size))"
    r"|(?:karten|handy|geräte)?pins?|puk|combination|kombination|combinaison"
    r"|combinación|código|codice|opens with|öffnet mit|ouvre avec|abre con)"
    r"(?![^\W\d_])|密码|код"
)
# Behind such a word a year or a power of two is what it says.
_SIZE = lazy_re(
    r"(?<![^\W\d_])(?:ports?|size|width|height|length|limit|deadline|date|year|since"
    r"|until|release|version|buffer|page|timeout|max|min|review|number of"
    r"|mapping)(?![^\W\d_])"
)
_COUNTED = lazy_re(
    r"[ \t]+(?:(?:of|per)[ \t]|lines|entries|pages|rows|bytes|ms\b|rps\b)"
)
_NUMBER = lazy_re(
    r"(?i)(?:\b(?:wlan|wi-?fi|wpa\d?|netzwerk)[- ]?(?:schl(?:ü|ue)ssel|key|passwor[dt]|"
    r"kennwort|code|pass|netzwerkschlüssel)\b[^\n:=]{0,30}(?:[:=]|\bist\b|\bis\b"
    r"|\blautet\b)"
    r"|[A-Z]_(?:PIN|PUK|PASSCODE)[ \t]*[=:])[ \t\"'`*]{0,4}(?P<value>\d{4,24})(?![\w."
    r"-])"
)


def in_arguments(there: LineWords) -> list[TextSpan]:
    """Return the secrets that commands, calls and settings are given."""
    spans: list[TextSpan] = []
    for words, pattern in _LOOKING:
        spans += _of(pattern, there.near(pattern, words, above=1))
    for words, pattern in _NAMED:
        spans += _named(there.near(pattern, words, above=1))
    spans += _positional(there.near(_POSITIONAL, _POSITIONAL_WORDS))
    spans += _codes(there)
    for pattern, words in ((_NUMBER, _NUMBER_WORDS), (_KEYPAD, _KEYPADS)):
        spans += [
            (*match.span("value"), "pin")
            for match in there.near(pattern, words)
            if pattern is not _KEYPAD
            or match["said"] is None
            or not is_counted(match["value"])
        ]
    return spans


def _of(
    pattern: re.Pattern[str], places: Iterable[re.Match[str]]
) -> Iterator[TextSpan]:
    """Yield the values in a place for passwords that look like one."""
    for found in places:
        group = found.lastgroup or "value"
        value = found[group].rstrip(")],")
        if value.startswith(("http://", "https://")):
            continue  # what is secret of a link is told elsewhere
        is_said = pattern in _CERTAIN
        if (
            is_likely(value)
            or (pattern not in _LOOSE and looks_chosen(value))
            or (pattern in _RANDOM and is_random(value))
            or (is_said and may_be(value))
            or (pattern is ACCOUNT and may_be_chosen(value))
        ):
            yield (found.start(group), found.start(group) + len(value), _PASSWORD)


def _named(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the values whose name, written apart, says that they are secret."""
    for found in places:
        name, value = (
            re.sub(r"[ /:.]", "_", found["name"]),
            found["value"].rstrip(",)]}"),
        )
        kind = classify_name(name)
        if (
            kind is not None
            and value
            and is_real(name, value, kind, firm=True, tight=True)
        ) or (kind is ValueKind.KEY and is_likely(value)):
            yield (found.start("value"), found.start("value") + len(value), kind.value)


def _is_said(before: str) -> bool:
    """Whether the text before a year or a round number calls it a code."""
    return _CODE.search(before[-24:]) is not None and _SIZE.search(before) is None


def _positional(places: Iterable[re.Match[str]]) -> Iterator[TextSpan]:
    """Yield the random words after a command that takes a key without an option."""
    for found in places:
        for word in re.finditer(r"[^\s\"'`]{8,100}", found["words"]):
            value = word[0].rpartition(":")[2] or word[0]
            if looks_chosen(value) and "/" not in value[:3]:
                end = found.start("words") + word.end()
                yield (end - len(value), end, _PASSWORD)


def _codes(there: LineWords) -> Iterator[TextSpan]:
    """Yield the digits on lines that speak of the code of a door, a safe or a card."""
    low = there.low
    for found in there.near(_DIGITS, _PLACES):
        start = low.rfind("\n", max(0, found.start() - 120), found.start()) + 1
        line = low[max(start, found.start() - 120) : found.end() + 60].split(
            "\n", maxsplit=1
        )[0]
        before = low[max(start, found.start() - 120) : found.start("value")]
        if (
            _PLACE.search(line)
            and _CODE.search(line)
            and not (is_counted(found["value"]) and not _is_said(before))
            and not _COUNTED.match(low, found.end("value"))
        ):
            yield (*found.span("value"), "pin")


_RANDOM = frozenset((_VERSIONED, _HOOK, _COOKIE, ACCOUNT, _OPTION))
_LOOSE = frozenset((_VERSIONED, _HOOK, _COOKIE))
_CERTAIN = frozenset((SENT, PIPED))
_KEYPADS = (
    "keypad",
    "tresor",
    "safe:",
    "digicode",
    "lockbox",
    "alarm:",
    "cvv",
    "cvc",
    "passcode",
)
_KEYPAD = lazy_re(
    r"(?i)(?<![\w-])(?:(?:keypad|tresor|safe|digicode|lockbox|alarm)[ \t]{0,2}[:=]"
    r"(?=[^\d\n]{0,3}\d+[#`*\"']{0,3}[ \t]*(?:[.,;()\r\n]|then\b|\Z))(?P<said>)"
    r"|passcode[ \t]{0,2}[:=]?"
    r"|(?:cvv|cvc)2?[ \t]{0,2}[:=]?)[ \t`*\"']{0,3}(?P<value>\d{3,8})(?![\w.:/%-])"
)
_NUMBER_WORDS = (
    "wlan",
    "wifi",
    "wi-fi",
    "wpa",
    "netzwerk",
    "_pin",
    "_puk",
    "_passcode",
)
_POSITIONAL_WORDS = (
    "alias set", "authorize", "adduser", "add_user", "user add", "net user", "identify",
    "useradd", "change_password", "-auth ", "snmp-server user", "wpa_passphrase",
    "user_pw",
    "owner_pw", "mkpasswd", "community", "isakmp", "server key", "radius", "tacacs",
    "plain-text-password", "--encrypt", "snmp", "pre-shared-", "key-string",
    "authentication-key",
)  # fmt: skip
_LOOKING: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    ((" -", " /", "\t-"), _OPTION),
    ((" -", "\t-"), ACCOUNT),
    (
        (
            "auth",
            "cred",
            "login",
            "log-in",
            "account",
            "zugang",
            "anmeld",
            "identifiant",
            "acceso",
            "cuenta",
            "accesso",
        ),
        _SAID,
    ),
    (("/v1/", "/v2/", "/v3/"), _VERSIONED),
    (("echo ", "printf "), PIPED),
    (("<<<",), _HERE),
    (("hook",), _HOOK),
    (("-b ", "--cookie"), _COOKIE),
    (("== ", '=="', "=='"), _COMPARED),
    (("send",), SENT),
    (("auth", "login", "connect", "cred"), CALLED),
)
_NAMED: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("set", "secret", "putenv", "variable", " write"), SETTER),
    (("value", "val:", "content", "secret"), PAIR),
)

WORDS = frozenset(
    (
        *(*_PLACES, *_KEYPADS, *_NUMBER_WORDS, *_POSITIONAL_WORDS),
        *(word for words, _ in (*_LOOKING, *_NAMED) for word in words),
    )
)
"""Words that the gate looks for before ``in_arguments`` is asked, in lower case."""
