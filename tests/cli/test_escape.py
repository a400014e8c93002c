"""Nothing in a note steers a terminal or hides from a reader."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.model.escape import (
    escape_for_pipe,
    escape_for_terminal,
    escape_json,
    escape_line,
)

ANY_TEXT = st.text(
    st.characters(min_codepoint=0, max_codepoint=0x10FFFF), max_size=40
) | st.text(st.sampled_from("a\x1b\x07\x9b\u202e\u200b\u200d\ufeff\U000e0041\n\té👩"))


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("a\rb", r"a\x0db"),
        ("a\x08b", r"a\x08b"),
        ("user\u202eexe.md", r"user\u202eexe.md"),
        ("pay\u200bpal", r"pay\u200bpal"),
        ("a\u200db", r"a\u200db"),
        ("\U000e0041", r"\U000e0041"),
        ("\udcff", r"\udcff"),
    ],
)
def test_what_steers_or_hides_is_shown(hostile: str, shown: str) -> None:
    """A person sees that something is there, and what."""
    assert escape_for_terminal(hostile) == shown


def test_what_people_write_stays_as_it_is() -> None:
    """Emoji of several parts and Persian words need their joiners."""
    text = "👩\u200d💻 می\u200cخواهم\tकर्म\nnaïve 東京 ❤️"

    assert escape_for_terminal(text) == text


def test_line_ends_of_windows_are_plain_line_ends() -> None:
    """Else every line of such a note would end in rubbish."""
    assert escape_for_terminal("a\r\nb") == escape_for_pipe("a\r\nb") == "a\nb"


@given(ANY_TEXT)
def test_no_control_character_reaches_a_terminal(text: str) -> None:
    """Whatever a note holds."""
    shown = escape_for_terminal(text)

    kinds = {unicodedata.category(char) for char in shown if char not in "\n\t"}
    assert not kinds & {"Cc", "Cs", "Zl", "Zp"}
    assert not set(shown) & set("\u202a\u202e\u2066\u200b\ufeff")


@given(ANY_TEXT)
def test_a_name_stays_on_one_line(text: str) -> None:
    """Else a file name could forge a line of output."""
    assert len(escape_line(text).splitlines()) <= 1


@given(st.recursive(ANY_TEXT | st.integers(), st.lists))
def test_json_keeps_its_value(value: object) -> None:
    """Escaped is not changed."""
    text = escape_json(json.dumps(value, ensure_ascii=False))

    written = text.encode("utf-8", "backslashreplace").decode()
    assert json.loads(written) == value
    assert "\x9b" not in written
