"""Makes of git's diff what may be shown: without secrets and injected sections.

Both are recognized by what stands near, so git is asked for many lines around each
change, and most of them are taken away here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hivemind_memory.files.section_text import with_blank_sections
from hivemind_memory.working.masking import masked_lines

LINES_AROUND = 400
"""Lines around each change that git is asked for."""

_SHOWN_AROUND = 2
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class _Line(NamedTuple):
    """A line of a hunk."""

    sign: str
    """A blank, a plus or a minus."""

    text: str
    old: int
    new: int
    """Numbers that it has in both files, or would have."""


def shown_diff(diff: str) -> str:
    """Return a diff of one file with two lines around each change.

    Args:
        diff: As git prints it with ``LINES_AROUND`` lines.

    Returns:
        The same without secrets and sections; empty if nothing else has changed.
    """
    head: list[str] = []
    hunks: list[list[str]] = []
    for line in diff.split("\n"):
        if line.startswith("@@ "):
            hunks.append([line])
        elif hunks:
            hunks[-1].append(line)
        else:
            head.append(line)
    shown = [line for hunk in hunks for line in _shown_hunk(hunk)]
    return "\n".join([*head, *shown]) if shown or not hunks else ""


def _shown_hunk(hunk: list[str]) -> Iterator[str]:
    """Yield the lines of a hunk that are shown, with a headline for each group."""
    lines = _cleaned(hunk)
    changed = [place for place, line in enumerate(lines) if line.sign != " "]
    kept = sorted(
        {
            near
            for place in changed
            for near in range(place - _SHOWN_AROUND, place + _SHOWN_AROUND + 1)
            if 0 <= near < len(lines)
        }
    )
    last = -2
    for place in kept:
        line = lines[place]
        if place != last + 1:
            yield f"@@ -{line.old} +{line.new} @@"
        yield line.sign + line.text
        last = place


def _cleaned(hunk: list[str]) -> list[_Line]:
    """Return the lines of a hunk, each as it may be shown.

    A changed line that is blank only because it is in a section counts as unchanged.
    """
    found = _HUNK.match(hunk[0])
    old, new = (int(number) for number in found.groups()) if found else (1, 1)
    body = [line for line in hunk[1:] if line[:1] in (" ", "+", "-")]
    before = iter(_without(line[1:] for line in body if line[0] != "+"))
    after = iter(_without(line[1:] for line in body if line[0] != "-"))
    lines = []
    for line in body:
        sign = line[0]
        was = next(before) if sign != "+" else ""
        is_now = next(after) if sign != "-" else ""
        # What is a secret or a section in either file is not shown.
        text = was if sign == "-" or was != line[1:] else is_now
        text = is_now if sign == "+" else text
        is_hidden = not text.strip() and bool(line[1:].strip())
        lines.append(_Line(" " if is_hidden else sign, text, old, new))
        old, new = old + (sign != "+"), new + (sign != "-")
    return lines


def _without(lines: Iterator[str]) -> list[str]:
    """Return lines of one file without sections and secrets."""
    given = list(lines)
    blank = with_blank_sections("\n".join(given)).split("\n") if given else []
    return masked_lines(blank if len(blank) == len(given) else [""] * len(given))
