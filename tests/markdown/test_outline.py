"""Where the blocks of a text lie: our own rules against the library's."""

from __future__ import annotations

import re
from itertools import accumulate

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from hivemind_memory.markdown.note_parser import join_chunks, outline_of, parse_note
from hivemind_memory.markdown.outline import Outline, ParsedLines, is_too_dense, scan
from hivemind_memory.markdown.text import split_lines
from hivemind_memory.model.note_path import NotePath
from tests.support.markdown_texts import COMMENT, markdown
from tests.support.tiers import examples
from tests.support.waiting import without_hanging

STOCK = MarkdownIt("commonmark", {"maxNesting": 500}).enable("table")
WHOLE = {"fence", "code_block", "html_block", "table_open"}
# An item of a list is an item, also where the library makes it the head of a table.
ITEM_AS_TABLE = re.compile(r"(?:[-*+]|[0-9][.)])[ \t].*\|")


def page_of(text: str) -> ParsedLines:
    """Return a text with its lines."""
    lines = split_lines(text)
    starts = accumulate(map(len, lines), lambda at, size: at + size + 1, initial=0)
    return ParsedLines(text=text, lines=lines, starts=list(starts))


def outline_by_the_library(text: str) -> Outline:
    """Return the outline that markdown-it's own rules find, without blocks."""
    headings, wholes = [], []
    tokens = STOCK.parse(text.removesuffix("\n") + "\n")
    for token, inline in zip(tokens, tokens[1:] + tokens[:1], strict=True):
        if token.map is None:
            continue
        if token.type == "heading_open" and token.level == 0:
            title = " ".join(inline.content.split())
            headings.append((*token.map, int(token.tag[1]), title))
        if token.type in WHOLE:
            wholes.append((token.map[0], token.map[1]))
    return Outline((), wholes, headings)


@settings(max_examples=examples(400))
@given(markdown(max_lines=14))
def test_our_rules_find_what_the_library_finds(text: str) -> None:
    """They are there for their speed; CommonMark is the library's business."""
    if ITEM_AS_TABLE.search(text):
        return
    page = page_of(text)

    found = outline_of(page, 0, len(page.lines))

    expected = outline_by_the_library(text)
    assert [tuple(heading) for heading in found.headings] == expected.headings
    assert list(found.wholes) == expected.wholes


def test_an_item_of_a_list_is_not_the_head_of_a_table() -> None:
    """GitHub reads it so, and nobody means the other."""
    page = page_of("- a | b\n---|---\n")

    assert outline_of(page, 0, 2).wholes == []


@pytest.mark.parametrize(
    "line", ["a " * 2_000, "<!-- " + "x" * 2_000 + " -->", "```" + " x" * 900 + "```"]
)
def test_a_very_long_line_is_read_by_its_beginning_and_its_marks(line: str) -> None:
    """The parser sees little of it, but not so little that it takes it for another."""
    page = page_of(f"{line}\n\n# a\n")

    [heading] = outline_of(page, 0, 3).headings

    assert heading.line == 2


def test_nesting_without_end_is_one_block_and_no_more() -> None:
    """What comes after it is still seen."""
    deep = "".join("  " * depth + "- a\n" for depth in range(60))

    page = page_of(f"{deep}\n# a\n\n{'> ' * 90}b\n\n# c\n")

    assert len(outline_of(page, 0, len(page.lines)).headings) == 2


@pytest.mark.parametrize(
    "line", ["> a", "- # b", "|", "-", "# a", "", "- > - > a", "1."]
)
def test_a_text_that_would_keep_the_parser_busy_is_scanned(line: str) -> None:
    """A megabyte of such lines would take it half a minute."""
    page = page_of(f"{line}\n" * 10_000)

    assert is_too_dense(page, 0, 10_000)


@pytest.mark.parametrize(
    "text",
    [
        "> a\n" * 100,
        "A line of prose as people write it.\n" * 10_000,
        "- buy milk\n" * 10_000,
        "## Section\n\nA paragraph of one line, and not a long one.\n\n" * 3_000,
        "| name | value | what it is for |\n" * 5_000,
        "```sh\npip install something\nthe-thing --run\n```\n\nIt prints.\n\n" * 3_000,
    ],
)
def test_ordinary_notes_are_parsed_however_long(text: str) -> None:
    """The scan is rough; only what is not an ordinary note may meet it."""
    page = page_of(text)

    assert not is_too_dense(page, 0, len(page.lines))


def test_the_scan_knows_headings_fences_and_items() -> None:
    """Enough to cut by, and to name where a hit stands."""
    text = "# a #\ntext\n```\n# no\n\n\n# no\n```\n### b\r\n- c\n- d\n\n    # no\n"
    text += "~~~\n# no"
    page = page_of(text)

    outline = scan(page, 0, len(page.lines))

    assert [tuple(heading) for heading in outline.headings] == [
        (0, 1, 1, "a"),
        (8, 9, 3, "b"),
    ]
    assert outline.wholes == [(2, 8), (13, 15)]
    assert {9, 10, 12} <= {line for line, _ in outline.blocks}


def repeated(text: str) -> str:
    """Return a megabyte of *text*."""
    return text * (1_000_000 // len(text.encode()))


HARD = {
    "one line": repeated("word "),
    "one word": repeated("x"),
    "quotes in a line": repeated(">"),
    "lists in a line": repeated("- "),
    "brackets": repeated("["),
    "bracket lines": repeated("[\n"),
    "definitions": repeated("[a]: b\n"),
    "untitled definitions": repeated("[a]: /u '\n"),
    "quoted lines": repeated("> > > > > > a\n"),
    "lazy quotes": repeated("> a\nb\n"),
    "lists in quotes": repeated("- > - > - > - > a\n"),
    "stairs": repeated("".join("  " * depth + "- a\n" for depth in range(40))),
    "empty items": repeated("-\n"),
    "fences": repeated("```\n~~~\n"),
    "an open fence": "```\n" + repeated("# code\n"),
    "headings": repeated("# a\n"),
    "an endless setext heading": repeated("a\n") + "===\n",
    "blank lines": repeated("\n"),
    "spaces": repeated(" "),
    "gaps": repeated("a\n\n\n"),
    "open tags": repeated("<a b='c'\n"),
    "open comments": repeated("<!--\n"),
    "wide tables": repeated(f"|{'a|' * 300}\n|{'-|' * 300}\n" + "a\n" * 500 + "\n"),
    "heads of tables": repeated("|a|\n|-|\n"),
    "rules": repeated("---\n"),
    "entries": repeated(f"{COMMENT}\na\n\n"),
    "front matter": "---\n" + "a: [\n" * 10_000 + "---\n" + repeated("a\n"),
    "marks": "e" + repeated("\u0301"),
    "carriage returns": repeated("\r"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_a_hostile_megabyte_takes_time_in_proportion(text: str) -> None:
    """A second each on a quiet machine; whatever is quadratic would take an hour."""
    note = without_hanging(
        lambda: parse_note(NotePath("a.md"), text.encode(), limit_chars=800)
    )

    assert join_chunks(note.chunks) == text.removesuffix("\n")
