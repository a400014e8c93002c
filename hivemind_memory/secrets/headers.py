"""Credentials in headers, cookies and the commands that log in."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64

from hivemind_memory.secrets.plausible import is_placeholder, looks_random
from hivemind_memory.secrets.spans import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_GAP = r"(?:[ \t\"'`:=\\]|%20|\+){1,4}+"
_BEARER = re.compile(_GAP + r"([A-Za-z0-9._~+/=%-]{12,4000}+)")
_BASIC = re.compile(r"(?:[ \t]|%20){1,3}+[\"'`]?([A-Za-z0-9+/_-]{8,2000}+={0,2})")
_SCHEME = re.compile(
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
_LINE = re.compile(r"[^\n]{1,1000}+")
_FLAG = re.compile(r" -p[ \t]*([\"']?)([^\s\"'-][^\s\"']{5,200})")
_JOINED = re.compile(r" -p([\"']?)([^\s\"'-][^\s\"']{5,200})")
_AUTH = re.compile(r" -a[ \t]+([\"']?)([^\s\"'-][^\s\"']{5,200})")
COMMANDS = (
    ("curl", _USER),
    ("sshpass", _FLAG),
    ("login", _FLAG),
    ("mysql", _JOINED),
    ("redis-cli", _AUTH),
)


def in_headers(text: str, low: str) -> list[Span]:
    """Return the credentials of headers; *low* is the text in lower case."""
    spans: list[Span] = []
    for at in _places(low, "bearer"):
        spans += _if_random(_BEARER.match(text, at), "bearer-token")
    for at in _places(low, "authorization"):
        spans += _if_random(_SCHEME.match(text, at), "authorization")
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
            line = _LINE.match(text, at) if at >= done else None
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


def _if_random(found: re.Match[str] | None, kind: str) -> list[Span]:
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


def _cookies(header: str, start: int) -> Iterator[Span]:
    """Return the values of cookies that look random."""
    for found in _COOKIE.finditer(header):
        value = found[2]
        if looks_random(value) and not is_placeholder(value):
            yield (start + found.start(2), start + found.end(2), "cookie")


def _of_command(line: str, start: int, pattern: re.Pattern[str]) -> Iterator[Span]:
    """Return the password in a command."""
    for found in pattern.finditer(line):
        place = len(found.groups())
        value = found[place]
        if not is_placeholder(value) and "[redacted" not in value and "\0" not in value:
            yield (start + found.start(place), start + found.end(place), "password")
