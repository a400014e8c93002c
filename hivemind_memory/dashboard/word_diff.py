"""Compares two texts word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MAX_PIECES = 4_000
"""Longer texts are compared line by line: words take the square of their number."""


class DiffPart(NamedTuple):
    """A run of text that both have, or only one."""

    kind: Literal["same", "removed", "added"]
    text: str


def word_diff(old: str, new: str) -> list[DiffPart]:
    """Return what changed between two texts, in order.

    The parts that are the same or removed are the old text, the others the new one.

    >>> [tuple(part) for part in word_diff("on Tuesdays", "on Mondays")]
    [('same', 'on '), ('removed', 'Tuesdays'), ('added', 'Mondays')]
    """
    before, after = _PIECES.findall(old), _PIECES.findall(new)
    if len(before) + len(after) > _MAX_PIECES:
        before, after = _LINES.findall(old), _LINES.findall(new)
    return list(_parts(before, after))


def without_middles(parts: Iterable[DiffPart], beside: int) -> list[DiffPart]:
    """Return a difference in which long runs that both texts have are cut.

    Args:
        parts: Of the difference.
        beside: How many characters stay on each side of what differs.

    >>> parts = word_diff("a b c d e f x", "a b c d e f y")
    >>> [part.text for part in without_middles(parts, 3)]
    ['… f ', 'x', 'y']
    """
    cut = list(parts)
    for at, part in enumerate(cut):
        if part.kind != "same":
            continue
        begin = part.text[:beside] if at else ""
        end = part.text[-beside:] if at < len(cut) - 1 else ""
        if len(begin) + len(end) < len(part.text):
            cut[at] = DiffPart("same", f"{begin}…{end}")
    return cut


def _parts(before: list[str], after: list[str]) -> Iterator[DiffPart]:
    """Yield the parts of two lists of pieces."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        removed = "".join(before[start:end])
        if tag == "equal":
            yield DiffPart("same", removed)
            continue
        if removed:
            yield DiffPart("removed", removed)
        if added := "".join(after[new_start:new_end]):
            yield DiffPart("added", added)
