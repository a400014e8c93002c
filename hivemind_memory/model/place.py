"""A place in a note as results print it, ``deploy.md:12-18``. Pure."""

from __future__ import annotations

import re

_PLACE = re.compile(r"(?P<path>.+):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?", re.DOTALL)


def split_place(name: str) -> tuple[str, int, int]:
    """Return path, first and last line of a place; without numbers, no lines: 0.

    >>> split_place("projects/a.md:12-14"), split_place("a:3"), split_place("a.md")
    (('projects/a.md', 12, 14), ('a', 3, 3), ('a.md', 0, 0))
    """
    place = _PLACE.fullmatch(name)
    if place is None:
        return name, 0, 0
    start_line = int(place["start"])
    return place["path"], start_line, int(place["end"] or start_line)
