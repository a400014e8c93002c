"""Hits and notes on a terminal: indent, what is cut, and how paragraphs are folded."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.cli.list_filter import first_line
from hivemind_memory.cli.reflow import prose_lines, reflowed
from hivemind_memory.cli.terminal import body, columns_text, rendered
from hivemind_memory.cli.terminal_hits import ShownHit, hits_text

URL = "https://example.org/" + "a-page-with-a-long-name/" * 5


@pytest.fixture(autouse=True)
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal without colors."""
    for name, text in {"COLUMNS": "60", "LINES": "24", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, text)


def hit(snippet: str, place: str = "a.md:1-20") -> ShownHit:
    """Return a hit of twenty lines."""
    return ShownHit(
        place=place,
        line_count=20,
        score="  0.50",
        label="",
        is_fine=True,
        date="",
        headings="",
        above=(),
        snippet=snippet,
    )


def test_one_long_word_moves_no_other_line_of_a_text() -> None:
    """An address wider than the terminal put the whole text below the heads."""
    lines = rendered([body(f"First.\n\n{URL}\n\nLast.")]).splitlines()

    assert lines == ["    First.", "", f"    {URL}", "", "    Last."]


def test_a_long_place_is_not_taken_for_a_row_of_its_own() -> None:
    """In a narrow terminal it stood at the left edge, as the next row does."""
    place = "projects/the-shop/what-we-decided-about-deploys.md:1-20"
    row = ["2026-11-24 03:00", "claude", place, "Never on Fridays. " * 9]

    lines = columns_text(["time", "by", "location", "text"], [row] * 2).splitlines()

    starts = [line[:1].isspace() for line in lines]
    assert [at for at, is_below in enumerate(starts) if not is_below] == [
        at for at, line in enumerate(lines) if line.startswith("2026")
    ]
    assert any(line.strip() == place for line in lines)
    assert max(map(len, lines)) <= 60


def test_what_is_left_out_of_a_hit_is_marked_and_counted() -> None:
    """A hit began in the middle of a sentence, and its head named all lines."""
    best = hit("We dig.", place="best.md:1")
    lines = [f"line {number}" for number in range(20)]
    lines[17] = "the wombat"
    other = hit("\n".join(lines))

    shown = hits_text([best, other], "wombat")

    [head] = [line for line in shown.splitlines() if line.startswith("a.md")]
    body_lines = shown.partition(head)[2].strip().splitlines()
    count = len(body_lines)
    assert re.fullmatch(rf"a\.md:1-20  {count} of 20 lines  0\.50", head)
    assert body_lines[0].startswith("… ")
    assert any("the wombat" in line for line in body_lines)
    assert body_lines[-1] == "    line 19"


def test_a_hit_that_is_shown_whole_has_no_mark() -> None:
    """And keeps the empty line between its paragraphs."""
    shown = hits_text([hit("Best."), hit("One.\n\nTwo.")], "two")

    assert "…" not in shown
    assert " of 20" not in shown
    assert shown.endswith("a.md:1-20  0.50\n    One.\n\n    Two.\n\n")


def test_one_long_line_that_does_not_fit_ends_with_a_mark() -> None:
    """It is the whole hit, so no lines are counted."""
    shown = hits_text([hit("Best."), hit("wombat digs " * 200)], "wombat")

    assert shown.rstrip().endswith("…")
    assert " of 20" not in shown


def test_a_paragraph_is_folded_as_one() -> None:
    """Each line by itself left one word in every other line."""
    line = "Every release goes out on a Tuesday, after the second review of"
    text = "\n".join([line] * 4)

    folded = rendered([body(text)]).splitlines()

    assert " ".join(" ".join(folded).split()) == " ".join([line] * 4)
    assert min(map(len, folded[:-1])) > 40


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nmake all\nmake install\n```",
        "- bread\n  and butter\n- milk",
        "Two things:\n1. bread\n2. milk",
        "a | b\n--- | ---\n1 | 2",
        "> quoted\n> text",
        "    code\n    more",
        "host: a\nport: 1",
        "Title\n=====",
        "A break  \nof a poem",
    ],
)
def test_what_is_no_prose_keeps_its_lines(text: str) -> None:
    """In code, lists and tables a line means something."""
    assert reflowed(text, 3) == text


def test_text_after_a_heading_is_prose_and_code_after_it_is_not() -> None:
    """A fence ends where it says."""
    lines = ["# Deploys", "We deploy", "~~~", "make", "", "make", "~~~", "and", "rest"]

    prose = prose_lines(lines)

    assert [line for line, is_prose in zip(lines, prose, strict=True) if is_prose] == [
        "We deploy",
        "and",
        "rest",
    ]


def test_a_script_without_blanks_is_joined_without_one() -> None:
    """A blank there would look like the end of a sentence."""
    assert reflowed("東京リージョンの\nデプロイ", 6) == "東京リージョンのデプロイ"


@given(st.text(st.sampled_from("ab -#>|`~:.1\n\\")), st.integers(1, 12))
def test_reflowing_loses_no_sign(text: str, width: int) -> None:
    """Whatever the text is."""
    assert reflowed(text, width).split() == text.split()


def test_the_first_line_of_a_longer_text_is_marked() -> None:
    """A table showed it as if it were all."""
    assert [first_line("one\ntwo"), first_line("one\n")] == ["one …", "one"]
