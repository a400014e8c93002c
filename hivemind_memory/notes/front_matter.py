"""The YAML block at the top of a note: read, never rewritten, never believed too far.

The home of PyYAML. Only its event parser is used, and the values are built here: plain
strings, numbers, booleans, lists and mappings, as YAML 1.2 reads them. So a date stays
the text that was written, ``no`` is not false, and tags make no objects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_CHARS = 64 * 1024
"""A longer block is no front matter."""

_MAX_EVENTS = 10_000
_MAX_DEPTH = 64
_OPENING = re.compile(r"---[ \t\r]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t\r]*$", re.MULTILINE)
_KEY = re.compile(r"[\w-]+:(?:\s|$)")
# Bounded, for a longer number is an id: it stays text, and keeps its leading zeros.
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?[0-9]{0,18}(?:\.[0-9]{1,18}(?:[eE][-+]?[0-9]{1,2})?)")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What stands between the fences, and how many lines it takes."""

    line_count: int = 0
    """Lines of the block, both fences included; 0 when there is none to skip."""

    values: Mapping[str, object] = field(default_factory=dict)
    is_broken: bool = False
    """A block was opened that is no mapping: the note is plain text, all of it."""


def split_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a note, without ever raising.

    It opens with ``---`` as the very first line and closes with ``---`` or ``...``. A
    note that merely begins with a rule, and never has a second one, is not broken.

    Args:
        text: The whole note, decoded.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter()
    start = opening.end()
    closing = _CLOSING.search(text, start, start + MAX_CHARS)
    if closing is None:
        return FrontMatter(is_broken=_KEY.match(text, start) is not None)
    values = _parsed(text[start : closing.start()].replace("\r\n", "\n"))
    if values is None:
        return FrontMatter(is_broken=True)
    return FrontMatter(
        line_count=text.count("\n", 0, closing.start()) + 1, values=values
    )


class _RefusedError(Exception):
    """The block holds what no person writes into a front matter."""


def _parsed(source: str) -> dict[str, object] | None:
    """Return the mapping that *source* says, or None when it says none."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        value = _document(yaml.parse(source, Loader=loader))
    except (yaml.YAMLError, _RefusedError):
        return None
    if value is None:
        return {}
    return value if isinstance(value, dict) else None


def _document(events: Iterable[Any]) -> object:
    """Return the value that a stream of YAML events describes.

    A stack instead of recursion, and a bound on its depth and on the number of nodes,
    so that no input can exhaust anything. An alias is refused: it is the one way in
    which a small text becomes a large value.
    """
    # Each open list or mapping: its kind, and its nodes so far; a mapping's nodes are
    # key, value, key, value …
    stack: list[tuple[str, list[object]]] = [("document", [])]
    for count, event in enumerate(events):
        name = type(event).__name__
        if name == "AliasEvent" or count > _MAX_EVENTS or len(stack) > _MAX_DEPTH:
            raise _RefusedError
        kind, nodes = stack[-1]
        if name == "ScalarEvent":
            is_key = kind == "MappingStartEvent" and len(nodes) % 2 == 0
            is_plain = event.implicit[0] and not is_key
            nodes.append(_scalar(event.value) if is_plain else event.value)
        elif name in ("SequenceStartEvent", "MappingStartEvent"):
            stack.append((name, []))
        elif name in ("SequenceEndEvent", "MappingEndEvent"):
            stack.pop()
            stack[-1][1].append(nodes if kind == "SequenceStartEvent" else _map(nodes))
    values = stack[0][1]
    return values[0] if values else None


def _map(nodes: list[object]) -> dict[str, object]:
    """Return the mapping of key, value, key, value …; the last of equal keys counts."""
    values: dict[str, object] = {}
    for key, value in zip(nodes[::2], nodes[1::2], strict=True):
        if not isinstance(key, str):
            raise _RefusedError
        values[key] = value
    return values


def _scalar(text: str) -> object:
    """Return what an unquoted scalar means in YAML 1.2; a date stays text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
