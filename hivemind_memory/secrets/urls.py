"""Passwords in URLs: only the password is a secret, the rest helps to read."""

from __future__ import annotations

import re

from hivemind_memory.secrets.plausible import is_placeholder, looks_random
from hivemind_memory.secrets.spans import Span

KIND = "url-password"
LONGEST_URL = 1024
# What follows "://" up to where a URL ends in prose, code or Markdown.
_REST = re.compile(rf"[^\s\"'`<>\\]{{3,{LONGEST_URL}}}+")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}$")
_DATA_SOURCE = re.compile(r"([\w.%+-]{1,64}):([^\s:@\"'`]{3,128})@tcp\(")


def url_passwords(text: str) -> list[Span]:
    """Return the passwords of ``scheme://user:password@host`` in a text."""
    spans: list[Span] = []
    at = text.find("://")
    while at >= 0:
        found = _SCHEME.search(text, max(0, at - 31), at) and _REST.match(text, at + 3)
        if found:
            spans += _password(found[0], found.start())
        at = text.find("://", at + 3)
    if "@tcp(" in text:
        spans += [
            (found.start(2), found.end(2), KIND)
            for found in _DATA_SOURCE.finditer(text)
            if not is_placeholder(found[2])
        ]
    return spans


def _password(rest: str, start: int) -> list[Span]:
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
            return [(start + colon + 1, start + end, KIND)]
    # A token in the user's place, as in https://TOKEN:x-oauth-basic@host.
    user = rest[: colon if 0 <= colon < end else end]
    if len(user) >= 24 and 0 <= colon < end and looks_random(user):
        return [(start, start + len(user), KIND)]
    return []
