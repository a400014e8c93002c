"""A simple front matter means the same without the parser."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.markdown.front_matter import (
    _document,
    _RefusedError,
)
from hivemind_memory.markdown.simple_front_matter import MAX_CHARS, simple_values
from tests.support.tiers import examples

WORDS = st.sampled_from(
    (
        *("no", "null", "~", "True", "0", "-0", "007", "1.50", "-.5", "1e3", "0x1F"),
        *("2026-01-31", "2026-01-31T10:00:00+02:00", "2026-01-31T10:", "12:30:00"),
        *("01HZX3K7Q8M9N2P4R6S8T0V1W3", "12345678901234567890", "a: b", "a #b", "a#b"),
        *("https://x.org/a?b", "https://x.org/a", "- a", "-a", "a - b", "it's", "'a'"),
        *('"a, b"', '"a: #b"', '"a\\n"', '""', '"a"b', "[", "]", "[]", "{a: b}", "&a"),
        *("*a", "!a", "|", ">", "%a", "@a", "`a`", "a, b", "a,b", "a:", ":", "?", "<<"),
        *("straße", "東京", "a\u2028b", "a\u00a0b", "a\tb", "\x85", "e\u0301", "---"),
    )
)
TEXTS = st.text(st.sampled_from("ab0.-+:,'\"[]{}#~ /_()\t"), max_size=8)
ITEMS = st.one_of(WORDS, TEXTS)
LISTS = st.builds(
    lambda items, comma: f"[{comma.join(items)}]",
    st.lists(ITEMS, max_size=4),
    st.sampled_from((", ", ",", " ,")),
)
KEYS = st.sampled_from(("type", "tags", "a-b", "_x", "null", "y", "1a", "a b", "", "é"))
LINES = st.builds(
    lambda key, colon, value, end: f"{key}{colon}{value}{end}\n",
    KEYS,
    st.sampled_from((": ", ":", ":  ")),
    st.one_of(ITEMS, LISTS),
    st.sampled_from(("", " ", "\t", " # x")),
)
SOURCES = st.lists(
    st.one_of(LINES, st.sampled_from(("\n", "- a\n", "  a\n"))), max_size=5
)


def parsed(source: str) -> object:
    """Return what the parser finds; a text if it refuses the source."""
    try:
        return _document(yaml.parse(source, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, _RefusedError):
        return "refused"


@settings(max_examples=examples(2000))
@given(SOURCES.map("".join))
def test_what_is_taken_is_what_the_parser_finds(source: str) -> None:
    values = simple_values(source)

    if values is not None:
        found = parsed(source)
        assert found == values
        assert repr(found) == repr(values)  # 1 is not True


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("title: Global memory\ntags: [ci, build, 3]\n", 2),
        ("id: 01HZX3K7Q8M9N2P4R6S8T0V1W3\ncreated: 2026-01-31T10:00:00+02:00\n", 2),
        ('type: lesson\nimportance: 0.7\npinned: true\nkey: "a: b"\nrelated: []\n', 5),
        ("source: https://x.org/a\nnote:\n", 2),
    ],
)
def test_what_most_notes_have_is_taken(source: str, values: int) -> None:
    """To load the parser takes longer than to read them."""
    found = simple_values(source)

    assert found == parsed(source)
    assert len(found or ()) == values


def test_a_long_block_is_left_to_the_parser() -> None:
    """Which bounds how many values a block may have."""
    assert simple_values("a: b\n" * MAX_CHARS) is None
