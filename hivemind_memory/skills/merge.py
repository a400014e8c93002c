"""Merges a person's edits of a file with a new version of it, line by line. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple


class _Hunk(NamedTuple):
    """Lines of the common version that were replaced."""

    start: int
    stop: int
    lines: list[str]


def merge(base: str, mine: str, theirs: str) -> str | None:
    r"""Return both changes in one text; None: they change the same lines.

    Changes that touch count as the same lines, as they do for git.

    >>> merge("1\n2\n3\n", "0\n2\n3\n", "1\n2\n4\n")
    '0\n2\n4\n'
    """
    lines = base.splitlines(keepends=True)
    hunks = sorted((*_hunks(lines, mine), *_hunks(lines, theirs)))
    merged: list[str] = []
    at = 0
    before: _Hunk | None = None
    for hunk in hunks:
        if hunk == before:
            continue
        if before is not None and hunk.start <= before.stop:
            return None
        merged += [*lines[at : hunk.start], *hunk.lines]
        at, before = hunk.stop, hunk
    return "".join([*merged, *lines[at:]])


def _hunks(base: list[str], changed: str) -> list[_Hunk]:
    """Return what a text changes."""
    lines = changed.splitlines(keepends=True)
    codes = SequenceMatcher(a=base, b=lines, autojunk=False).get_opcodes()
    return [
        _Hunk(start, stop, lines[first:last])
        for kind, start, stop, first, last in codes
        if kind != "equal"
    ]
