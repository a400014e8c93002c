"""A front matter as text: what is written is what is read, what is left stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.markdown.front_matter import (
    blocks_of,
    render_header,
    split_front_matter,
    with_values,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NUMBERS = st.floats(0, 1).map(lambda number: round(number, 4))
ITEMS = TEXTS | st.fixed_dictionaries({"id": TEXTS, "weight": NUMBERS})
VALUES = TEXTS | st.booleans() | NUMBERS | st.lists(ITEMS, min_size=1, max_size=4)


@given(st.dictionaries(st.sampled_from(["id", "key", "tags", "by"]), VALUES))
def test_what_is_written_is_what_is_read(values: dict[str, object]) -> None:
    """For any text at all: controls, quotes, numbers in disguise, line ends."""
    front = split_front_matter(f"{render_header(values)}text\n")

    told = {key: value for key, value in values.items() if value not in ("", [])}
    assert not front.is_broken
    assert front.values == told


@pytest.mark.parametrize(
    "text",
    [
        *("true", "No", "null", "~", "1", "01", "1.5", "1e3", "0x1F", "-", "- a"),
        *("a: b", "a #b", "#a", "[a]", "{a}", "&a", "*a", "!a", "|", ">", "%a", "@a"),
        *("`a", '"a"', "'a'", "a\\b", "a\nb", "\0", "\x7f", "\x80", "\x85", "\x9f"),
        *("\u2028", "\ufeff", "\ufffe", "a ", " a", "---", "...", "=", "<<", "?"),
        *("2026-11-21", "12:30:45", "01ARYZ6S410000000000000000", "Привет, мир"),
        *("0123456789012345678901234E", "a,b", "a, b]", "𝄞"),
    ],
)
def test_a_text_stays_a_text_for_us_and_for_other_readers(text: str) -> None:
    """YAML takes much for what it is not."""
    import yaml

    header = render_header({"key": text, "tags": [text, text]})

    assert split_front_matter(header).values == {"key": text, "tags": [text, text]}
    if text != "2026-11-21":  # a date, for readers of YAML 1.1
        block = header.removeprefix("---\n").removesuffix("---\n")
        assert yaml.safe_load(block) == {"key": text, "tags": [text, text]}


NOTE = """---
# a comment
id: one   # and another
tags:
  - a

  - b
related:
- x
long: |
  first

  ---- second
type: lesson
---
---
id: not this
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_lines_of_the_named_keys_change(newline: str) -> None:
    """Whatever stands between and behind them."""
    changed = with_values(
        NOTE.replace("\n", newline),
        {"id": "two", "tags": None, "long": "x: y", "related": ["z"], "new": True},
    )

    assert changed == (
        "---\n# a comment\nid: two\nrelated: [z]\n"
        'long: "x: y"\ntype: lesson\nnew: true\n---\n---\nid: not this\n'
    ).replace("\n", newline)


@pytest.mark.parametrize(
    "text",
    [
        "free text",
        "---\nid: [\n---\n",
        "---\n{id: one, type: lesson}\n---\n",
        '---\n"id": one\n---\n',
        "---\ntags: [a,\nb]\nid: one\n---\n",
        "---\nid: one\nid: two\n---\n",
        "---\n? id\n: one\n---\n",
    ],
)
def test_what_has_no_line_for_each_key_is_refused(text: str) -> None:
    """Better no change than a broken front matter."""
    with pytest.raises(ValueError, match="front matter"):
        with_values(text, {"id": None, "tags": None})


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3),
    st.dictionaries(st.sampled_from(["b", "c", "d"]), st.none() | VALUES, max_size=3),
    TEXTS,
)
def test_a_change_sets_what_it_names_and_keeps_the_rest(
    before: dict[str, object], changes: dict[str, object], body: str
) -> None:
    """In any order, as often as one likes."""
    text = f"{render_header(before)}{body}"
    if not before:
        text = f"---\nz: 1\n---\n{body}"

    once = with_values(text, changes)

    front = split_front_matter(once)
    wanted = {**split_front_matter(text).values, **changes}
    assert front.values == {
        key: value for key, value in wanted.items() if value is not None
    }
    assert once.endswith(f"\n---\n{body}")
    assert with_values(once, changes) == once


def test_the_parts_of_a_front_matter_are_told_in_order() -> None:
    """Comments belong to nobody and are there."""
    parts = blocks_of(NOTE)

    assert [key for key, _ in parts] == ["", "id", "tags", "related", "long", "type"]
    assert parts[2] == ("tags", ["tags:", "  - a", "", "  - b"])
    assert blocks_of("free text") == []
    assert [line for _, lines in parts for line in lines] == NOTE.split("\n")[1:14]


def test_a_number_has_no_more_digits_than_it_needs() -> None:
    """0.1 is 0.1."""
    assert (
        render_header({"a": 0.1, "b": 1.0, "c": 3}) == "---\na: 0.1\nb: 1\nc: 3\n---\n"
    )
