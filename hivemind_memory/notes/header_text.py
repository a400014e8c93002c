r"""The front matter of a typed memory as text: made, and changed line by line.

Only the lines of the named keys change; every other byte of the file, the order of the
keys and what a person added stay.
"""

from __future__ import annotations

import json
import re

from hivemind_memory.notes.front_matter import split_front_matter
from hivemind_memory.notes.text import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What YAML 1.1 and 1.2 read alike as a text without quotes.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./+-]*(?: [A-Za-z0-9_./+,;()'-]+)*")
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:.+-]+Z?)?")
# A ULID; with a single letter in it, it might be read as a number.
_ID = re.compile(r"(?=(?:\d*[A-Z]){2})[0-7][0-9A-HJKMNP-TV-Z]{25}")
# Controls, and what ends a line for YAML and not for us.
_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?=\s|$)")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


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
    newline = "\r\n" if text.split("\n", 1)[0].endswith("\r") else "\n"
    lines = text.split("\n")
    head, rest = lines[: front.line_count], lines[front.line_count :]
    closing = head.pop()
    for key, value in changes.items():
        start, end = _lines_of(head, key)
        new = []
        if value is not None:
            new = [f"{key}: {render_value(value)}{newline[:-1]}"]
        head[start:end] = new
    changed = "\n".join([*head, closing, *rest])
    after = split_front_matter(changed)
    if after.is_broken or after.line_count != len(head) + 1:
        message = "the front matter would not parse any more"
        raise ValueError(message)
    _check(front.values, changes, after.values)
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
        named = _KEY.match(head[at])
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
        inner = ", ".join(f"{key}: {_in_list(one)}" for key, one in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_in_list(one) for one in value)}]"
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
    if is_plain or _STAMP.fullmatch(text) or _ID.fullmatch(text):
        return text
    # JSON's quoted form is YAML's, but for characters that YAML wants to be escaped.
    quoted = json.dumps(text, ensure_ascii=False)
    return _ODD.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _lines_of(head: list[str], key: str) -> tuple[int, int]:
    """Return the lines of a key: first and behind-last; at the end when not there."""
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
    """Return the line behind a key's value that begins on line *start*."""
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
    is_kept = kept == {key: one for key, one in after.items() if key not in changes}
    is_set = all(
        (key in after) == (value is not None) for key, value in changes.items()
    )
    if not is_kept or not is_set:
        message = "the front matter is written in a way that has no line for each key"
        raise ValueError(message)
