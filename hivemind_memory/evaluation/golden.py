"""Reads golden questions from Markdown: list items with an arrow. Pure.

    - which port does staging use → setup/network.md:12
    - why did we leave the queue -> queue-decision, 2026-09-14.md:3-6
    - what does the travel policy say → nothing

Everything else in the text is ignored, so the questions may stand in a note among
headings and paragraphs. What a target means is decided in ``targets``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NOTHING = "nothing"
"""The target of a question that the notes don't answer."""

_ITEM = re.compile(r"\s*[-*+]\s+(?P<text>\S.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_ARROW = re.compile(r"→|->")


class GoldenQuestion(NamedTuple):
    """One question as it is written."""

    line: int
    """Where it begins, from 1."""

    text: str
    targets: tuple[str, ...]
    """As written, without the backquotes around them; empty: none is."""


def parse_golden(text: str) -> tuple[GoldenQuestion, ...]:
    """Return the questions of a text, in order.

    An item may go on in indented lines. The last arrow of an item is the one that
    counts, and an item without an arrow is no question.

    >>> parse_golden("- which port? → net.md:3, `db-port`")
    (GoldenQuestion(line=1, text='which port?', targets=('net.md:3', 'db-port')),)
    """
    found = []
    for line, item in _items(text):
        arrows = list(_ARROW.finditer(item))
        if not arrows:
            continue
        question = item[: arrows[-1].start()].strip()
        targets = item[arrows[-1].end() :].split(",")
        named = [target.strip().strip("`").strip() for target in targets]
        if question:
            found.append(GoldenQuestion(line, question, tuple(filter(None, named))))
    return tuple(found)


def _items(text: str) -> Iterator[tuple[int, str]]:
    """Yield the list items outside code fences: the number of the line, and the text.

    Further lines of an item are indented.
    """
    item: list[str] = []
    start, fence = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        mark = _FENCE.match(line)
        if fence or mark:
            if mark and (not fence or mark[1] == fence):
                fence = "" if fence else mark[1]
            begun = None
        else:
            begun = _ITEM.match(line)
        if item and (begun or fence or not line.strip() or not line[0].isspace()):
            yield start, " ".join(item)
            item = []
        if begun:
            item, start = [begun["text"].strip()], number
        elif item:
            item.append(line.strip())
    if item:
        yield start, " ".join(item)
