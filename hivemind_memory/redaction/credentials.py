"""Credentials in headers, cookies and the commands that log in.

Passwords in URLs: only the password is a secret, the rest helps to read.

Private keys: whole blocks, blocks that are cut off, and those of PuTTY.

A block may be indented, quoted, numbered, part of a difference, or one line with the
line ends written as backslash and n. One without a body is a word about keys.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64

from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.values import is_placeholder, looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_GAP = r"(?:[ \t\"'`:=\\]|%20|\+){1,4}+"
_BEARER = re.compile(_GAP + r"([A-Za-z0-9._~+/=%-]{12,4000}+)")
_BASIC = re.compile(r"(?:[ \t]|%20){1,3}+[\"'`]?([A-Za-z0-9+/_-]{8,2000}+={0,2})")
_AUTH_SCHEME = re.compile(
    r"[\"'`\]\\]{0,3}[ \t]{0,3}[:=,][ \t\"'`\\]{0,4}"
    r"(?:(?:token|apikey|api-key|key|ssws|splunk|sso-key|genie-?key|oauth)[ \t=]{1,3})?"
    r"([A-Za-z0-9._~+/=-]{12,4000}+)",
    re.IGNORECASE,
)
_COOKIES = re.compile(r"[^\n\"'`]{4,4000}+")
_COOKIE = re.compile(r"([A-Za-z0-9_.-]{1,60})=([A-Za-z0-9._~+/=%:-]{16,3000})")
_USER = re.compile(
    r"(?:-u|--user|--proxy-user)[ \t=]{1,3}([\"']?)([\w.@+-]{0,60}):([^\s\"']{3,200})"
)
_HEADER_LINE = re.compile(r"[^\n]{1,1000}+")
_FLAG = re.compile(r" -p[ \t]*([\"']?)([^\s\"'-][^\s\"']{5,200})")
_JOINED = re.compile(r" -p([\"']?)([^\s\"'-][^\s\"']{5,200})")
_WORD = re.compile(r" -w[ \t]*([\"']?)([^\s\"'-][^\s\"']{4,200})")
_AUTH = re.compile(r" -a[ \t]+([\"']?)([^\s\"'-][^\s\"']{5,200})")
COMMANDS = (
    ("curl", _USER),
    ("sshpass", _FLAG),
    ("login", _FLAG),
    ("mysql", _JOINED),
    ("redis-cli", _AUTH),
    ("ldap", _WORD),
    ("add-generic-password", _WORD),
)


def in_headers(text: str, low: str) -> list[TextSpan]:
    """Return the credentials of headers; *low* is the text in lower case."""
    spans: list[TextSpan] = []
    for at in _places(low, "bearer"):
        spans += _if_random(_BEARER.match(text, at), "bearer-token")
    for at in _places(low, "authorization"):
        spans += _if_random(_AUTH_SCHEME.match(text, at), "authorization")
    for at in _places(low, "basic"):
        found = _BASIC.match(text, at)
        if found and _is_basic(found[1]):
            spans.append((found.start(1), found.end(1), "basic-credentials"))
    for at in _places(low, "cookie:"):
        found = _COOKIES.match(text, at)
        if found:
            spans += _cookies(found[0], at)
    for word, pattern in COMMANDS:
        done = 0
        for at in _places(low, word):
            line = _HEADER_LINE.match(text, at) if at >= done else None
            if line:
                done = line.end()
                spans += _of_command(line[0], at, pattern)
    return spans


def _places(low: str, word: str) -> Iterator[int]:
    """Return the places behind each occurrence of a word."""
    at = low.find(word)
    while at >= 0:
        yield at + len(word)
        at = low.find(word, at + len(word))


def _if_random(found: re.Match[str] | None, kind: str) -> list[TextSpan]:
    """Return the value if it looks like a credential."""
    if found is None:
        return []
    value = found[1].rstrip(".")
    low = value.lower()
    if is_placeholder(value) or not looks_random(value) or low.startswith("basic"):
        return []
    return [(found.start(1), found.start(1) + len(value), kind)]


def _is_basic(value: str) -> bool:
    """Whether a value is a user and a password as they are sent."""
    try:
        raw = a2b_base64(value + "=" * (-len(value) % 4))
        plain = raw.decode("utf-8")
    except (Error, ValueError):
        return False
    user, colon, password = plain.partition(":")
    return (
        colon == ":"
        and plain.isprintable()
        and bool(password)
        and not is_placeholder(password)
        and len(user) < 200
    )


def _cookies(header: str, start: int) -> Iterator[TextSpan]:
    """Return the values of cookies that look random."""
    for found in _COOKIE.finditer(header):
        value = found[2]
        if looks_random(value) and not is_placeholder(value):
            yield (start + found.start(2), start + found.end(2), "cookie")


def _of_command(line: str, start: int, pattern: re.Pattern[str]) -> Iterator[TextSpan]:
    """Return the password in a command."""
    for found in pattern.finditer(line):
        place = len(found.groups())
        value = found[place]
        if not is_placeholder(value) and "[redacted" not in value and "\0" not in value:
            yield (start + found.start(place), start + found.end(place), "password")


_IN_URL = "url-password"
LONGEST_URL = 1024
# What follows "://" up to where a URL ends in prose, code or Markdown.
_REST = re.compile(rf"[^\s\"'`<>\\]{{3,{LONGEST_URL}}}+")
_URL_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}$")
_DATA_SOURCE = re.compile(r"([\w.%+-]{1,64}):([^\s:@\"'`]{3,128})@tcp\(")


def url_passwords(text: str) -> list[TextSpan]:
    """Return the passwords of ``scheme://user:password@host`` in a text."""
    spans: list[TextSpan] = []
    at = text.find("://")
    while at >= 0:
        found = _URL_SCHEME.search(text, max(0, at - 31), at) and _REST.match(
            text, at + 3
        )
        if found:
            spans += _password(found[0], found.start())
        at = text.find("://", at + 3)
    if "@tcp(" in text:
        spans += [
            (found.start(2), found.end(2), _IN_URL)
            for found in _DATA_SOURCE.finditer(text)
            if not is_placeholder(found[2])
        ]
    return spans


