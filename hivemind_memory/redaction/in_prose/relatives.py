"""Finds passwords that are made like one beside them: the one before, and the next.

People count on: ``not Baguette12 anymore, it's Baguette13``. What begins with the same
letters as a password on its line, and has a digit or a sign, is one too.
"""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.values.value_score import score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hivemind_memory.redaction.spans import TextSpan

_STEM = lazy_re(r"[^\W\d_]{6,24}")
_WORD = lazy_re(r"[^\s\"'`,;:()\[\]{}<>|]{7,64}")
_LEAST = 1.5
_LONGEST_LINE = 400


def relatives(text: str, spans: Iterable[TextSpan]) -> Iterator[TextSpan]:
    """Yield what stands beside passwords and begins as they do.

    Args:
        text: The text.
        spans: The passwords that were found in it.
    """
    for start, end, kind in spans:
        stem = _STEM.match(text, start, end) if kind == "password" else None
        if stem is None or stem.end() == end:
            continue
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        last = len(text) if last < 0 else last
        if last - first > _LONGEST_LINE:
            continue
        for found in _WORD.finditer(text, first, last):
            word = found[0].rstrip(".!?")
            is_like = (
                word.lower().startswith(stem[0].lower()) and word != text[start:end]
            )
            if is_like and not word.isalpha() and score(word) >= _LEAST:
                yield (found.start(), found.start() + len(word), kind)
