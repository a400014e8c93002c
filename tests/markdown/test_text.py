"""Bytes to text, and what a line is."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.markdown import text as text_module
from hivemind_memory.markdown.text import (
    decode,
    encodable,
    is_blank,
    plain,
    split_lines,
)


@given(st.binary(max_size=200))
def test_any_bytes_are_text_that_can_be_written_again(data: bytes) -> None:
    """A lone surrogate would only fail later, in a log, a prompt or the index."""
    text = decode(data)

    assert text.encode("utf-8").decode("utf-8") == text


@given(st.text(max_size=100))
def test_sound_utf_8_is_kept_as_it_is(text: str) -> None:
    """Joined, the chunks are the file: nothing may be normalised on the way."""
    assert decode(text.encode()) == text.removeprefix("\ufeff")


def test_only_one_byte_order_mark_is_left_out() -> None:
    """The second is a character of the note, if an odd one."""
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbf# a") == "\ufeff# a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("caf\u00e9 \U0001f600", "caf\u00e9 \U0001f600"),
        ("a\ud800b", "a\ufffdb"),
        ("\udc80", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ufeffa\udfff", "\ufeffa\ufffd"),
    ],
)
def test_lone_surrogates_are_replaced_and_pairs_joined(
    text: str, expected: str
) -> None:
    """JSON from a client may hold either."""
    assert encodable(text) == expected


@given(st.text(st.characters(codec=None), max_size=50))
def test_whatever_a_client_sends_can_be_encoded(text: str) -> None:
    """A write that fails half-way would be worse than a replaced character."""
    encodable(text).encode("utf-8")


@given(st.text("ab\n\r\x0b\x0c\x1c\x85\u2028\u2029 ", max_size=40))
def test_lines_end_at_newlines_and_nowhere_else(text: str) -> None:
    """str.splitlines knows ten line ends, which no editor and no grep counts."""
    lines = split_lines(text)

    assert "\n".join(lines) == text.removesuffix("\n")
    assert len(lines) == text.count("\n") + (not text.endswith("\n") and text != "")


def test_blank_is_what_markdown_calls_blank() -> None:
    """A no-break space is a character to Markdown, and paragraphs hold it."""
    assert [is_blank(line) for line in ("", " \t\r", "\u00a0", "\x0c")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("\n\n    code\n\n", "    code"),
        ("a\r\nb\r\n", "a\nb"),
        ("a\rb", "a\nb"),
        ("a\0b", "a\ufffdb"),
    ],
)
def test_what_is_searched_is_clean_at_its_edges(text: str, expected: str) -> None:
    """A NUL would end the text for SQLite's own string functions."""
    assert plain(text) == expected


def test_the_examples_of_the_module_hold() -> None:
    """They are read before the code is."""
    assert doctest.testmod(text_module).failed == 0
