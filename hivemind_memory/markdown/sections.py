"""Cuts a note into chunks: which lines become a chunk, with which headings.

A chunk starts at an H1, H2 or H3, after two blank lines, and at the comment of an
entry; one that is longer than the limit is cut again, by ``long_chunks``.

Pure: lines and the outline of their blocks in, chunks out. Entries come first: they are
hard borders, so a fence that an entry leaves open ends with it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise

from hivemind_memory.markdown.entry import OPENING, parse_provenance
from hivemind_memory.markdown.long_chunks import (
    AFTER_HEADING,
    DEEPEST,
    IN_BLOCK,
    IN_WHOLE,
    CutPoint,
    cut_points,
)
from hivemind_memory.markdown.outline import Heading, Outline, ParsedLines
from hivemind_memory.markdown.simple_outline import (
    heading_on,
    is_simple,
    simple_outline,
)
from hivemind_memory.markdown.text import is_blank, plain, without_comments
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.note import Chunk, Provenance
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_GAP = lazy_re(r"\n(?:[ \t\r]*\n){2,}")
_DEFINITION = lazy_re(
    r""" {0,3}\[(?!\^)[^\[\]]+\]:[ \t]*(?:<[^<>]*>|[^\s</#.:@]*+[/#.:@]\S*+)"""
    r"""(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t\r]*"""
)
_DEEPEST_HEADING = 3

# A text with more sections than this, each shorter than that, is no text: it is cut by
# length alone, for a megabyte of it would be a quarter of a million chunks.
_MANY_SECTIONS = 1000
_FEW_CHARS = 16


class Segment(NamedTuple):
    """What is parsed by itself: the front matter, an entry, what a person wrote.

    Lines are indexes, from 0.
    """

    first: int
    stop: int
    content: int
    """First line that is to be found: after the front matter or the comment."""

    provenance: Provenance | None = None


# A plain tuple, not a dataclass: there is one for nearly every chunk.
class _Section(NamedTuple):
    """Lines between two places where a chunk starts in any case."""

    first: int
    stop: int
    headings: tuple[str, ...]


def chunks_of(
    text: str,
    lines: Sequence[str],
    front_lines: int,
    outline_of: Callable[[ParsedLines, int, int], Outline],
    *,
    limit_chars: int,
    overlap_chars: int,
    first_line: int = 0,
) -> Iterator[Chunk]:
    """Yield the chunks of a note, in order.

    Args:
        text: The note, decoded.
        lines: Its lines.
        front_lines: How many of them are front matter.
        outline_of: Finds the blocks of some lines of a page.
        limit_chars: At least 1.
        overlap_chars: See ``note_parser.chunk_note``.
        first_line: Number of the first line, from 0, if they are a part of a note.
    """
    starts = list(accumulate([len(line) + 1 for line in lines], initial=0))
    page = ParsedLines(text=text, lines=lines, starts=starts)
    marks = bytearray()
    for segment in segments_of(page, front_lines):
        outline = None
        if segment.content == segment.stop:
            outline = Outline()
        elif starts[segment.stop] - 1 - starts[segment.first] <= limit_chars:
            outline = simple_outline(page, segment.content, segment.stop)
        if outline is None:
            outline = outline_of(page, segment.content, segment.stop)
        is_marked = False
        for section in _sections(page, segment, outline):
            first, stop, _ = section
            pieces = [CutPoint(starts[first], first), CutPoint(starts[stop], stop)]
            if starts[stop] - 1 - starts[first] > limit_chars:
                if not is_marked:
                    marks = marks or bytearray([IN_BLOCK]) * len(starts)
                    _mark(marks, page, segment, outline, limit=limit_chars)
                    is_marked = True
                pieces[1:1] = cut_points(page, marks, first, stop, limit=limit_chars)
            yield from _pieces(
                page,
                segment,
                section,
                pieces,
                overlap_chars=overlap_chars,
                first_line=first_line,
            )


def whole_chunk(text: str, lines: Sequence[str], limit_chars: int) -> Chunk | None:
    """Return the one chunk of a short note that has a heading at its top or none.

    What ``chunks_of`` yields for it, in half the time: most notes are like that.

    Args:
        text: The note, decoded, without front matter.
        lines: Its lines, at least one.
        limit_chars: See ``chunks_of``.

    Returns:
        None: It may have more chunks, or more headings.
    """
    if (
        len(text) > limit_chars
        or "<!--" in text
        or "\n#" in text
        or not lines[0]
        or not is_simple(text, 0, len(text))
        or _GAP.search(text)
    ):
        return None
    heading = heading_on(lines[0], 0)
    is_told = heading is not None and heading.level <= _DEEPEST_HEADING
    whole = text.removesuffix("\n")
    body = plain(whole)
    return Chunk(
        headings=(heading.title,) if heading and is_told and body else (),
        start_line=1,
        end_line=len(lines),
        text=whole,
        body=body,
        provenance=None,
    )


def segments_of(page: ParsedLines, front_lines: int) -> Iterator[Segment]:
    """Yield the segments of a note: together, all its lines.

    Args:
        page: The note; its ``starts`` do not matter.
        front_lines: How many of its lines are front matter.
    """
    lines = page.lines
    first = 0
    stop = len(lines)
    if front_lines:
        first = front_lines
        while first < stop and is_blank(lines[first]):
            first += 1
        yield Segment(first=0, stop=first, content=first)
    content = first
    provenance = None
    for line in range(first, stop) if OPENING in page.text else ():
        if not lines[line].startswith(OPENING):
            continue
        if line > first and not is_blank(lines[line - 1]):
            continue
        found = parse_provenance(lines[line])
        if found is None:
            continue
        if provenance or any(not is_blank(above) for above in lines[first:line]):
            yield Segment(
                first=first, stop=line, content=content, provenance=provenance
            )
            first = line
        content, provenance = line + 1, found
    if first < stop:
        yield Segment(first=first, stop=stop, content=content, provenance=provenance)


def _sections(
    page: ParsedLines, segment: Segment, outline: Outline
) -> Iterator[_Section]:
    """Yield the sections of a segment: together, all its lines."""
    lines = page.lines
    lead = segment.content
    while lead < segment.stop and is_blank(lines[lead]):
        lead += 1
    titles: dict[int, Heading | None] = {}
    if _GAP.search(page.text, page.starts[lead], page.starts[segment.stop]):
        titles = dict.fromkeys(_after_gaps(page, lead, segment.stop, outline))
    for heading in outline.headings:
        if heading.level <= _DEEPEST_HEADING:
            titles[heading.line] = heading
    chars = page.starts[segment.stop] - page.starts[segment.first]
    if len(titles) > max(_MANY_SECTIONS, chars // _FEW_CHARS):
        titles = {}
    first = segment.first
    breadcrumbs: list[Heading] = []
    names: tuple[str, ...] = ()
    for line in sorted(titles):
        if line > lead:
            yield _Section(first, line, names)
            first = line
        found = titles[line]
        if found is not None:
            breadcrumbs = [above for above in breadcrumbs if above.level < found.level]
            breadcrumbs.append(found)
            names = tuple([above.title for above in breadcrumbs if above.title])
    yield _Section(first, segment.stop, names)


def _after_gaps(
    page: ParsedLines, lead: int, stop: int, outline: Outline
) -> Iterator[int]:
    """Yield the lines after two blank ones.

    Not those within a fence or the like; nor those below a heading, which would be a
    chunk that says nothing.
    """
    starts = page.starts
    firsts = [first for first, _ in outline.wholes]
    below_headings = {heading.stop for heading in outline.headings}
    for gap in _GAP.finditer(page.text, starts[lead], starts[stop]):
        line = bisect_right(starts, gap.end()) - 1
        if line >= stop or is_blank(page.lines[line]):
            continue
        if bisect_right(starts, gap.start()) in below_headings:
            continue
        above = bisect_left(firsts, line) - 1
        if above < 0 or line >= outline.wholes[above][1]:
            yield line


def _mark(
    marks: bytearray,
    page: ParsedLines,
    segment: Segment,
    outline: Outline,
    *,
    limit: int,
) -> None:
    """Mark for each line of a segment how good a cut before it is."""
    lines = page.lines
    marks[segment.stop] = 0
    for line, depth in outline.blocks:
        marks[line] = min(marks[line], depth, DEEPEST)
    setext = [(heading.line, heading.stop) for heading in outline.headings]
    for first, stop in (*outline.wholes, *setext):
        if page.starts[stop] - 1 - page.starts[first] <= limit:
            marks[first + 1 : stop] = bytes([IN_WHOLE]) * (stop - first - 1)
    for heading in outline.headings:
        line = heading.stop
        while line < segment.stop and is_blank(lines[line]):
            marks[line] = AFTER_HEADING
            line += 1
        if line < segment.stop:
            marks[line] = AFTER_HEADING
    below = 0
    for line in range(segment.stop - 1, segment.first - 1, -1):
        # Blank lines are as good as what they are before; at the end, as a block.
        if marks[line] == IN_BLOCK and (not lines[line] or is_blank(lines[line])):
            marks[line] = below
        below = marks[line]


def _pieces(
    page: ParsedLines,
    segment: Segment,
    section: _Section,
    pieces: Sequence[CutPoint],
    *,
    overlap_chars: int,
    first_line: int,
) -> Iterator[Chunk]:
    """Yield the chunks between the given cuts of one section."""
    text, starts = page.text, page.starts
    content = starts[segment.content]
    overlap = ""
    for begin, end in pairwise(pieces):
        is_within = end.at != starts[end.line]
        stop = end.at if is_within else end.at - 1
        body = plain(without_comments(text[max(begin.at, content) : stop]))
        is_part = begin.at > content or end.line < segment.stop
        if is_part and _has_only_definitions(body):
            body = ""  # they say where links lead, in text that other chunks hold
        yield Chunk(
            # What holds nothing to be found must not be found by its headings either.
            headings=section.headings if body else (),
            start_line=first_line + begin.line + 1,
            end_line=first_line + (end.line + 1 if is_within else end.line),
            text=text[begin.at : stop],
            body=f"{overlap}\n{body}" if overlap and body else body,
            provenance=segment.provenance,
        )
        if overlap_chars:
            overlap = _overlap(page, max(begin.at, content), end, overlap_chars)


def _overlap(page: ParsedLines, begin: int, end: CutPoint, overlap_chars: int) -> str:
    """Return the last whole lines before *end*, as many as the overlap may hold."""
    starts = page.starts
    if end.at != starts[end.line]:
        return ""
    line = bisect_left(starts, max(begin, end.at - 1 - overlap_chars))
    return plain(page.text[starts[line] : end.at - 1]) if line < end.line else ""


def _has_only_definitions(text: str) -> bool:
    r"""Return whether a text is nothing but definitions of links, which no page shows.

    A footnote is text.

    >>> _has_only_definitions("[1]: https://a.org\n\n[docs]: ./b.md 'Docs'")
    True
    >>> _has_only_definitions("[^1]: See the wiki."), _has_only_definitions("[a]: b c")
    (False, False)
    """
    if not text.lstrip().startswith("["):
        return False
    lines = (line for line in text.split("\n") if not is_blank(line))
    return all(_DEFINITION.fullmatch(line) for line in lines)
