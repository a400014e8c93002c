"""Writes a list of a front matter where it stands: what stays is as it was written.

Only what lines show: a list with an item a line, or between brackets on one line.
``front_matter`` checks what comes out.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_IN_BRACKETS = lazy_re(r"(?P<head>[^\[#]*\[)(?P<items>.*)(?P<tail>\](?:\s+#.*)?\s*)")
_QUOTES = "\"'"
_PAIRS = {"[": "]", "{": "}"}


def lines_in_place(
    lines: Sequence[str],
    old: object,
    new: object,
    render: Callable[[object], str],
    render_in_brackets: Callable[[object], str],
) -> list[str] | None:
    r"""Return the lines of a key with another list; None: lines can't show it.

    >>> lines_in_place(["a:", "- x # why", "- y"], ["x", "y"], ["x"], str, str)
    ['a:', '- x # why']
    >>> lines_in_place(["a: [x, y] # why"], ["x", "y"], ["y"], str, str)
    ['a: [y] # why']
    """
    if not isinstance(old, list) or not isinstance(new, list):
        return None
    if all(item is None for item, at in _aligned(old, new) if at is not None):
        return None  # nothing stays
    if len(lines) == 1:
        return _between_brackets(lines[0], old, new, render_in_brackets)
    return _one_a_line(lines, old, new, render)


def _one_a_line(
    lines: Sequence[str],
    old: list[object],
    new: list[object],
    render: Callable[[object], str],
) -> list[str] | None:
    """Return a list with an item a line; a comment on a line of its own stays."""
    indents = [re.match(r"(\s*)- ", line) for line in lines]
    first = next((indent for indent in indents if indent), None)
    starts = [
        at
        for at, indent in enumerate(indents)
        if indent is not None and first is not None and indent[1] == first[1]
    ]
    if first is None or len(starts) != len(old):
        return None
    end = "\r" if lines[0].endswith("\r") else ""
    result = list(lines[: starts[0]])
    for item, at in _aligned(old, new):
        if at is None:
            result.append(f"{first[1]}- {render(item)}{end}")
            continue
        piece = lines[starts[at] : [*starts, len(lines)][at + 1]]
        size = max(n for n, line in enumerate(piece, 1) if not _is_loose(line))
        if item is not None:
            result += piece[:size]
        result += piece[size:]
    return result


def _between_brackets(
    line: str,
    old: list[object],
    new: list[object],
    render: Callable[[object], str],
) -> list[str] | None:
    """Return a list between brackets with other items."""
    found = _IN_BRACKETS.fullmatch(line)
    parts = _parts(found["items"]) if found else []
    if found is None or len(parts) != len(old):
        return None
    kept = [
        render(item) if at is None else parts[at]
        for item, at in _aligned(old, new)
        if at is None or item is not None
    ]
    return [f"{found['head']}{', '.join(kept)}{found['tail']}"]


def _aligned(
    old: list[object], new: list[object]
) -> Iterator[tuple[object, int | None]]:
    """Yield each item of both lists and its place in the old one.

    An item of the new list without a place is new; a place without an item is dropped.
    """
    at = 0
    for item in new:
        if item not in old[at:]:
            yield item, None
            continue
        while old[at] != item:
            yield None, at
            at += 1
        yield item, at
        at += 1
    yield from ((None, left) for left in range(at, len(old)))


def _parts(text: str) -> list[str]:
    """Return what is between the commas, those in quotes and brackets apart."""
    parts, quote, closing, start = [], "", list[str](), 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in _QUOTES and not text[start:at].strip(" [{"):
            quote = letter
        elif letter in _PAIRS:
            closing.append(_PAIRS[letter])
        elif closing and letter == closing[-1]:
            closing.pop()
        elif letter == "," and not closing:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _is_loose(line: str) -> bool:
    """Return whether a line belongs to no item: it is blank or a comment."""
    return not line.strip() or line.lstrip().startswith("#")
