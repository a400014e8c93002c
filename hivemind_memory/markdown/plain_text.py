"""Returns Markdown as plain text: what a list shows of it, without the signs."""

from __future__ import annotations

from collections.abc import Iterator

from hivemind_memory.markdown.text import without_comments
from hivemind_memory.model.display import shorten
from hivemind_memory.patterns.lazy_pattern import lazy_re

_LINK = lazy_re(r"!?\[([^\]]*)\]\([^)]*\)")
_ADDRESS = lazy_re(r"<([a-z]{2,8}:[^\s<>]+)>")
_TAG = lazy_re(r"</?(?:b|i|em|strong|code|kbd|br|p|div|span|sub|sup|u)(?: [^<>]*)?/?>")
_NAMED = lazy_re(r"\[\[(?:[^\]|]*\|)?([^\]|]+)\]\]")
_STRONG = lazy_re(r"(?<!\w)(\*\*|__|\*|_|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_CODE = lazy_re(r"`+([^`]+)`+")
_SIGNS = (
    *((_LINK, r"\1"), (_NAMED, r"\1"), (_ADDRESS, r"\1"), (_TAG, "")),
    *((_STRONG, r"\2"), (_CODE, r"\1")),
)
_FENCE = lazy_re(r"\s*(?:```|~~~)")
_HEADING = lazy_re(r"\s{0,3}#{1,6}(?:\s+|$)")
_ITEM = lazy_re(r"\s*(?:[-*+]|(\d{1,9}[.)]))\s+(?:\[[ xX]\]\s+)?")
_QUOTE = lazy_re(r"\A(?:\s{0,3}>\s?)+")
_RULERS = frozenset("-*_=")
_ENDS = (".", "!", "?", ":", ";", ",", "…", "。", "！", "？", "：")
_MAX_BLOCK_CHARS = 1_500
"""Of a block that is looked at: the patterns take the square of its length."""

_INTRODUCES = ":"
_READ_FACTOR = 2
"""How much more is read than is shown: signs are left out."""


def without_signs(text: str) -> str:
    """Return one line of a paragraph without what emphasizes, links or marks code.

    >>> without_signs("**Run** `make` as in [the docs](https://x.example) or [[rota]]")
    'Run make as in the docs or rota'
    """
    for pattern, kept in _SIGNS:
        text = pattern.sub(kept, text)
    return text


def plain_text(text: str, limit_chars: int, *, separator: str = " ") -> str:
    r"""Return the beginning of Markdown as a list shows it.

    Args:
        text: Without front matter.
        limit_chars: Of what is returned.
        separator: Between two paragraphs or items.

    >>> plain_text("# Rota\n\nOn **Mondays**:\n- run\n  `make`\n- wait", 80)
    'Rota: On Mondays: • run make • wait'
    >>> plain_text("one\ntwo\n\n```\nx = 1\n```", 80, separator="\n")
    'one two\nx = 1'
    """
    read = text[: _READ_FACTOR * limit_chars]
    blocks = _blocks(without_comments(read), is_line=separator == " ")
    # A heading that nothing follows introduces nothing.
    shown = separator.join(blocks).removesuffix(_INTRODUCES)
    return shorten(shown if len(read) == len(text) else f"{shown}…", limit_chars)


def _blocks(text: str, *, is_line: bool) -> Iterator[str]:
    """Yield each paragraph, item, heading and line of code, without its signs.

    *is_line*: they stand on one line, so a heading ends as what introduces the rest.
    """
    kept: list[str] = []
    is_code = False
    for line in [*text.split("\n"), ""]:
        is_fence = _FENCE.match(line) is not None
        begins = is_code or is_fence or _begins_block(line)
        if kept and begins:
            yield _joined(kept)
            kept = []
        if is_fence:
            is_code = not is_code
        elif is_code:
            if line.strip():
                yield line.strip() if is_line else line.rstrip()
        elif _HEADING.match(line):
            heading = without_signs(_HEADING.sub("", line[:_MAX_BLOCK_CHARS]))
            heading = heading.strip().rstrip("#").rstrip()
            is_open = is_line and not heading.endswith(_ENDS)
            if heading:
                yield f"{heading}{_INTRODUCES}" if is_open else heading
        elif line.strip() and not _is_rule(line):
            kept.append(line)


def _begins_block(line: str) -> bool:
    """Return whether a line does not go on with the paragraph above it."""
    return (
        not line.strip()
        or line.lstrip().startswith("|")
        or _is_rule(line)
        or _HEADING.match(line) is not None
        or _ITEM.match(line) is not None
    )


def _is_rule(line: str) -> bool:
    """Return whether a line only separates or underlines others, or parts of a table.

    >>> _is_rule("* * *"), _is_rule("|---|:--|"), _is_rule("--"), _is_rule("- a")
    (True, True, False, False)
    """
    signs = set(line) - set(" \t\r")
    is_row = {"-", "|"} <= signs <= set("-|:")
    return len(line.strip()) > 2 and (is_row or (len(signs) == 1 and signs <= _RULERS))


def _joined(lines: list[str]) -> str:
    """Return the lines of a paragraph, an item or a row of a table as one."""
    whole = " ".join(_QUOTE.sub("", line).strip() for line in lines)
    whole = whole[:_MAX_BLOCK_CHARS]
    if whole.startswith("|"):
        cells = (cell.strip() for cell in whole.strip("|").split("|"))
        return without_signs(", ".join(filter(None, cells)))
    item = _ITEM.match(whole)
    mark = f"{item[1] or '•'} " if item else ""
    return mark + without_signs(whole[item.end() if item else 0 :]).strip()
