"""Parses any bytes into a note and its chunks. The home of markdown-it.

Where a note is cut is not decided here: ``sections`` says where a chunk starts, and
``long_chunks`` where one is cut that is longer than the limit. Here Markdown is read,
as far as they need it: where its blocks lie.

The block parser of markdown-it does that, with some rules of our own (``outline``).
The text of a note never passes through it, so none can be lost in it.
"""

from __future__ import annotations

from functools import cache

from hivemind_memory.markdown import block_rules
from hivemind_memory.markdown.front_matter import split_front_matter
from hivemind_memory.markdown.outline import (
    MAX_TITLE_CHARS,
    Heading,
    Outline,
    ParsedLines,
    is_too_dense,
    scan,
)
from hivemind_memory.markdown.sections import chunks_of, whole_chunk
from hivemind_memory.markdown.text import decode, split_lines
from hivemind_memory.model.note import Chunk, Note
from hivemind_memory.model.note_path import NotePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_MAX_LINE_CHARS = 1000
"""What the parser sees of a longer line: its kind depends on no more than this."""

_WHOLE = frozenset({"fence", "code_block", "html_block", "table"})
# What decides, however far to the right, where a block of HTML or a fence ends.
_DECISIVE = (
    *("-->", "?>", "]]>", ">", "`"),
    *("</script>", "</pre>", "</style>", "</textarea>"),
)


def parse_note(
    path: NotePath, data: bytes, *, limit_chars: int, overlap_chars: int = 0
) -> Note:
    """Return the note that *data* is; any bytes are a note.

    Args:
        path: Its path below the notes folder.
        data: The whole file.
        limit_chars: Characters that a chunk may hold, at least 1.
        overlap_chars: See ``chunk_note``.
    """
    text = decode(data)
    front = split_front_matter(text)
    lines = split_lines(text)
    return Note(
        path=path,
        chunks=_chunks(text, lines, front.line_count, limit_chars, overlap_chars),
        front_matter=front.values,
        has_broken_front_matter=front.is_broken,
        line_count=len(lines),
    )


def chunk_note(
    text: str, *, limit_chars: int, overlap_chars: int = 0
) -> tuple[Chunk, ...]:
    """Return the chunks of a decoded note: in order, disjoint, covering all of it.

    A chunk whose ``body`` is empty (front matter, an entry without content, blank lines
    that fit nowhere else) is there for completeness and holds nothing to be found. An
    empty text has no chunks.

    A single line longer than the limit is cut within: the chunk that ends there and the
    next one then share the line's number. ``join_chunks`` undoes all of it.

    Args:
        text: The note, front matter included.
        limit_chars: Characters that a chunk's ``text`` may hold, at least 1.
        overlap_chars: Characters, in whole lines from the end of the chunk before, that
            a chunk's ``body`` repeats where a chunk was cut for its length.

    Raises:
        ValueError: *limit_chars* is below 1.
    """
    front_lines = split_front_matter(text).line_count
    return _chunks(text, split_lines(text), front_lines, limit_chars, overlap_chars)


def block_chunks(
    text: str,
    lines: list[str],
    *,
    first_line: int,
    limit_chars: int,
    overlap_chars: int,
) -> tuple[Chunk, ...]:
    """Return the chunks of one block of a note; see ``blocks``.

    Args:
        text: The block; only the first one may hold front matter.
        lines: Its lines.
        first_line: Number of its first line in the note, from 0.
        limit_chars: See ``chunk_note``, as the next one.
        overlap_chars: The same.
    """
    front_lines = 0
    if not first_line:
        if lines and not text.startswith("---"):
            whole = whole_chunk(text, lines, limit_chars)
            if whole is not None:
                return (whole,)
        front_lines = split_front_matter(text).line_count
    return _chunks(
        text, lines, front_lines, limit_chars, overlap_chars, first_line=first_line
    )


