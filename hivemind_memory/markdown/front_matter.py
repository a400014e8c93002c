"""The YAML front matter of a note: parsed, and for typed memories written line by line.

The home of PyYAML. Only its event parser is used, and the values are built here: plain
strings, numbers, booleans, lists and mappings, as YAML 1.2 reads them. So a date stays
the text that was written, ``no`` is not false, and tags make no objects.

Writing changes only the lines of the named keys. Every other byte of the file, the
order of the keys, and what a person added stay.
"""

from __future__ import annotations

import json
import re

from hivemind_memory.markdown.front_matter_lines import lines_in_place
from hivemind_memory.markdown.simple_front_matter import scalar, simple_values
from hivemind_memory.markdown.text import encodable
from hivemind_memory.model.own_forms import ULID_FORM
from hivemind_memory.model.value import NO_ITEMS, value
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


MAX_CHARS = 64 * 1024
"""A longer block is no front matter."""

FENCE = "---"
"""A front matter opens with it; most notes have none."""

_MAX_EVENTS = 10_000
_MAX_DEPTH = 64
_OPENING = lazy_re(r"---[ \t\r]*\n")
_CLOSING = lazy_re(r"^(?:---|\.\.\.)[ \t\r]*$", re.MULTILINE)
_KEY = lazy_re(r"[\w-]+:(?:\s|$)")

