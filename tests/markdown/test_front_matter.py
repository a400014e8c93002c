"""The block at the top of a note: read, and never believed too far."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.markdown.front_matter import MAX_CHARS, split_front_matter

LINES = st.sampled_from(
    [
        "---",
        "...",
        "--- ",
        "a: b",
        "a: [",
        "- x",
        "  c: 1",
        "&x *x",
        "!!int x",
        "\t",
        "",
    ]
)


def values_of(block: str) -> dict[str, object] | None:
    """Return the values of a block, or None if it is broken."""
    front = split_front_matter(f"---\n{block}\n---\ntext\n")
    return None if front.is_broken else dict(front.values)


def test_it_is_counted_with_both_its_fences() -> None:
    """Line numbers of what follows depend on it."""
    front = split_front_matter("---\ntitle: x\ntags: [a, b]\n---\n# Text\n")

    assert front.line_count == 4
    assert front.values == {"title": "x", "tags": ["a", "b"]}
    assert not front.is_broken


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-21", "2026-11-21"),
        ("2026-13-45", "2026-13-45"),
        ("2026-11-21T10:03:00+01:00", "2026-11-21T10:03:00+01:00"),
        ("12:30", "12:30"),
        ("no", "no"),
        ("true", True),
        ("~", None),
        ("0.8", 0.8),
        ("'0.8'", "0.8"),
        ("-3", -3),
        ("0042", "0042"),
        ("12345678901234567890", "12345678901234567890"),
        ("1e5", "1e5"),
        (".inf", ".inf"),
        ("!!int x", "x"),
        ("!!python/object:os.system {}", {}),
        ("[1, [2, {a: 3}]]", [1, [2, {"a": 3}]]),
    ],
)
def test_a_value_means_what_it_looks_like(written: str, expected: object) -> None:
    """YAML 1.1 reads 12:30 as 750, 0042 as 34 and no as false."""
    assert values_of(f"key: {written}") == {"key": expected}


def test_every_key_is_text() -> None:
    """The index keeps values by name."""
    assert values_of("2026: x\ntrue: y\na: {1: z}") == {
        "2026": "x",
        "true": "y",
        "a": {"1": "z"},
    }


@pytest.mark.parametrize(
    "block",
    [
        "just text",
        "- a\n- b",
        "a: [b",
        "a: b: c",
        "a: &x b\nc: *x",
        "a: &x [*x]",
        "? [a]\n: b",
        "a: \x00",
        "\ta: b",
        "a: " + "[" * 200 + "]" * 200,
        "[" * 20_000,
        "- " * 20_000,
        "a: [" + "b, " * 12_000 + "]",
        "a: b\n%YAML 3",
    ],
    ids=lambda block: ascii(block[:20]),
)
def test_what_is_no_mapping_of_sane_size_makes_the_note_plain_text(block: str) -> None:
    """An alias bomb is small text and a huge value; deep nesting breaks recursion."""
    front = split_front_matter(f"---\n{block}\n---\ntext\n")

    assert front.is_broken
    assert front.line_count == 0
    assert front.values == {}


@pytest.mark.parametrize(
    "text",
    ["", "-", "---", "--- x\na: b\n---\n", "----\na: b\n----\n", " ---\na: b\n---\n"],
)
def test_it_opens_with_three_dashes_on_the_very_first_line(text: str) -> None:
    """Anything else is the text of the note."""
    front = split_front_matter(text)

    assert (front.line_count, front.values, front.is_broken) == (0, {}, False)


def test_a_rule_that_begins_a_note_is_not_broken_front_matter() -> None:
    """People begin notes with a rule; status must not call that a defect."""
    front = split_front_matter("---\n\nA quiet day.\n")

    assert not front.is_broken
    assert front.line_count == 0


def test_a_block_that_never_closes_is_called_broken_if_it_looks_like_one() -> None:
    """Its author meant front matter, and should be told."""
    front = split_front_matter("---\ntitle: x\n\n# Text\n")

    assert front.is_broken
    assert front.line_count == 0


@pytest.mark.parametrize("block", ["", "# only a comment"])
def test_an_empty_block_is_front_matter_without_values(block: str) -> None:
    """Editors leave it behind when the last property is removed."""
    front = split_front_matter(f"---\n{block}\n---\ntext\n")

    assert (front.line_count, front.values, front.is_broken) == (3, {}, False)


def test_carriage_returns_do_not_matter() -> None:
    """Half of the world writes them."""
    front = split_front_matter("---\r\ntitle: x\r\nby: y\r\n---\r\ntext\r\n")

    assert front.line_count == 4
    assert front.values == {"title": "x", "by": "y"}


def test_a_block_that_is_too_long_is_text() -> None:
    """64 kB is more than any person keeps in front of a note."""
    block = "a: " + "x" * MAX_CHARS

    front = split_front_matter(f"---\n{block}\n---\ntext\n")

    assert front.is_broken
    assert front.line_count == 0


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_nothing_makes_it_raise(lines: list[str], newline: str) -> None:
    """Reading degrades: the worst front matter is text."""
    text = newline.join(["---", *lines])

    front = split_front_matter(text)

    assert front.line_count == 0 or lines[front.line_count - 2].rstrip() in (
        "---",
        "...",
    )
    assert not (front.is_broken and front.line_count)


@given(st.text(max_size=60))
def test_no_text_between_the_fences_makes_it_raise(block: str) -> None:
    """YAML refuses some characters outright."""
    split_front_matter(f"---\n{block}\n---\n")
