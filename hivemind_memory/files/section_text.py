"""Takes the sections that ``hm inject`` wrote out of text that is read.

What is kept or shown of a text may reach another caller than it was made for,
and found again it would be a memory of the memory. Nothing here writes: which lines of
a file are ours to remove is a stricter question, see ``inject/section_form.py``.
"""

from __future__ import annotations

import re

from hivemind_memory.files.marked_section import SECTION_HEADLINE, SECTION_MARKS

_BEGIN, _END = (mark.decode() for mark in SECTION_MARKS.lookalikes)
_HEADLINE = re.escape(SECTION_HEADLINE)
_SECTION = re.compile(
    rf"{_BEGIN}[^>]*>.*?(?:{re.escape(SECTION_MARKS.end.decode())}|\Z)", re.DOTALL
)
# Claude Code takes comments out of the files that it reads, and a hook writes none.
_WITHOUT_MARKS = re.compile(rf"{_HEADLINE}.*?(?=\n</|\Z)", re.DOTALL)
_LINES = re.compile(
    rf"(?:^[^\n]*{_BEGIN}[^\n]*\n(?:^[^\n]*<!--[^\n]*\n)?)?"
    # Quote and comment marks may come before it; in code it is in quotation marks.
    rf"^[^\w\"'`\n]*{_HEADLINE}[^\w\"'`\n]*$"
    rf".*?(?:^[^\n]*{_END}[^\n]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)


def without_sections(text: str) -> str:
    r"""Return what is left of a message: its lines need not keep their numbers.

    >>> without_sections("a <!-- hivemind:begin v1 -->\nb\n<!-- hivemind:end --> c")
    'a  c'
    """
    if SECTION_HEADLINE in text or _BEGIN in text:
        text = _WITHOUT_MARKS.sub("", _SECTION.sub("", text))
    return text


def with_blank_sections(text: str) -> str:
    r"""Return the text of a file with empty lines in place of its sections.

    So every other line keeps its number. A mark alone is none: documents name them.

    >>> with_blank_sections("a\n## Hivemind Memory (auto-injected, do not edit)\nb")
    'a\n\n'
    """
    if SECTION_HEADLINE not in text:
        return text
    return _LINES.sub(lambda found: "\n" * found[0].count("\n"), text)