def join_chunks(chunks: Sequence[Chunk]) -> str:
    r"""Return the text that *chunks* are of, without its last newline.

    >>> join_chunks(chunk_note("# a\n\n## b\n", limit_chars=800))
    '# a\n\n## b'
    """
    parts: list[str] = []
    end_line = 0
    for chunk in chunks:
        if end_line:
            # A line cut within continues in the next chunk.
            parts.append("" if chunk.start_line == end_line else "\n")
        parts.append(chunk.text)
        end_line = chunk.end_line
    return "".join(parts)


def _chunks(
    text: str,
    lines: list[str],
    front_lines: int,
    limit_chars: int,
    overlap_chars: int,
    *,
    first_line: int = 0,
) -> tuple[Chunk, ...]:
    """Return the chunks of a note of which everything is known but its outline."""
    if limit_chars < 1:
        message = f"limit_chars must be 1 or more, not {limit_chars}."
        raise ValueError(message)
    return tuple(
        chunks_of(
            text,
            lines,
            front_lines,
            outline_of,
            limit_chars=limit_chars,
            overlap_chars=overlap_chars,
            first_line=first_line,
        )
    )


def outline_of(page: ParsedLines, first: int, stop: int) -> Outline:
    """Return the blocks of lines *first* up to *stop* of a page.

    The lines are read as a Markdown text of their own.
    """
    if is_too_dense(page, first, stop):
        return scan(page, first, stop)
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(_source(page.lines[first:stop]), parser, {}, tokens)
    blocks: list[tuple[int, int]] = []
    wholes: list[tuple[int, int]] = []
    headings: list[Heading] = []
    for index, token in enumerate(tokens):
        if token.map is None or token.type == "inline":
            continue
        begin, end = token.map[0] + first, token.map[1] + first
        # A list and its items are two levels, of which one is enough.
        depth = token.level // 2
        if token.type == "items":
            blocks += [(line + first, depth) for line in token.meta["lines"]]
            continue
        blocks.append((begin, depth))
        if token.type in _WHOLE:
            wholes.append((begin, end))
        elif token.type == "heading_open" and token.level == 0:
            # A heading of markdown-it's own has its text in the token after it.
            title = token.content or tokens[index + 1].content
            title = " ".join(title.split())[:MAX_TITLE_CHARS]
            headings.append(Heading(begin, end, int(token.tag[1]), title))
    return Outline(blocks, wholes, headings)


def _source(lines: Sequence[str]) -> str:
    """Return what the parser is given: as many lines, none of which can trip it."""
    if lines and max(map(len, lines)) > _MAX_LINE_CHARS:
        lines = [_shortened(line) for line in lines]
    source = "\n".join([*lines, ""])
    # Both would be read as something else than a character of their line.
    return source.replace("\r", " ").replace("\0", "�")


def _shortened(line: str) -> str:
    """Return the start of a long line, and what to its right may decide a block."""
    if len(line) <= _MAX_LINE_CHARS:
        return line
    rest = line[_MAX_LINE_CHARS:].lower()
    decisive = [mark for mark in _DECISIVE if mark in rest]
    return line[:_MAX_LINE_CHARS] + "".join(decisive)


@cache
def _parser() -> MarkdownIt:
    """Return the parser; it keeps nothing from one text to the next."""
    # Most notes have an outline without it, and to load it takes 40 ms of an answer.
    from markdown_it import MarkdownIt

    # block_rules.too_deep ends nesting long before this does, which drops what follows.
    parser = MarkdownIt("commonmark", {"maxNesting": 1000})
    rules = parser.block.ruler
    rules.at("table", block_rules.table, {"alt": ["paragraph", "reference"]})
    rules.at("reference", block_rules.definition)
    rules.before("table", "too_deep", block_rules.too_deep)
    rules.before("table", "prose", block_rules.prose)
    rules.before("table", "items", block_rules.items)
    parser.enable(["table", "reference", "too_deep", "prose", "items"])
    return parser
