"""The bullets and paragraphs of a chunk's body."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.markdown import long_chunks
from hivemind_memory.markdown.subchunks import split_subchunks

ATOMS = st.sampled_from(
    [
        *("text", "- a", "  - b", "1. c", "", "```", "```py", "~~~", "# h", "---"),
        *(
            "===",
            "|x|",
            " ",
            "    d",
            "> q",
            "日本語。",
            "-",
            "***",
            "\u00a0",
            "`` ` ``",
        ),
    ]
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", []),
        (" \n\t\n", []),
        ("one", ["one"]),
        ("one\ntwo", ["one\ntwo"]),
        ("one\n\ntwo", ["one", "two"]),
        ("- a\n- b", ["- a", "- b"]),
        ("* a\n+ b\n1. c\n2) d", ["* a", "+ b", "1. c", "2) d"]),
        ("- a\n  more\n- b", ["- a\n  more", "- b"]),
        ("- a\n  - b\n    - c", ["- a", "  - b", "    - c"]),
        ("- [x] done\n- [ ] open", ["- [x] done", "- [ ] open"]),
        ("intro:\n- a\n- b\n\nend", ["intro:", "- a", "- b", "end"]),
        ("## head\n\ntext", ["text"]),
        ("#tag text", ["#tag text"]),
        ("Title\n===\ntext", ["text"]),
        ("text\n\n---\n\nmore", ["text", "more"]),
        ("two\nlines\n---\nmore", ["two\nlines", "more"]),
        ("- a\n---\n- b", ["- a", "- b"]),
        ("-5 degrees\n1.5 litres", ["-5 degrees\n1.5 litres"]),
        ("```sh\n# c\n\n- x\n```\nafter", ["```sh\n# c\n\n- x\n```", "after"]),
        ("~~~\n```\n~~~", ["~~~\n```\n~~~"]),
        ("````\n```\n````", ["````\n```\n````"]),
        ("run\n```\nmake\n```", ["run", "```\nmake\n```"]),
        ("```py\na = 1\n\nb = 2", ["```py\na = 1\n\nb = 2"]),
        ("code()\n```\n\nafter\n\nmore", ["code()", "\nafter", "more"]),
        ("```inline``` text\nmore", ["```inline``` text\nmore"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |\n|---|---|\n| 1 | 2 |"]),
        ("> one\n> two\n\n> three", ["> one\n> two", "> three"]),
        ("一行。\n二行。", ["一行。\n二行。"]),
        ("## only a heading", ["## only a heading"]),
        ("---", ["---"]),
    ],
)
def test_a_body_falls_into_its_bullets_and_paragraphs(
    body: str, expected: list[str]
) -> None:
    """A chunk is found by its best subchunk, so a subchunk is what one remark takes."""
    assert [subchunk.strip("\n") for subchunk in split_subchunks(body)] == [
        subchunk.strip("\n") for subchunk in expected
    ]


@given(st.lists(ATOMS, max_size=14).map("\n".join))
def test_units_are_lines_of_the_body_in_order(body: str) -> None:
    """Nothing is made up, repeated or moved."""
    lines = iter(body.split("\n"))

    for subchunk in split_subchunks(body):
        for line in subchunk.split("\n"):
            assert line in lines


@given(st.lists(ATOMS, max_size=14).map("\n".join))
def test_every_item_of_a_list_is_in_a_unit(body: str) -> None:
    """What is in no subchunk is found by the chunk alone, and ranked too low."""
    items = {"a", "b", "c"}

    found = " ".join(split_subchunks(body)).split()

    assert items & set(body.split()) <= set(found)


@given(st.text(max_size=80))
def test_a_body_that_is_not_blank_has_a_unit(body: str) -> None:
    """Every chunk that is indexed has a second level."""
    assert bool(split_subchunks(body)) == bool(body.strip())


def test_the_examples_of_the_module_hold() -> None:
    """They are read before the code is."""
    assert doctest.testmod(long_chunks).failed == 0
