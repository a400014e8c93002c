"""Finds the first sentence of a Markdown text, as plain text on one line."""

from __future__ import annotations

import re

from hivemind_memory.markdown.text import without_comments

_BREAK = re.compile(r"\s{0,3}(?:[-*+]\s|\d{1,9}[.)]\s|>|#{1,6}(?:\s|$)|```|~~~|\||---)")
"""A line that begins something else than the rest of a paragraph."""

_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s+|$)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"\s{0,3}(?:[-*_=]\s*){3,}$")
_MARKER = re.compile(
    r"\A\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|>\s?|#{1,6}\s+)+"
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NAMED = re.compile(r"\[\[(?:[^\]|]*\|)?([^\]|]+)\]\]")
_STRONG = re.compile(r"(?<!\w)(\*\*|__|\*|_|~~)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_CODE = re.compile(r"`+([^`]+)`+")
_SIGNS = ((_LINK, r"\1"), (_NAMED, r"\1"), (_STRONG, r"\2"), (_CODE, r"\1"))
_MAX_CHARS = 1_500
"""Of a paragraph that is looked at: the patterns take the square of its length."""

_END = re.compile(r"[。！？]|[.!?…।؟][\"'”’»)\]]*(?=\s|$)")
_SHORT = frozenset(
    (
        *("approx", "bzw", "ca", "cf", "dr", "etc", "fig", "mr", "mrs", "ms", "no"),
        *("nr", "p", "pp", "resp", "sr", "st", "vgl", "vs"),
    )
)
"""Words before a full stop that does not end a sentence, beside single letters."""

_LETTERS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")


def first_sentence(text: str, *, limit_chars: int = 240) -> str:
    r"""Return the first sentence of Markdown; a heading only if there is nothing else.

    Args:
        text: Without front matter.
        limit_chars: A longer sentence is cut between two words.

    >>> first_sentence("# Rota\n\n- Deploy on **Mondays**, e.g. at 9. Then rest.")
    'Deploy on Mondays, e.g. at 9.'
    """
    line = " ".join(_plain(_first_paragraph(without_comments(text))).split())
    sentence = line[: _end_of(line)]
    if len(sentence) <= limit_chars:
        return sentence
    cut = sentence[: limit_chars - 1]
    words, _, _ = cut.rpartition(" ")
    # Scripts without spaces are cut where they are.
    return f"{words if len(words) > limit_chars // 2 else cut}…"


def _first_paragraph(text: str) -> str:
    """Return the first paragraph or list item, else the first heading or line."""
    heading, code, is_code = "", "", False
    kept: list[str] = []
    for line in text.split("\n"):
        if _FENCE.match(line) and not kept:
            is_code = not is_code
            continue
        if is_code:
            code = code or line.strip()
            continue
        if kept and (not line.strip() or _BREAK.match(line)):
            break
        if not line.strip() or _RULE.match(line):
            continue
        if _HEADING.match(line):
            heading = heading or line
        else:
            kept.append(line)
    return ("\n".join(kept) or heading or code)[:_MAX_CHARS]


def _plain(paragraph: str) -> str:
    """Return a paragraph without the signs of Markdown."""
    plain = _MARKER.sub("", paragraph).strip().strip("|").rstrip("#")
    for pattern, kept in _SIGNS:
        plain = pattern.sub(kept, plain)
    return plain


def _end_of(line: str) -> int:
    """Return where the first sentence of a line ends."""
    for found in _END.finditer(line):
        rest = line[found.end() :].lstrip()
        before = line[: found.start()].rpartition(" ")[2].lstrip("(\"'").lower()
        is_short = found[0] == "." and (
            before in _SHORT or _LETTERS.fullmatch(before) is not None
        )
        # In no script does a sentence begin with a small letter.
        if not rest or not (is_short or rest[0].islower()):
            return found.end()
    return len(line)
