"""Makes the rows of the index from a parsed note. Reads and writes no database."""

from __future__ import annotations

from array import array
from itertools import zip_longest

from hivemind_memory.markdown.addresses import is_only_links, without_addresses
from hivemind_memory.markdown.subchunks import has_only_headings, split_subchunks
from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.own_forms import ULID_FORM
from hivemind_memory.model.symbols import signed_words
from hivemind_memory.model.tags import tag_lines
from hivemind_memory.model.terms import (
    extra_terms,
    kinds_and_words,
    scan_kinds,
)
from hivemind_memory.model.trust import shown_source
from hivemind_memory.notes.memory_header import day_of_iso, is_forgotten
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hivemind_memory.model.note import Chunk, Note
    from hivemind_memory.model.note_path import NotePath

_MAX_SUBCHUNKS = 100
"""A chunk of more subchunks is no text: it counts as one."""

_MAX_REASON_CHARS = 1_000

_NO_PASSAGE = array("H", (1, 0, 1, 0)).tobytes()
"""The places of a subchunk for which no word counts; see ``_bounds``."""

_ID = lazy_re(f"--{ULID_FORM}$")


class ChunkRow(NamedTuple):
    """What the table ``chunks`` holds of one chunk, its lines apart."""

    day: int | None
    entry_id: str | None
    headings: str
    text: str
    body: str | None
    extra: str
    breadcrumbs: str
    subchunks: bytes
    source: str | None
    reason: str
    source_ref: str | None
    tags: str | None


class PlacedRow(NamedTuple):
    """A chunk's row and where it is."""

    start_line: int
    end_line: int
    row: ChunkRow


_Given = tuple[str, str, bool]
"""What a row is made of beside its chunk: the words that name the note and its reason,
and whether the chunk is nothing but the title of others."""

_KnownRows = dict[int, tuple["Chunk | None", _Given, PlacedRow | None]]
"""Number of a chunk in memory -> the chunk, which so stays there, and its row."""

_UNKNOWN: tuple[None, _Given, None] = (None, ("", "", False), None)
_MANY_ROWS = 100
_MAX_KEPT_ROWS = 2_000
"""Of all notes; those of a larger one are made anew."""


class RowMaker:
    """Makes the rows of notes, and keeps those of some long ones.

    Of a note that grew the same chunks come again; see ``markdown.blocks``.
    """

    def __init__(self, tokens_of: Callable[[str], list[str]]) -> None:
        self._tokens_of = tokens_of
        self._kept: dict[NotePath, _KnownRows] = {}

    def rows_of(self, note: Note) -> list[PlacedRow]:
        """Return what the function of the same name does."""
        known = self._kept.pop(note.path, {})
        made: _KnownRows = {}
        rows = rows_of(note, self._tokens_of, known, made)
        if len(made) >= _MANY_ROWS:
            self._kept[note.path] = made
            while sum(map(len, self._kept.values())) > _MAX_KEPT_ROWS:
                del self._kept[next(iter(self._kept))]
        return rows


def rows_of(
    note: Note,
    tokens_of: Callable[[str], list[str]],
    known: _KnownRows | None = None,
    made: _KnownRows | None = None,
) -> list[PlacedRow]:
    """Return the rows of every chunk of *note* that a search may find, in order.

    Forgotten entries and chunks without a letter have none; nor has a memory that is
    forgotten as a whole.

    Args:
        note: The parsed note.
        tokens_of: What the full-text index makes of a text, for counting.
        known: Rows of chunks that were made before.
        made: Gathers the rows.
    """
    if is_forgotten(note.front_matter):
        return []
    title = _title_words(note)
    reason = _reason_words(note)
    rows: list[PlacedRow] = []
    for chunk, following in zip_longest(note.chunks, note.chunks[1:]):
        if chunk.provenance is not None and chunk.provenance.is_forgotten:
            continue
        if not chunk.body and not chunk.headings:
            continue
        # A long memory is found once by its reason, not once for each chunk.
        given = (title, "" if rows else reason, _is_title_of(chunk, following))
        _, before, placed = known.get(id(chunk), _UNKNOWN) if known else _UNKNOWN
        if placed is None or before != given:
            row = _row(chunk, *given, tokens_of)
            placed = PlacedRow(chunk.start_line, chunk.end_line, row)
        if made is not None:
            made[id(chunk)] = (chunk, given, placed)
        rows.append(placed)
    return rows


def _is_title_of(chunk: Chunk, following: Chunk | None) -> bool:
    """Return whether a chunk only has headings, and those of the next one begin so."""
    count = len(chunk.headings)
    return (
        following is not None
        and count > 0
        and chunk.headings == following.headings[:count]
        and has_only_headings(chunk.body)
    )


