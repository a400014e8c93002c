r"""Finds private keys: whole blocks, blocks that are cut off, bodies, and PuTTY files.

A block may be indented, quoted, numbered, part of a diff, or one line with its line
ends written as ``\n``. A block without a body only talks about keys.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.spans import TextSpan

_PRIVATE_KEY = "private-key"
STATIC_KEY = "OpenVPN Static key"
LONGEST_BLOCK = 40_000
MIN_BODY = 24
# Between dashes; the dashes of the older SSH2 form are four and have spaces.
_NAME = rf"(?:[A-Z0-9 ]{{0,40}}?PRIVATE KEY(?: BLOCK)?|{STATIC_KEY} V\d)"
_BEGIN = lazy_re(rf"-{{4,5}} ?BEGIN {_NAME} ?-{{4,5}}")
_END = lazy_re(rf"-{{4,5}} ?END {_NAME} ?-{{4,5}}")
_BLOCK = lazy_re(rf"-{{4,5}} ?(BEGIN|END) ({_NAME}) ?-{{4,5}}")
_BEFORE = r"[ \t>+|*#/\d:\"'`,-]{0,24}"
_HEADER = r"(?:[A-Za-z][\w-]{2,30}: [^\n]{0,200})"
# A line of base64, a header, or an empty one.
_PEM_LINE = lazy_re(
    rf"{_BEFORE}(?:{_HEADER}|=?[A-Za-z0-9+/]{{0,200}}={{0,2}})[\"'`,+\\ \t]{{0,6}}\r?$"
)
_BASE64 = lazy_re(r"[A-Za-z0-9+/=]{16,}")
_INLINE = lazy_re(r"(?:[A-Za-z0-9+/=\s]|\\{1,2}[nr])*+")
_PUTTY = lazy_re(
    r"Private-Lines: ?\d+\r?\n(?:[A-Za-z0-9+/=]{1,100}+\r?(?:\n"
    r"|$))++(?:Private-MAC: ?[0-9a-f]{40,64})?"
)


# A private key in DER begins with its length and the version 0 or 1; a certificate
# and a public key do not. The last one is OpenSSH's own form.
_BODY = lazy_re(
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
            # What lies above the mark before has been looked at.
            above = max(done, marks[place - 1].end()) if place else done
            start, end = _above(text, found.start(), above), found.end()
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
