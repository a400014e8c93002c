"""Finds credentials in headers, cookies, commands and URLs.

The commands are in ``commands``. Of a URL only the password is a secret; the rest helps
to read it.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.commands import OPTIONS
from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.values.value_check import is_placeholder, looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_GAP = r"(?:[ \t\"'`:=\\]|%20|\+){1,4}+"
_BEARER = lazy_re(_GAP + r"([A-Za-z0-9._~+/=%-]{12,4000}+)")
_BASIC = lazy_re(r"(?:[ \t]|%20){1,3}+[\"'`]?([A-Za-z0-9+/_-]{8,2000}+={0,2})")
_AUTH_SCHEME = lazy_re(
    r"[\"'`\]\\]{0,3}[ \t]{0,3}[:=,][ \t\"'`\\]{0,4}"
    r"(?:(?:token|apikey|api-key|key|ssws|splunk|sso-key|genie-?key|oauth)[ \t=]{1,3})?"
    r"([A-Za-z0-9._~+/=-]{12,4000}+)",
    re.IGNORECASE,
)
_COOKIES = lazy_re(r"[^\n\"'`]{4,4000}+")
_COOKIE = lazy_re(r"([A-Za-z0-9_.-]{1,60})=([A-Za-z0-9._~+/=%:-]{16,3000})")
_STATISTICS = lazy_re(
    r"_ga(?:_[A-Z0-9]{4,20})?|_gid|_gcl_(?:au|aw|dc|gb|gf|ha)|_gat(?:_gtag_UA_[\d_]+"
    r"|_UA-[\d-]+)?|_fb[pc]|_hj(?:id|[A-Z][A-Za-z]*(?:_\d+)?)|AMP_[0-9a-f]{6,}"
    r"|ajs_(?:anonymous|user|group)_id|amplitude_id(?:_[\w.]*)?|mp_[0-9a-f]+_mixpanel"
    r"|optimizely[A-Z][A-Za-z]*|_pk_(?:id|ses|ref|cvar|hsr)(?:\.[\w.]*)?|__utm[a-z]"
    r"|_cl(?:ck|sk)|_uet[sv]id(?:_exp)?|intercom-id-\w+|hubspotutk|__hs(?:tc|sc|src|fp)"
    r"|cookie_?consent(?:_status)?|OptanonConsent|_dd_s|_scid(?:_r)?|_ttp"
    r"|_tt_enable_cookie|muid|MUID"
)
_COOKIE_OPTION = lazy_re(
    r"(?<=[ \t])(?:-b|--cookie)[ \t=]{1,3}(?:\"([^\"\n]{8,4000})\"|'([^'\n]{8,4000})')"
)
_HEADER_LINE = lazy_re(r"[^\n]{1,1000}+")


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
    if " -b" in low or "--cookie" in low:
        for option in _COOKIE_OPTION.finditer(text):
            group = option.lastindex or 1
            spans += _cookies(option[group], option.start(group))
    for word, pattern in OPTIONS:
        done = 0
        for at in _places(low, word):
            line = _HEADER_LINE.match(text, at) if at >= done else None
            if line:
                done = line.end()
                spans += _of_command(line[0], at, pattern)
    return spans


def _places(low: str, word: str) -> Iterator[int]:
    """Return the places after each occurrence of a word."""
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
        if _STATISTICS.fullmatch(found[1]):
            continue
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
# A user of a Windows domain is written with a backslash.
_REST = lazy_re(
    rf"(?:[\w.-]{{1,40}}\\{{1,2}}(?=[\w.-]{{1,60}}:[^\s@]{{1,99}}@))?"
    rf"[^\s\"'`<>\\]{{3,{LONGEST_URL}}}+"
)
# All of the host, and the only one; a sentence may end after it.
_LOCAL = lazy_re(
    r"(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::\d{1,5})?"
    r"(?:[/?#]|[.,;:)\]}*]{0,4}\Z)"
)
_DEFAULT_NAME = lazy_re(r"[A-Za-z][a-z]{1,11}(?:[_-][a-z]{1,11})?\d?")
_URL_SCHEME = lazy_re(r"[A-Za-z][A-Za-z0-9+.-]{1,30}$")
_DATA_SOURCE = lazy_re(r"([\w.%+-]{1,64}):([^\s:@\"'`]{3,128})@tcp\(")


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
        is_default = (
            password == rest[:colon]
            and _DEFAULT_NAME.fullmatch(password) is not None
            and _LOCAL.match(rest, end + 1) is not None
        )
        if (
            password
            and not is_default
            and not is_placeholder(password)
            and "[" not in password
        ):
            return [(start + colon + 1, start + end, _IN_URL)]
    # A token in the user's place, as in https://TOKEN:x-oauth-basic@host.
    user = rest[: colon if 0 <= colon < end else end]
    is_alone = not 0 <= colon < end  # a number in hexadecimal is a public name then
    if (
        len(user) >= 20
        and looks_random(user)
        and not is_placeholder(user)
        and not (is_alone and re.fullmatch("[0-9a-f]+", user))
    ):
        return [(start, start + len(user), _IN_URL)]
    return []