def _password(rest: str, start: int) -> list[TextSpan]:
    """Return the password in what follows the scheme."""
    next_url = rest.find("://")
    if next_url >= 0:
        rest = rest[:next_url]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    end = authority.rfind("@")
    colon = rest.find(":")
    if end < 0 and 0 <= colon < len(authority):
        # A slash in a password should be written %2F, and is not by everyone.
        number = authority[colon + 1 :]
        end = rest.rfind("@") if number and not number.isdecimal() else -1
        if end >= 0 and re.match(r"[\w.\[-]+(?:[:/?]|$)", rest[end + 1 :]) is None:
            end = -1
    if end < 0:
        return []
    if 0 <= colon < end:
        password = rest[colon + 1 : end]
        if password and not is_placeholder(password) and "[" not in password:
            return [(start + colon + 1, start + end, _IN_URL)]
    # A token in the user's place, as in https://TOKEN:x-oauth-basic@host.
    user = rest[: colon if 0 <= colon < end else end]
    if len(user) >= 24 and 0 <= colon < end and looks_random(user):
        return [(start, start + len(user), _IN_URL)]
    return []


_PRIVATE_KEY = "private-key"
LONGEST_BLOCK = 40_000
MIN_BODY = 24
# Between dashes; the dashes of the older SSH2 form are four and have spaces.
_BEGIN = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}+(?<=PRIVATE KEY)(?: BLOCK)? ?-{4,5}"
)
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}+(?<=PRIVATE KEY)(?: BLOCK)? ?-{4,5}")
_BLOCK = re.compile(
    r"-{4,5} ?(BEGIN|END) ([A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?) ?-{4,5}"
)
_BEFORE = r"[ \t>+|*#/\d:\"'`,-]{0,24}"
_HEADER = r"(?:[A-Za-z][\w-]{2,30}: [^\n]{0,200})"
# A line of base64, a header, or an empty one.
_PEM_LINE = re.compile(
    rf"{_BEFORE}(?:{_HEADER}|=?[A-Za-z0-9+/]{{0,200}}={{0,2}})[\"'`,+\\ \t]{{0,6}}\r?$"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{16,}")
_INLINE = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\{1,2}[nr])*+")
_PUTTY = re.compile(r"Private-Lines: ?\d+\r?\n(?:[A-Za-z0-9+/=]{1,100}+\r?(?:\n|$))++")