def _row(
    chunk: Chunk,
    title: str,
    reason: str,
    is_title: bool,  # noqa: FBT001
    tokens_of: Callable[[str], list[str]],
) -> ChunkRow:
    """Return the row of one chunk."""
    body, addresses = without_addresses(chunk.body)
    extra, subchunks = _extra_and_subchunks(body, tokens_of)
    if is_title:
        subchunks = _NO_PASSAGE
    if addresses:
        extra = f"{extra} {addresses}" if extra else addresses
    provenance = chunk.provenance
    breadcrumbs = " ".join((title, *chunk.headings))
    more = extra_terms(breadcrumbs)
    return ChunkRow(
        day=day_of_iso(provenance.at) if provenance else None,
        entry_id=provenance.id if provenance else None,
        headings="\n".join(chunk.headings),
        text=chunk.text,
        body=None if body == chunk.text else body,
        extra=extra,
        breadcrumbs=f"{breadcrumbs} {more}" if more else breadcrumbs,
        subchunks=subchunks,
        source=(shown_source(provenance.source) or None) if provenance else None,
        reason=reason,
        source_ref=(provenance.ref or None) if provenance else None,
        tags=(tag_lines(provenance.tags) or None) if provenance else None,
    )


def _extra_and_subchunks(
    body: str, tokens_of: Callable[[str], list[str]]
) -> tuple[str, bytes]:
    """Return the extra terms of a chunk, and the places of its subchunks in the tokens.

    Returns:
        The extra terms, space-separated; and unsigned 16-bit numbers, four for each
        subchunk: first and behind-last token in ``body``, the same in ``extra``. Empty
        for a chunk of one subchunk or too many, or of more tokens than 16 bits count.
    """
    subchunks = split_subchunks(body)
    least = 1 if any(map(is_only_links, subchunks)) else 2
    if not least <= len(subchunks) <= _MAX_SUBCHUNKS:
        return extra_terms(body), b""
    if body.isascii():
        return _places_in_ascii(body, subchunks)
    extras: list[str] = []
    bounds: list[int] = []
    at_char = at_body = at_extra = 0
    for subchunk in subchunks:
        start = body.find(subchunk, at_char)
        if start < 0:  # a subchunk is not a slice of the body: nothing to point at
            return extra_terms(body), b""
        gap = body[at_char:start]
        if gap and not gap.isspace():
            at_body += len(tokens_of(gap))
            more = extra_terms(gap)
            if more:
                extras.append(more)
                at_extra += len(tokens_of(more))
        more = extra_terms(subchunk)
        if more:
            extras.append(more)
        end_body = at_body + len(tokens_of(subchunk))
        end_extra = at_extra + (len(tokens_of(more)) if more else 0)
        bounds += _bounds(subchunk, at_body, end_body, at_extra, end_extra)
        at_char, at_body, at_extra = start + len(subchunk), end_body, end_extra
    return " ".join(extras), _packed(bounds)


def _places_in_ascii(body: str, subchunks: Sequence[str]) -> tuple[str, bytes]:
    """Return the same for a text in ASCII, whose words are counted by their kinds.

    Asked of the engine, they would take three times as long.
    """
    kinds, words = kinds_and_words(body.encode("ascii"))
    extras: list[str] = []
    bounds: list[int] = []
    at_char = at_body = 0
    for subchunk in subchunks:
        start = body.find(subchunk, at_char)
        if start < 0:
            return extra_terms(body), b""
        gap = kinds[at_char:start]
        if gap and not gap.isspace():
            count, parts = scan_kinds(gap, words[at_char:start])
            at_body += count
            extras += parts + signed_words(body[at_char:start])
        at_extra = len(extras)
        at_char = start + len(subchunk)
        count, parts = scan_kinds(kinds[start:at_char], words[start:at_char])
        extras += parts + signed_words(subchunk)
        end_body = at_body + count
        bounds += _bounds(subchunk, at_body, end_body, at_extra, len(extras))
        at_body += count
    return " ".join(extras), _packed(bounds)


def _bounds(
    subchunk: str, at_body: int, end_body: int, at_extra: int, end_extra: int
) -> tuple[int, int, int, int]:
    """Return the places of a subchunk; those of one that only links hold nothing.

    Its first token is behind its last one, so that no word counts for it.
    """
    if is_only_links(subchunk):
        return end_body, at_body, end_extra, at_extra
    return at_body, end_body, at_extra, end_extra


def _packed(bounds: list[int]) -> bytes:
    """Return places as the table has them, if 16 bits hold them all."""
    return b"" if max(bounds) > 0xFFFF else array("H", bounds).tobytes()


def _reason_words(note: Note) -> str:
    """Return why a memory replaced another, for the index.

    Its first line is what is shown; after that, terms that the tokenizer cannot find.
    """
    value = note.front_matter.get("reason")
    reason = (
        " ".join(value.split())[:_MAX_REASON_CHARS] if isinstance(value, str) else ""
    )
    more = extra_terms(reason)
    return f"{reason}\n{more}" if more else reason


def _title_words(note: Note) -> str:
    """Return what names a note: its path, and the titles and tags it gives itself."""
    # The id in the name of a superseded or pending memory says nothing: it would make
    # the breadcrumbs longer, by more or fewer tokens as its letters and digits fall.
    path = note.path.removesuffix(".md")
    words = [_ID.sub("", path) if "--" in path else path]
    if not note.front_matter:
        return words[0]
    for key in ("title", "key", "aliases", "tags"):
        value = note.front_matter.get(key)
        if isinstance(value, str):
            words.append(value)
        elif isinstance(value, list):
            words += [item for item in value if isinstance(item, str)]
    return " ".join(words)
