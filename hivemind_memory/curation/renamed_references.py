"""Rewrites one note's references to notes that were moved; every other byte stays.

Which notes were moved, and writing the note back, is ``project_move``'s.
"""

from __future__ import annotations

import re

from hivemind_memory.markdown.front_matter import (
    blocks_of,
    split_front_matter,
    with_values,
)
from hivemind_memory.notes.edge import (
    FIELDS,
    references,
    replace_references,
    targets,
)
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_FIELDS = (*FIELDS.values(), "superseded_by")
_BOM = "\ufeff"
_LINK = lazy_re(r"(!?\[\[\s*+)([^\[\]|#\n]{1,300}+)((?:[#|][^\[\]\n]*+)?\]\])")


def rename_references(data: bytes, names: Mapping[str, str]) -> bytes:
    """Return a note whose references to some paths name their new ones.

    Args:
        data: The whole note.
        names: Path, with and without ``.md`` -> the new one.

    Raises:
        ValueError: Its front matter cannot be changed without touching other lines.
    """
    text = data.decode()
    bom = _BOM if text.startswith(_BOM) else ""
    text = _with_front_matter(text.removeprefix(_BOM), names)
    lines = text.split("\n")
    count = split_front_matter(text).line_count

    def renamed(link: re.Match[str]) -> str:
        name = link[2].rstrip()
        return link[1] + names.get(name, name) + link[2][len(name) :] + link[3]

    body = _LINK.sub(renamed, "\n".join(lines[count:]))
    return (bom + "\n".join([*lines[:count], body])).encode()


def _with_front_matter(text: str, names: Mapping[str, str]) -> str:
    """Return the text with the references of its front matter renamed."""
    before = split_front_matter(text).values
    found = {
        name
        for field in _FIELDS
        for name in targets(before.get(field))
        if name in names
    }
    if not found:
        return text
    renamed = _in_place(text, {name: names[name] for name in found})
    if _renamed(before, names) == _renamed(split_front_matter(renamed).values, {}):
        return renamed
    # Written in a way that lines do not show, as with escapes in quotes.
    changes: dict[str, object] = {}
    for field in _FIELDS:
        value = before.get(field)
        items, count = replace_references(
            value, lambda name: [names[name]] if name in names else None
        )
        if count:
            changes[field] = items if isinstance(value, list) else items[0]
    return with_values(text, changes)


def _in_place(text: str, names: Mapping[str, str]) -> str:
    """Return the text with names replaced where they stand, comments left alone."""
    longest_first = sorted(names, key=len, reverse=True)
    name = re.compile(
        rf"(?<![\w./-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w/-]|\.\w)"
    )
    lines = text.split("\n")
    at = 1
    for key, block in blocks_of(text):
        for number in range(at, at + len(block)) if key in _FIELDS else ():
            value, mark, comment = lines[number].partition(" #")
            value = name.sub(lambda match: names[match[0]], value)
            lines[number] = value + mark + comment
        at += len(block)
    return "\n".join(lines)


def _renamed(
    values: Mapping[str, object], names: Mapping[str, str]
) -> dict[str, object]:
    """Return what a front matter says, its references under their new names."""
    return {
        key: [(names.get(name, name), weight) for name, weight in references(value)]
        if key in _FIELDS
        else value
        for key, value in values.items()
    }
