"""Tells what of a note this program has written itself: names, and lines of fields."""

from __future__ import annotations

from hivemind_memory.markdown.entry import OPENING
from hivemind_memory.model.own_forms import (
    FIELDS,
    NAMED_FIELDS,
    UUID_FORM,
    is_own_id,
    own_name_around,
)
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.redaction.line_words import LineWords
    from hivemind_memory.redaction.spans import TextSpan

_NAMES = NAMED_FIELDS.union(FIELDS)
_UUID = lazy_re(UUID_FORM)
_PLACE = "/memories/"  # of a memory over HTTP
_FENCE = "---"
_ID = "id: "
_MOST_ROWS = 400  # of a front matter


def own_rows(there: LineWords) -> frozenset[int]:
    """Return the numbers of the lines that are fields of a memory, or begin an entry.

    What they name is a name, and no label of a secret. Lines of a front matter that
    this program does not write are none of them, nor is one without an id of its own.
    """
    rows = _rows_of_front(there.lines)
    if OPENING in there.text:
        rows.update(
            row
            for row, line in enumerate(there.lines)
            if line.startswith(OPENING) and line.rstrip().endswith("-->")
        )
    return frozenset(rows)


def without_own(
    text: str, spans: list[TextSpan], find: Callable[[str], list[TextSpan]]
) -> list[TextSpan]:
    """Return the spans of a text that are no writing of this program.

    Args:
        text: The text.
        spans: What was found in it.
        find: Returns what is found in another text: what a field of a memory says, and
            what a caller chose of a name, is a secret if it is one by itself.
    """
    kept = [span for span in spans if not _is_own(text, span, find)]
    end = text.find(f"\n{_FENCE}", 1) if text.startswith(_FENCE) else -1
    if end < 0 or all(span[0] > end for span in kept):
        return kept
    lines = text[: end + 1 + len(_FENCE)].split("\n")
    rows = _rows_of_front(lines)
    return [
        span
        for span in kept
        if span[0] > end
        or (row := text.count("\n", 0, span[0])) not in rows
        or find(_value_of(lines[row]))
    ]


def _value_of(line: str) -> str:
    """Return what a field says, or an item of it."""
    name, _, value = line.partition(": ")
    return value if name in _NAMES else line.strip(" -")


def _rows_of_front(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines that are fields of a memory's front matter."""
    rows: set[int] = set()
    if lines[0].lstrip("\ufeff").rstrip() != _FENCE:
        return rows
    is_own = is_memory = False
    for row, line in enumerate(lines[1:_MOST_ROWS], 1):
        if line.rstrip() == _FENCE:
            return rows if is_memory else set()
        if line.startswith(_ID):
            is_memory = is_own_id(line.removeprefix(_ID).strip(" \"'\r"))
        if line[:1].isalpha():
            is_own = line.partition(":")[0] in NAMED_FIELDS
        if is_own:
            rows.add(row)
    return set()


def _is_own(text: str, span: TextSpan, find: Callable[[str], list[TextSpan]]) -> bool:
    """Return whether a span is a name, field or id of this program."""
    start, end, _ = span
    chosen = own_name_around(text, start, end)
    if chosen is not None:
        return not (chosen and find(chosen))
    found = text[start:end]
    line = text.rfind("\n", 0, start) + 1
    if line == start:
        return found in _NAMES and text[end : end + 1] == ":"
    is_place = text.endswith(_PLACE, 0, start) or text.startswith(OPENING, line)
    return is_place and _UUID.fullmatch(found) is not None
