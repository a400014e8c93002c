"""Parses places such as ``deploy.md:12-18``, and what a text was derived from."""

from __future__ import annotations

import re

from hivemind_memory.errors import UsageError
from hivemind_memory.model.memories import MAX_SOURCE_REF_CHARS

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


def parse_source_ref(text: str) -> str:
    """Return what a memory was derived from, without blank edges; empty: not given.

    Raises:
        UsageError: It is too long, or not one line of text.

    >>> parse_source_ref(" specs/ios.md#L40 ")
    'specs/ios.md#L40'
    """
    ref = text.strip()
    problem = ""
    if len(ref) > MAX_SOURCE_REF_CHARS:
        problem = f"has {len(ref):,} characters; the limit is {MAX_SOURCE_REF_CHARS}"
    elif not ref.isprintable():
        problem = "must be one line without control characters"
    if problem:
        raise UsageError(
            f"source_ref {problem}.",
            hint="It names a source, such as specs/ios.md#L40 or a URL.",
            effect="Nothing was saved",
        )
    return ref
