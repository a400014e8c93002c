"""Hides secrets before a text is cut or its words are shown.

Half of a secret is not recognized, and neither is a word of it without what is near.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hivemind_memory.redaction import mask

_MARK = re.compile(r"\[redacted:[a-z0-9 -]+\]")
_LINES_ABOVE = 200
_LINES_BELOW = 60
"""Lines that are read beside a part: more than the longest private key has."""


def masked_lines(lines: Sequence[str]) -> list[str]:
    """Return lines without their secrets, as many as before."""
    return mask("\n".join(lines)).split("\n") if lines else []


def masked_part(lines: Sequence[str], start: int, end: int) -> list[str]:
    """Return some lines of a text without their secrets, known by what is near.

    Args:
        lines: All of the text.
        start: The first line, from 0.
        end: The one behind the last.
    """
    first, last = max(0, start - _LINES_ABOVE), end + _LINES_BELOW
    return masked_lines(lines[first:last])[start - first : end - first]


def words_without_secrets(text: str) -> str:
    """Return a text whose words may be shown or searched for by themselves."""
    return _MARK.sub(" ", mask(text))
