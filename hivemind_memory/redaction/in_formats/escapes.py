r"""Finds secrets whose letters are escaped: ``\u0026`` in JSON, ``&amp;`` in HTML."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.redaction.spans import TextSpan

_ESCAPE = lazy_re(
    r"\\u00(?P<hex>2[1-9a-fA-F]|3[a-fA-F]|40|5[b-eB-E]|7[b-eB-E])"
    r"|&(?P<name>amp|lt|gt|quot|apos);|&#(?P<code>3[3-9]|4\d|6[0-4]|9[1-6]|12[3-6]);"
)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
MAX_LINE_CHARS = 2_000
"""Longer lines are not searched for escapes: most of them are data."""

_BESIDE = lazy_re(r"(?i)pass|pw|secret|token|key|cred|psk|auth")


def has_escape(text: str) -> bool:
    """Return whether a text has an escaped character."""
    return ("\\u00" in text or "&" in text) and _ESCAPE.search(text) is not None


def in_escaped(text: str, find: Callable[[str], list[TextSpan]]) -> list[TextSpan]:
    """Return what *find* finds in values once their escapes are written out."""
    spans: list[TextSpan] = []
    start = 0
    for line in text.split("\n"):
        at, start = start, start + len(line) + 1
        found = list(_ESCAPE.finditer(line)) if "\\u00" in line or "&" in line else []
        if not found or len(line) > MAX_LINE_CHARS or not _BESIDE.search(line):
            continue
        spans += [
            (at + first, at + last, kind)
            for first, last, kind in _in_line(line, [e.span() for e in found], find)
        ]
    return spans


def _in_line(
    line: str,
    places: list[tuple[int, int]],
    find: Callable[[str], list[TextSpan]],
) -> list[TextSpan]:
    """Return the same for a line, in places of that line."""
    pieces: list[str] = []
    done = 0
    for start, end in places:
        pieces += [*line[done:start], _ESCAPE.sub(_unescaped, line[start:end])]
        done = end
    pieces += line[done:]
    widths = [1] * len(pieces)
    index = 0
    at = 0
    for start, end in places:
        index += start - at
        widths[index] = end - start
        index, at = index + 1, end
    starts = [0, *accumulate(widths)]
    whole = "".join(pieces)
    escaped = {bisect_right(starts, start) - 1 for start, _ in places}
    return [
        (starts[first], starts[last], kind)
        for first, last, kind in find(whole)
        if any(first <= place < last for place in escaped)
    ]


def _unescaped(found: re.Match[str]) -> str:
    """Return the character that an escape stands for."""
    if found["hex"]:
        return chr(int(found["hex"], 16))
    return chr(int(found["code"])) if found["code"] else _NAMED[found["name"]]
