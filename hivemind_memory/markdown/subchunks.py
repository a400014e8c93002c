"""Splits a chunk into subchunks: its list items, paragraphs, tables and fences.

String work only, and called for every chunk that is indexed. It needs no Markdown
parser: a subchunk that is cut slightly wrong changes a score a little, and that is all.
"""

from __future__ import annotations

from hivemind_memory.files.digests import sha256_hex
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_BULLET = lazy_re(r"\s*(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)")

_FENCE = lazy_re(r"\s*(?:(`{3,})[^`]*|(~{3,}).*)")

_HEADING = lazy_re(r" {0,3}#{1,6}(?:[ \t]|$)")

_RULE = lazy_re(r"\s*(?:=+|-{2,}|(?:[-*_][ \t]*){3,})\s*")

_GAP = lazy_re(r"\n(?:[ \t]*\n)+")


def split_subchunks(body: str) -> tuple[str, ...]:
    r"""Return the subchunks of a chunk's body, in order.

    A subchunk is a list item with its continuation lines, a paragraph, a table, or a
    whole fence. Headings and rules are no subchunks: they are found through the
    breadcrumbs. A body that holds nothing else is its own single subchunk, if it is not
    blank.

    >>> split_subchunks("## Ports\n\n- web: 80\n- db: 5432\n  (read only)\n\nSee wiki.")
    ('- web: 80', '- db: 5432\n  (read only)', 'See wiki.')
    """
    subchunks: list[str] = []
    subchunk: list[str] = []
    lines = iter(body.split("\n"))
    for line in lines:
        # Most lines begin with a letter or are empty; asking for the kind takes longer.
        kind = "text" if line[:1].isalpha() else _kind(line) if line else "blank"
        if kind == "text":
            subchunk.append(line)
            continue
        is_title = (
            kind == "rule" and len(subchunk) == 1 and _kind(subchunk[0]) == "text"
        )
        if subchunk and not is_title:
            subchunks.append("\n".join(subchunk))
        subchunk = [line] if kind == "bullet" else []
        if kind == "fence":
            subchunks += _fence(line, lines)
    if subchunk:
        subchunks.append("\n".join(subchunk))
    if not subchunks and body.strip():
        return (body,)
    return tuple(subchunks)


def has_only_headings(body: str) -> bool:
    r"""Return whether a chunk's body has headings, and no text below them.

    >>> has_only_headings("# Ports\n\n## Web"), has_only_headings("# Ports\n80")
    (True, False)
    """
    lines = body.split("\n")
    if lines[0][:1] != "#":  # most chunks that are not the first of a section
        return False
    return all(not line or _kind(line) in {"heading", "blank"} for line in lines)


def _kind(line: str) -> str:
    """Return what a line is: text, blank, bullet, fence, heading or rule."""
    first = line.lstrip()[:1]
    if first.isalpha():
        return "text"
    if not first:
        return "blank"
    if first in "`~":
        return "fence" if _FENCE.fullmatch(line) else "text"
    if first == "#":
        return "heading" if _HEADING.match(line) else "text"
    if first in "=-*_" and _RULE.fullmatch(line):
        return "rule"
    return "bullet" if _BULLET.match(line) else "text"


def _fence(first: str, lines: Iterable[str]) -> list[str]:
    """Return the fence that *first* opens, as one subchunk, and take its *lines*."""
    opening = first.strip()
    info = opening.lstrip(opening[0])
    fence = opening[: len(opening) - len(info)]
    taken = [first]
    for line in lines:
        taken.append(line)
        closing = line.strip()
        if closing.startswith(fence) and not closing.strip(fence[0]):
            return ["\n".join(taken)]
    if info:
        return ["\n".join(taken)]
    # A bare fence that nothing closes is the end of one that began in the chunk before.
    return [
        subchunk for subchunk in _GAP.split("\n".join(taken[1:])) if subchunk.strip()
    ]


def embedding_texts(body: str) -> list[str]:
    """Return the texts of a chunk that get a vector: its body, and its subchunks.

    A chunk of one subchunk has one text.
    """
    subchunks = split_subchunks(body)
    return [body, *subchunks] if len(subchunks) > 1 else [body]


def text_hash(text: str) -> str:
    """Return the name of a text in the vector cache: its SHA-256, hexadecimal."""
    return sha256_hex(text.encode("utf-8", "replace"))
