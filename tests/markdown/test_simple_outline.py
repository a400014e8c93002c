"""The outline that needs no parser, against the library's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.markdown.note_parser import outline_of
from hivemind_memory.markdown.sections import chunks_of, whole_chunk
from hivemind_memory.markdown.simple_outline import MAX_CHARS, simple_outline
from hivemind_memory.markdown.text import split_lines
from tests.markdown.test_outline import (
    ITEM_AS_TABLE,
    outline_by_the_library,
    page_of,
)
from tests.support.markdown_texts import markdown
from tests.support.tiers import examples

PIECES = (
    *("#", "## ", "# a", "### b c ", "#tag", "#! ", "####### x", "# a #", "#\tx"),
    *("- ", "* ", "+ ", "1. ", "2) ", "12. x", "-x", "-", "--", "---", "***", "==="),
    *("a", "word", "Über ", "[ ] ", "[[x]]", "[x]: y", "`", "``", "```", "~", "~~~"),
    *("|", "a | b", "-|-", ":-:", ">", "<b>", "    ", "  ", "\t", "_", "__x", "**b**"),
    *(".", "(", "$", "\\", "{", "&amp;", "\r", "\0", "\x0b", "\u2028", "\xa0", ""),
)
LINES = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)
TEXTS = st.lists(LINES, min_size=1, max_size=8).map("\n".join)


@settings(max_examples=examples(1500))
@given(TEXTS | markdown(max_lines=14))
def test_what_it_takes_has_the_outline_that_the_library_finds(text: str) -> None:
    page = page_of(text)

    found = simple_outline(page, 0, len(page.lines))

    if found is None or ITEM_AS_TABLE.search(text):
        return
    expected = outline_by_the_library(text)
    assert [tuple(heading) for heading in found.headings] == expected.headings
    assert list(found.wholes) == expected.wholes == []


def test_it_takes_headings_prose_and_plain_lists() -> None:
    """Or it would be right about nothing."""
    page = page_of("# Ports\n\nThe **web** listens here.\n\n- web: 80\n1. db\n## End\n")

    found = simple_outline(page, 0, len(page.lines))

    assert found is not None
    assert [(one.line, one.level, one.title) for one in found.headings] == [
        (0, 1, "Ports"),
        (6, 2, "End"),
    ]


def test_a_long_text_and_half_a_fence_are_left_to_the_parser() -> None:
    for text in ("a\n" * MAX_CHARS, "text\n\n```\n# no heading\n", "Title\n=====\n"):
        page = page_of(text)

        assert simple_outline(page, 0, len(page.lines)) is None


@settings(max_examples=examples(1500))
@given(TEXTS | markdown(max_lines=14), st.sampled_from((1, 20, 800)))
def test_a_short_note_cut_in_one_step_is_the_chunk_that_it_is_cut_into(
    text: str, limit_chars: int
) -> None:
    """Most notes are; the other way stays for all that have more to tell."""
    lines = split_lines(text)
    found = whole_chunk(text, lines, limit_chars) if lines else None

    if found is None:
        return
    assert [found] == list(
        chunks_of(text, lines, 0, outline_of, limit_chars=limit_chars, overlap_chars=80)
    )


def test_most_notes_are_cut_in_one_step() -> None:
    """What the property above says must not be said of nothing."""
    for text in (
        "# Cranes\n\nA crane is tall.\n- grey\n",
        "Only prose.",
        "#### a\nb\n",
    ):
        assert whole_chunk(text, split_lines(text), 800) is not None