# What YAML 1.1 and 1.2 read alike as a text without quotes.
_PLAIN = lazy_re(r"[A-Za-z_][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./+,;()'-]+)*")
_MOMENT = lazy_re(r"\d{4}-\d{2}-\d{2}(?:T[\d:.+-]+Z?)?")
# A ULID; with a single letter in it, it might be read as a number.
_ID = lazy_re(rf"(?=(?:\d*[A-Z]){{2}}){ULID_FORM}")
# Controls, and what ends a line for YAML and not for us.
_ODD = lazy_re("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_KEY_LINE = lazy_re(r"([A-Za-z_][\w-]*):(?=\s|$)")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


@value
class FrontMatter:
    """What is between the fences, and how many lines it takes."""

    line_count: int = 0
    """Lines of the block, both fences included; 0 when there is none to skip."""

    values: Mapping[str, object] = NO_ITEMS
    is_broken: bool = False
    """A block was opened that is not a mapping: the note is plain text, all of it."""


def split_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a note, without ever raising.

    It opens with ``---`` as the very first line and closes with ``---`` or ``...``. A
    note that merely begins with a rule, and never has a second one, is not broken.

    Args:
        text: The whole note, decoded.
    """
    opening = _OPENING.match(text) if text.startswith(FENCE) else None
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
    simple = simple_values(source) if source else {}
    if simple is not None:
        return simple
    # To load it takes 15 ms of a cold answer.
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
            nodes.append(scalar(event.value) if is_plain else event.value)
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
    for key, item in zip(nodes[::2], nodes[1::2], strict=True):
        if not isinstance(key, str):
            raise _RefusedError
        values[key] = item
    return values


def render_header(values: Mapping[str, object], *, newline: str = "\n") -> str:
    """Return a front matter with its fences; empty values are left out.

    >>> print(render_header({"type": "lesson", "tags": ["ci"]}), end="")
    ---
    type: lesson
    tags: [ci]
    ---
    """
    lines = ["---"]
    lines += [
        f"{key}: {render_value(value)}"
        for key, value in values.items()
        if value is not None and value not in ("", (), [])
    ]
    return newline.join([*lines, "---", ""])


def with_values(text: str, changes: Mapping[str, object]) -> str:
    """Return a note's text with some keys of its front matter set, or taken out.

    Args:
        text: The whole note; it begins with a front matter that parses.
        changes: Key -> its new value; None takes the key out.

    Raises:
        ValueError: It has no front matter, a broken one, or one that cannot be changed
            line by line.
    """
    front = split_front_matter(text)
    if not front.line_count or front.is_broken:
        message = "the note has no front matter that can be changed"
        raise ValueError(message)
    for key, new in changes.items():
        text = _with_value(text, front.values, key, new)
        front = split_front_matter(text)
    return text


def _with_value(
    text: str, before: Mapping[str, object], key: str, value: object
) -> str:
    """Return a note's text with one key set, in place where lines show the value."""
    end_of_line = "\r" if text.split("\n", 1)[0].endswith("\r") else ""
    lines = text.split("\n")
    count = split_front_matter(text).line_count
    start, end = _lines_of(lines[: count - 1], key)
    whole = [] if value is None else [f"{key}: {render_value(value)}{end_of_line}"]
    in_place = (
        lines_in_place(lines[start:end], before[key], value, render_value, _in_list)
        if start < end and value is not None and key in before
        else None
    )
    if in_place is not None:
        changed = "\n".join([*lines[:start], *in_place, *lines[end:]])
        after = split_front_matter(changed)
        is_sound = not after.is_broken and after.values == {**before, key: value}
        if is_sound and after.line_count == count + len(in_place) - (end - start):
            return changed
    changed = "\n".join([*lines[:start], *whole, *lines[end:]])
    after = split_front_matter(changed)
    if after.is_broken or after.line_count != count + len(whole) - (end - start):
        message = "the front matter would not parse any more"
        raise ValueError(message)
    _check(before, {key: value}, after.values)
    return changed


def blocks_of(text: str) -> list[tuple[str, list[str]]]:
    r"""Return the front matter in parts: (key, its lines), in order.

    What belongs to no key, as a comment, has the empty key. Lines have no line end.

    >>> blocks_of("---\ntype: lesson\ntags:\n- ci\n---\n")
    [('type', ['type: lesson']), ('tags', ['tags:', '- ci'])]
    """
    lines = text.replace("\r\n", "\n").split("\n")
    head = lines[1 : max(1, split_front_matter(text).line_count - 1)]
    blocks: list[tuple[str, list[str]]] = []
    at = 0
    while at < len(head):
        named = _KEY_LINE.match(head[at])
        end = _end_of_value(head, at) if named else at + 1
        blocks.append((named[1] if named else "", head[at:end]))
        at = end
    return blocks


def render_value(value: object) -> str:
    """Return a value as YAML on one line, quoted where it must be."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:.10g}"
    if isinstance(value, dict):
        inner = ", ".join(f"{key}: {_in_list(item)}" for key, item in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_in_list(item) for item in value)}]"
    return _quoted(encodable(str(value)))


def _in_list(value: object) -> str:
    """Return a value within brackets; a comma would end a plain text there."""
    rendered = render_value(value)
    if isinstance(value, str) and not rendered.startswith('"') and "," in rendered:
        return json.dumps(value, ensure_ascii=False)
    return rendered


def _quoted(text: str) -> str:
    """Return a text plain if every reader of YAML takes it for one, else in quotes."""
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    if is_plain or _MOMENT.fullmatch(text) or _ID.fullmatch(text):
        return text
    # JSON's quoted form is YAML's, but for characters that YAML wants to be escaped.
    quoted = json.dumps(text, ensure_ascii=False)
    return _ODD.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _lines_of(head: list[str], key: str) -> tuple[int, int]:
    """Return the lines of a key: the first, and the one after the last."""
    start = next(
        (
            at
            for at, line in enumerate(head)
            if line.startswith(f"{key}:")
            and line[len(key) + 1 : len(key) + 2] in ("", " ", "\r", "\t")
        ),
        len(head),
    )
    return start, _end_of_value(head, start)


def _end_of_value(head: list[str], start: int) -> int:
    """Return the line after a key's value that begins on line *start*."""
    end = min(start + 1, len(head))
    at = end
    # Its value may go on: indented lines, or the items of a list; blank lines between.
    while at < len(head):
        if head[at][:1] in (" ", "\t", "-"):
            end = at + 1
        elif head[at].strip():
            break
        at += 1
    return end


def _check(
    before: Mapping[str, object],
    changes: Mapping[str, object],
    after: Mapping[str, object],
) -> None:
    """Raise unless exactly what should have changed did.

    YAML knows ways of writing that lines do not show; those are left alone.
    """
    kept = {key: value for key, value in before.items() if key not in changes}
    is_kept = kept == {key: value for key, value in after.items() if key not in changes}
    is_set = all(
        (key in after) == (value is not None) for key, value in changes.items()
    )
    if not is_kept or not is_set:
        message = "the front matter is written in a way that has no line for each key"
        raise ValueError(message)
