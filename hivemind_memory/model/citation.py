"""Parses places such as ``deploy.md:12-18``, and what a text was derived from."""

from __future__ import annotations

import re

from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import escape_line, shorten
from hivemind_memory.model.memories import MAX_SOURCE_REF_CHARS
from hivemind_memory.patterns.lazy_pattern import lazy_re

_PLACE = lazy_re(r"(?P<path>.+):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?", re.DOTALL)
_NO_LINES = lazy_re(
    r"(?P<path>[^:]+\.(?:md|markdown|mdx)):(?P<lines>[^/]*)", re.IGNORECASE
)
"""A note, a colon, and something else than the lines of a place."""

_MAX_SHOWN = 80
"""Longest part of a name in an error."""


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


def names_note(name: str) -> bool:
    """Return whether a name is the path of a note, or a place in one.

    >>> names_note("a.md"), names_note("notes/A.MD:9-12"), names_note("deploy:8080")
    (True, True, False)
    """
    return split_place(name)[0].casefold().endswith(".md")


def check_place(name: str, effect: str = "") -> None:
    """Raise if a name ends in lines that no note can have.

    Args:
        name: A name of any kind; one that is no place passes.
        effect: What was not done, for the error.

    Raises:
        UsageError: Line 0, a range that ends before it starts, or no number at all.

    >>> check_place("a.md:3-1")
    Traceback (most recent call last):
    hivemind_memory.errors.UsageError: a.md:3-1 ends before it starts.
    """
    path, start_line, end_line = split_place(name)
    named = _NO_LINES.fullmatch(name) if path == name else None
    if (path == name and named is None) or 1 <= start_line <= end_line:
        return
    path = shorten(named["path"] if named else path, _MAX_SHOWN)
    hint = f"Lines are named as in {path}:12 or {path}:12-18."
    if named:
        lines = shorten(named["lines"], _MAX_SHOWN)
        problem = f"`{lines}` is neither a line nor a range of lines."
    elif start_line and end_line:
        problem = f"{path}:{start_line}-{end_line} ends before it starts."
        hint = f"Name the lines in order: {path}:{end_line}-{start_line}."
    else:
        problem = "There is no line 0: lines are counted from 1."
    raise UsageError(problem, hint=hint, effect=effect)


def parse_writer(name: str, text: str) -> str:
    """Return a name that an entry says of its writer, without blank edges.

    Args:
        name: What it names: ``by`` or ``session``.
        text: As the writer gave it; empty: not given.

    Raises:
        UsageError: It is not one line of text. A sign that turns the direction of
            writing would let it read as another name.

    >>> parse_writer("by", " ann ")
    'ann'
    """
    fit = text.strip()
    if escape_line(fit) != fit:
        raise UsageError(
            f"{name} must be one line without control characters.",
            hint="Give a plain name, such as ann or codex.",
            effect="Nothing was saved",
        )
    return fit


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
