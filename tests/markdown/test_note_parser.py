"""Any bytes to a note and its chunks: where chunks start, and that nothing is lost."""

from __future__ import annotations

import doctest
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hivemind_memory.markdown import note_parser
from hivemind_memory.markdown.note_parser import chunk_note, join_chunks, parse_note
from hivemind_memory.markdown.text import decode, split_lines
from hivemind_memory.model.note import Chunk
from hivemind_memory.model.note_path import NotePath
from tests.support.markdown_texts import COMMENT, markdown

CASES = json.loads(
    Path(__file__)
    .parents[2]
    .joinpath("fixtures/markdown_cases.json")
    .read_text("utf-8")
)
NOTE = NotePath("note.md")
ODD_LINES = (
    COMMENT,
    "x" * 70,
    "A sentence. " * 9,
    "\r",
    "a\rb",
    "\0",
    "\u2028",
    "\x0c",
)
LIMITS = st.integers(1, 90)


def starts_of(text: str) -> list[int]:
    """Return the first lines of the chunks of a short text."""
    return [chunk.start_line for chunk in chunk_note(text, limit_chars=800)]


def bodies_of(
    text: str, *, limit_chars: int = 800, overlap_chars: int = 0
) -> list[str]:
    """Return the bodies of the chunks of a text."""
    chunks = chunk_note(text, limit_chars=limit_chars, overlap_chars=overlap_chars)
    return [chunk.body for chunk in chunks]


def check_whole(text: str, chunks: tuple[Chunk, ...], limit: int) -> None:
    """Check all that holds for the chunks of any text."""
    lines = split_lines(text)
    assert join_chunks(chunks) == text.removesuffix("\n")
    assert all(len(chunk.text) <= limit for chunk in chunks)
    ends = [0, *(chunk.end_line for chunk in chunks)]
    for end, chunk in zip(ends, chunks, strict=False):
        is_cut_within = chunk.start_line == end
        assert is_cut_within or chunk.start_line == end + 1
        assert not is_cut_within or len(lines[end - 1]) > limit
        assert chunk.start_line <= chunk.end_line
    assert ends[-1] == len(lines)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_note_falls_into_these_chunks(case: dict[str, object]) -> None:
    """Each case is a rule of the note format, or a trap that looks like one."""
    text = str(case["text"])

    chunks = chunk_note(text, limit_chars=800)

    found = [
        [chunk.start_line, chunk.end_line, list(chunk.headings)] for chunk in chunks
    ]
    assert found == case["chunks"]
    check_whole(text, chunks, 800)


@given(markdown(also=ODD_LINES), LIMITS)
def test_chunks_are_the_note_cut_into_pieces(text: str, limit: int) -> None:
    """In order, disjoint, covering, short enough, and joined the very text."""
    chunks = chunk_note(text, limit_chars=limit)

    check_whole(text, chunks, limit)


@given(st.text("ab #-`~>|\n\r\t.。\u0301\u200d", max_size=150), LIMITS)
def test_random_characters_are_cut_as_well(text: str, limit: int) -> None:
    """What no list of examples thinks of."""
    check_whole(text, chunk_note(text, limit_chars=limit), limit)


@given(st.binary(max_size=200) | markdown().map(str.encode), LIMITS)
def test_any_bytes_are_a_note(data: bytes, limit: int) -> None:
    """Broken UTF-8, NUL and half a file are notes: one bad file hides no other."""
    note = parse_note(NOTE, data, limit_chars=limit)

    check_whole(decode(data), note.chunks, limit)
    assert note.line_count == len(split_lines(decode(data)))


@given(markdown())
def test_headings_and_starts_are_those_of_the_library(text: str) -> None:
    """The same breadcrumbs as one computed from markdown-it's tokens, the simple
    way."""
    if text.startswith("---") or "|" in text:
        return
    breadcrumbs_of: dict[int, tuple[str, ...]] = {}
    breadcrumbs: list[tuple[int, str]] = []
    tokens = MarkdownIt("commonmark", {"maxNesting": 99}).parse(text)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.tag < "h4":
            assert token.map is not None
            breadcrumbs = [
                above for above in breadcrumbs if above[0] < int(token.tag[1])
            ]
            breadcrumbs.append((int(token.tag[1]), " ".join(inline.content.split())))
            breadcrumbs_of[token.map[0] + 1] = tuple(
                title for _, title in breadcrumbs if title
            )

    chunks = chunk_note(text, limit_chars=800)

    starts = {chunk.start_line for chunk in chunks}
    lead = len(text) - len(text.lstrip(" \t\n"))
    first = text.count("\n", 0, lead) + 1
    assert {line for line in breadcrumbs_of if line > first} <= starts
    for chunk in chunks:
        above = [line for line in breadcrumbs_of if line <= chunk.end_line]
        breadcrumbs_here = breadcrumbs_of[max(above)] if above and chunk.body else ()
        assert chunk.headings == breadcrumbs_here


def test_the_heading_is_in_its_chunk_and_in_its_breadcrumbs() -> None:
    """A snippet shows it, and the index finds it in every chunk below."""
    [_, chunk] = chunk_note("# Ports\n\n## Web\n\n80 and 443\n", limit_chars=800)

    assert chunk.text == "## Web\n\n80 and 443"
    assert chunk.headings == ("Ports", "Web")


