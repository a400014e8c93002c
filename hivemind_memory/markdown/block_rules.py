"""Rules for markdown-it that take a line's time for a line.

The library's rule for tables makes up to a hundred tokens for two bytes, and the one
for definitions of links normalizes their addresses; both are replaced. Two more take
what most notes consist of, prose and plain lists, without asking every other rule for
each line. The rest is the library's, and the outline is the same: a test compares them.

A rule takes a state, the line a block may begin with, and the line after the last one
that its container has. It returns whether it found its block, which it then adds to the
tokens, setting ``state.line`` to the line after it; or only whether there is one, if it
has to be silent. Only ``note_parser`` imports the library: its state has no type here.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    State = Any
    """``markdown_it.rules_block.StateBlock``."""

_MAX_LEVEL = 12
"""Levels of nesting that are distinguished; a list is two. Deeper ones count as one
block, so that time and stack are bounded."""

INERT = (
    r"""(?:[A-Za-z\x80-\U0010ffff("'$/.,!%@;?\\{}\]^)&]|[0-9]++(?![.)](?:[ \t\n]|$))"""
    r"""|\[(?:[ xX]\][ \t]|\[)|\*\*?[^\s*]|_+[^\s_]|`{1,2}[^`]|~~?[^~]|#++[^\s#]"""
    r"""|[-+][A-Za-z0-9])"""
)
"""How a line begins that opens no block and ends no paragraph. A few such lines are
missed, which costs time and nothing else."""

_PROSE = lazy_re(INERT)
_LIST_ITEM = lazy_re(rf"(?:[-*+]|[0-9]{{1,9}}[.)]) {{1,4}}(?={INERT})")
_LIST_MARKER = lazy_re(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]")
_DELIMITER_STARTS = ("|", ":", "--", "-:", "-|")
_DELIMITER_ROW = lazy_re(
    r"(?!-[ \t]|.?$)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*"
)
_CELL_END = lazy_re(r"(?<!\\)\|")
_DEFINITION = lazy_re(
    r"""\[(?!\s*\])(?:[^\[\]\\]|\\.)+\]:[ \t]*(?:<[^<>]*>|[^\s<]\S*)"""
    r"""(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*"""
)


def table(state: State, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """Find a table, without a token for each cell."""
    if start + 1 >= end or not _is_table_head(state, start):
        return False
    if silent:
        return True
    token = state.push("table", "table", 0)
    parent, state.parentType = state.parentType, "table"
    terminators = state.md.block.ruler.getRules("blockquote")
    line = start + 2
    while (
        line < end
        and state.sCount[line] >= state.blkIndent
        and _line(state, line).strip()
        and not state.is_code_block(line)
        and not any(rule(state, line, end, silent=True) for rule in terminators)
    ):
        line += 1
    state.parentType = parent
    token.map = [start, line]
    state.line = line
    return True


def definition(state: State, start: int, _end: int, silent: bool) -> bool:  # noqa: FBT001
    """Find a link's definition on one line, which no line below makes a heading."""
    line = _line(state, start)
    if line[:1] != "[" or silent or state.is_code_block(start):
        return False
    if not _DEFINITION.fullmatch(line):
        return False
    state.push("definition", "", 0).map = [start, start + 1]
    state.line = start + 1
    return True


def too_deep(state: State, start: int, end: int, _silent: bool) -> bool:  # noqa: FBT001
    """Take all that is left of a container which is nested too deep, as no block."""
    if state.level < _MAX_LEVEL:
        return False
    line = start + 1
    while line < end and (state.isEmpty(line) or state.sCount[line] >= state.blkIndent):
        line += 1
    state.line = line
    return True


def items(state: State, start: int, end: int, _silent: bool) -> bool:  # noqa: FBT001
    """Find the items of a list that hold one paragraph of prose each, as most do.

    It stops before the first item that holds more, which the library's own rule then
    takes for the first of a list: for an outline that is the same.
    """
    found = _item(state, start)
    lines: list[int] = []
    line = start
    while found:
        # Where the text of the item begins; what is indented as far belongs to it.
        offset = state.sCount[line] + found.end() - found.start()
        stop = line + 1
        while stop < end and _is_prose(state, stop):
            stop += 1
        below = state.skipEmptyLines(stop) if stop < end else end
        if below < end and state.sCount[below] >= offset:
            break
        found = _item(state, below) if below < end else None
        if not found and below == stop < end:
            break
        lines.append(line)
        line, state.line = below, stop
    if lines:
        token = state.push("items", "", 0)
        token.map = [start, state.line]
        token.meta["lines"] = lines
    return bool(lines)


def prose(state: State, start: int, end: int, _silent: bool) -> bool:  # noqa: FBT001
    """Find a paragraph, or a setext heading, that begins like one.

    Nothing else can, but code and tables. This is most lines of most notes.
    """
    if not _is_prose(state, start) or state.is_code_block(start):
        return False
    terminators = state.md.block.ruler.getRules("paragraph")
    parent, state.parentType = state.parentType, "paragraph"
    line, last = start + 1, state.lineMax
    level = 0
    while line < last and not state.isEmpty(line):
        indent = state.sCount[line] - state.blkIndent
        if indent <= 3:
            level = _underline(_line(state, line)) if indent >= 0 and line < end else 0
            if level:
                break
            # Less than 0: a quote goes on here without its mark, as this paragraph.
            if (
                state.sCount[line] >= 0
                and not _is_prose(state, line)
                and any(rule(state, line, last, silent=True) for rule in terminators)
            ):
                break
        line += 1
    state.parentType = parent
    state.line = line + 1 if level else line
    token = state.push("heading_open" if level else "paragraph", f"h{level}", 0)
    token.map = [start, state.line]
    if level:
        token.content = state.getLines(start, line, state.blkIndent, keepLastLF=False)
    return True


def _is_table_head(state: State, line: int) -> bool:
    """Return whether a table begins: a row of cells over a row of as many rules."""
    below = line + 1
    if state.sCount[below] < state.blkIndent or state.is_code_block(below):
        return False
    rules = _line(state, below)
    if not rules.startswith(_DELIMITER_STARTS) or not _DELIMITER_ROW.fullmatch(rules):
        return False
    head = _line(state, line)
    # As on GitHub, an item of a list is that before it is the head of a table.
    if "|" not in head or _LIST_MARKER.match(head) or state.is_code_block(line):
        return False
    return _cell_count(head) == _cell_count(rules)


def _cell_count(row: str) -> int:
    """Return how many cells a table's row has."""
    cells = _CELL_END.split(row.strip())
    return len(cells) - (cells[0] == "") - (len(cells) > 1 and cells[-1] == "")


def _item(state: State, line: int) -> re.Match[str] | None:
    """Return the marker of an item of prose that begins on *line*, and what follows."""
    if not 0 <= state.sCount[line] - state.blkIndent <= 3:
        return None
    return _LIST_ITEM.match(state.src, state.bMarks[line] + state.tShift[line])


def _is_prose(state: State, line: int) -> bool:
    """Return whether a line is the text of a paragraph and nothing else.

    Unless it is indented, or the line below underlines it.
    """
    src = state.src
    if not _PROSE.match(src, state.bMarks[line] + state.tShift[line]):
        return False
    below = line + 1
    return below >= state.lineMax or not src.startswith(
        _DELIMITER_STARTS, state.bMarks[below] + state.tShift[below]
    )


def _underline(line: str) -> int:
    """Return the level of the heading that *line* underlines, or 0."""
    mark = line[:1]
    if mark not in ("-", "=") or line.rstrip(" \t").strip(mark):
        return 0
    return 1 if mark == "=" else 2


def _line(state: State, line: int) -> str:
    """Return a line of the source without its indentation."""
    start: int = state.bMarks[line] + state.tShift[line]
    text: str = state.src[start : state.eMarks[line]]
    return text