# A private key in DER begins with its length and the version 0 or 1; a certificate
# and a public key do not. The last one is OpenSSH's own form.
_BODY = re.compile(
    r"(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{2}[AQgw]IBA|MHcCAQEE|MHQCAQEE|MIGkAgEBBD"
    r"|MIGHAgEAMB|MIG2AgEAMB|MC4CAQAwBQYDK2V|b3BlbnNzaC1rZXktdjE)"
    r"(?:[A-Za-z0-9+/=]|\\{1,2}[nr]|\r?\n[ \t>|\"']{0,16}(?=[A-Za-z0-9+/=]{16}))*+"
)


def private_key_bodies(text: str) -> list[TextSpan]:
    """Return the bodies of private keys that stand without their first line."""
    return [
        (*found.span(), _PRIVATE_KEY)
        for found in _BODY.finditer(text)
        if found.end() - found.start() >= 2 * MIN_BODY
        and "BEGIN " not in text[max(0, found.start() - 60) : found.start()]
    ]


def private_keys(text: str) -> list[TextSpan]:
    """Return the private keys in a text, their first and last lines included."""
    spans: list[TextSpan] = [
        (m.start(), m.end(), _PRIVATE_KEY) for m in _PUTTY.finditer(text)
    ]
    done = 0
    marks = list(_BLOCK.finditer(text))
    for place, found in enumerate(marks):
        if found.start() < done:
            continue
        if found[1] == "END":
            start, end = _above(text, found.start(), done), found.end()
        else:
            follows = marks[place + 1] if place + 1 < len(marks) else None
            start, end = found.start(), _below(text, found, follows)
        if _has_body(text[start:end]):
            spans.append((start, end, _PRIVATE_KEY))
            done = end
    return spans


def _below(text: str, begin: re.Match[str], follows: re.Match[str] | None) -> int:
    """Return where a block ends that has begun."""
    if (
        follows is not None
        and follows[1] == "END"
        and follows.start() - begin.end() < LONGEST_BLOCK
    ):
        return follows.end()
    # Cut off: what follows on this line, then all lines that look like a body.
    rest = _INLINE.match(text, begin.end())
    end = rest.end() if rest else begin.end()
    if "\n" not in text[begin.end() : end]:
        return end
    end = text.find("\n", begin.end())
    stop = min(len(text), begin.end() + LONGEST_BLOCK)
    while 0 <= end < stop:
        line_end = text.find("\n", end + 1)
        line_end = len(text) if line_end < 0 else line_end
        if _PEM_LINE.match(text[end + 1 : line_end]) is None:
            break
        end = line_end
    return begin.end() + len(text[begin.end() : end].rstrip())


def _above(text: str, end: int, stop: int) -> int:
    """Return where a block begins of which only the last lines are there."""
    start = text.rfind("\n", 0, end) + 1
    stop = max(stop, end - LONGEST_BLOCK)
    while start > stop:
        before = text.rfind("\n", 0, start - 1) + 1
        if _PEM_LINE.match(text[before : start - 1]) is None:
            break
        start = before
    return max(start, stop)


def _has_body(block: str) -> bool:
    """Whether there is more than the words that frame a key."""
    body = _END.sub("", _BEGIN.sub("", block))
    return sum(len(part) for part in _BASE64.findall(body)) >= MIN_BODY