def test_a_setext_heading_of_a_whole_page_is_repeated_only_in_part() -> None:
    """It would be in every chunk below it: the index would grow with the square."""
    note = "word\n" * 2_000 + "===\n\n" + "text\n" * 2_000

    chunks = chunk_note(note, limit_chars=800)

    assert max(len(title) for chunk in chunks for title in chunk.headings) == 200


def test_what_is_searched_is_clean() -> None:
    """Comments are provenance; carriage returns and NUL are nobody's words."""
    note = f"\r\n{COMMENT}\r\n\r\n    make\0\r\nrun\r\n\r\n"

    [chunk] = chunk_note(note, limit_chars=800)

    assert chunk.body == "    make\ufffd\nrun"
    assert chunk.text.endswith("run\r\n\r")
    assert chunk.provenance is not None
    assert chunk.provenance.id == "01JDK3R8Z60000000000000000"


def test_front_matter_is_covered_and_not_searched() -> None:
    """A snippet of YAML answers no question; its values are in the note."""
    note = parse_note(
        NOTE, b"\xef\xbb\xbf---\ntitle: x\n---\n\ntext\n", limit_chars=800
    )

    assert [chunk.body for chunk in note.chunks] == ["", "text"]
    assert note.front_matter == {"title": "x"}
    assert note.line_count == 5
    assert not note.has_broken_front_matter


def test_broken_front_matter_is_searched_as_text() -> None:
    """What a person wrote can be found, however they wrote it."""
    note = parse_note(NOTE, b"---\ntitle: [x\n---\ntext\n", limit_chars=800)

    assert note.has_broken_front_matter
    assert "title" in "".join(chunk.body for chunk in note.chunks)


def test_long_front_matter_is_cut_like_text() -> None:
    """The limit holds for every chunk."""
    note = "---\n" + "key: value\n" * 20 + "---\ntext\n"

    check_whole(note, chunk_note(note, limit_chars=50), 50)
    assert [body for body in bodies_of(note, limit_chars=50) if body] == ["text"]


def test_a_forgotten_entry_is_known_as_one() -> None:
    """Its lines stay where they are; the index leaves them out."""
    forgotten = COMMENT.replace(" -->", " forgotten=2026-12-01T09:00:00Z -->")

    person, entry = chunk_note(f"mine\n\n{forgotten}\nold\n", limit_chars=800)

    assert person.provenance is None
    assert entry.provenance is not None
    assert entry.provenance.is_forgotten


def test_every_chunk_of_a_long_entry_belongs_to_it() -> None:
    """Forgetting the entry must reach all of it."""
    note = f"{COMMENT}\n## a\n\n" + "text\n\n" * 50 + "\n## b\n\ntext\n"

    chunks = chunk_note(note, limit_chars=100)

    assert len(chunks) > 3
    assert {chunk.provenance and chunk.provenance.source for chunk in chunks} == {
        "agent"
    }


def test_a_line_that_is_cut_goes_on_in_the_next_chunk() -> None:
    """Notes written without line breaks hold paragraphs of any length."""
    note = "# a\n\n" + "A short sentence. " * 10 + "\nend\n"

    chunks = chunk_note(note, limit_chars=100)

    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [
        (1, 3),
        (3, 4),
    ]
    assert join_chunks(chunks) == note.removesuffix("\n")


def test_the_overlap_repeats_whole_lines_where_length_cut() -> None:
    """A remark that was cut can be found from either side."""
    note = "one\ntwo\nthree\nfour\n\n\nfive\n"

    assert bodies_of(note, limit_chars=9, overlap_chars=5) == [
        "one\ntwo",
        "two\nthree",
        "three\nfour",
        "five",
    ]
    assert bodies_of(note, limit_chars=9) == ["one\ntwo", "three", "four", "five"]


@given(markdown(also=ODD_LINES), LIMITS, st.integers(1, 40))
def test_the_overlap_changes_bodies_only(text: str, limit: int, overlap: int) -> None:
    """What is shown and counted stays exact."""
    plain = chunk_note(text, limit_chars=limit)

    repeated = chunk_note(text, limit_chars=limit, overlap_chars=overlap)

    assert [chunk.text for chunk in repeated] == [chunk.text for chunk in plain]
    for one, two in zip(plain, repeated, strict=True):
        assert two.body.endswith(one.body)
        assert len(two.body) <= len(one.body) + overlap + 1


def test_a_limit_below_one_is_refused() -> None:
    """No text could be cut by it."""
    with pytest.raises(ValueError, match="limit_chars"):
        chunk_note("text", limit_chars=0)


def test_a_text_of_nothing_but_starts_is_cut_by_length() -> None:
    """A megabyte of tiny headings would be a quarter of a million chunks."""
    note = "# a\n" * 5_000

    chunks = chunk_note(note, limit_chars=800)

    check_whole(note, chunks, 800)
    assert len(chunks) < 50
    assert starts_of("# a\n" * 500) == list(range(1, 501))


def test_the_examples_of_the_module_hold() -> None:
    """They are read before the code is."""
    assert doctest.testmod(note_parser).failed == 0
