"""Where a section that is too long is cut."""

from __future__ import annotations

import pytest

from hivemind_memory.markdown.note_parser import chunk_note


def pieces(text: str, limit: int) -> list[str]:
    """Return the chunks of a text without the blank lines at their edges."""
    return [chunk.text.strip("\n") for chunk in chunk_note(text, limit_chars=limit)]


def test_paragraphs_are_kept_whole_where_they_fit() -> None:
    """A paragraph is one thought."""
    one, two, three = "one " * 10, "two " * 15, "three " * 8

    assert pieces(f"{one}\n\n{two}\n\n{three}\n", 100) == [one, two, three]
    assert pieces(f"{one}\n\n{two}\n\n{three}\n", 104) == [f"{one}\n\n{two}", three]


def test_a_paragraph_that_is_too_long_is_cut_at_the_end_of_a_line() -> None:
    """Lines are what a hit cites."""
    lines = [f"line {number} of it" for number in range(12)]

    assert pieces("\n".join(lines), 60) == [
        "\n".join(lines[start : start + 4]) for start in (0, 4, 8)
    ]


def test_a_list_is_cut_between_its_items() -> None:
    """An item with its continuation lines is one remark."""
    items = [f"- item {number}\n  goes on" for number in range(6)]

    assert pieces("\n".join(items), 45) == [
        "\n".join(items[start : start + 2]) for start in (0, 2, 4)
    ]


def test_outer_items_are_cut_before_inner_ones() -> None:
    """What belongs to an item stays with it, as far as it can."""
    item = "- outer\n  - inner\n  - inner\n  - inner"

    assert pieces(f"{item}\n{item}\n{item}", 60) == [item, item, item]


@pytest.mark.parametrize(
    "whole",
    [
        "```\n" + "code\n" * 15 + "```",
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 5 + "| e | f |",
        "    code\n\n\n    code\n" * 4 + "    end",
        "<div>\n" + "<p>text\n" * 9 + "</div>",
    ],
    ids=["fence", "table", "code", "html"],
)
def test_a_fence_or_table_that_fits_is_not_cut(whole: str) -> None:
    """Half a table or a command cut in two helps nobody."""
    text = "before " * 8

    assert pieces(f"{text}\n\n{whole}\n\n{text}\n", 90) == [text, whole, text]


def test_a_fence_that_is_too_long_is_cut_at_the_ends_of_lines() -> None:
    """It alone exceeds the limit, so there is no way around."""
    text = "```\n" + "print(1)\n" * 20 + "```"

    cut = pieces(text, 50)

    assert "\n".join(cut) == text
    assert set("\n".join(cut[1:-1]).split("\n")) == {"print(1)"}


def test_a_heading_stays_with_what_follows() -> None:
    """A heading alone says nothing that the breadcrumbs does not say."""
    text = "## a\n\n" + "one\n" * 5 + "\n#### b\n\n" + "two\n" * 20

    cut = pieces(text, 60)

    assert cut[0].startswith("## a\n\none")
    assert any("#### b\n\ntwo" in piece for piece in cut)


def test_a_heading_stays_with_the_first_sentences_of_a_long_line() -> None:
    """Paragraphs without line breaks are what most editors write."""
    first, *_ = pieces("## a\n\n" + "A sentence here. " * 20, 80)

    assert first == "## a\n\n" + "A sentence here. " * 4


def test_a_heading_is_alone_before_a_fence_that_needs_all_the_room() -> None:
    """The fence is kept whole first."""
    fence = "```\n" + "code\n" * 16 + "```"

    assert pieces(f"## a\n\n{fence}\n", 90) == ["## a", fence]


@pytest.mark.parametrize(
    ("line", "limit", "expected"),
    [
        (
            "One is here. Two is here. Three.",
            28,
            ["One is here. Two is here. ", "Three."],
        ),
        ("Is it? Yes! It is so, really.", 20, ["Is it? Yes! ", "It is so, really."]),
        ("雪が降る。風が吹く。雨が止む。", 12, ["雪が降る。風が吹く。", "雨が止む。"]),
        ("「雪だ。」と言う。次の文。", 11, ["「雪だ。」と言う。", "次の文。"]),
        (
            "no sentence ends in this line",
            12,
            ["no sentence ", "ends in ", "this line"],
        ),
        ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
        ("v1.2.3.4.5.6.7.8.9", 10, ["v1.2.3.4.5", ".6.7.8.9"]),
    ],
)
def test_a_line_is_cut_at_a_sentence_then_a_word_then_anywhere(
    line: str, limit: int, expected: list[str]
) -> None:
    """Of the places that leave a piece at least half full, the best."""
    assert pieces(line, limit) == expected


@pytest.mark.parametrize(
    "cluster", ["e\u0301", "\U0001f469\u200d\U0001f4bb", "นี้", "\u2764\ufe0f"], ids=ascii
)
def test_a_letter_is_not_parted_from_its_marks(cluster: str) -> None:
    """Half of a letter is another letter, or none."""
    text = cluster * 30

    for limit in range(12, 20):
        assert all(piece.startswith(cluster[0]) for piece in pieces(text, limit))


def test_an_early_paragraph_does_not_stand_alone_before_a_huge_one() -> None:
    """The huge one is cut in any case; a crumb before it would only be ranked worse."""
    huge = "\n".join(f"line {number}" for number in range(40))

    first, *_ = pieces(f"short\n\n{huge}\n", 100)

    assert first.startswith("short\n\nline 0\nline 1")


def test_blank_lines_stay_with_the_lines_above_them() -> None:
    """They are nothing to find, and no chunk of their own."""
    text = "one\n" * 18 + "\n\n\n\n" + "two\n" * 18

    chunks = chunk_note(text, limit_chars=40)

    assert [chunk.start_line for chunk in chunks] == [1, 11, 23, 33]


def test_blank_lines_that_do_not_fit_are_a_chunk_that_nothing_finds() -> None:
    """To cut the text above for their sake would be worse."""
    text = "## a\n\n" + "x" * 33 + "\n\n\ntext\n"

    chunks = chunk_note(text, limit_chars=40)

    assert [(chunk.body[-4:], chunk.headings) for chunk in chunks] == [
        ("xxxx", ("a",)),
        ("", ()),
        ("text", ("a",)),
    ]


def test_more_blank_lines_than_a_chunk_may_hold_are_chunks_without_a_body() -> None:
    """Every line is in a chunk, and every chunk keeps to the limit."""
    chunks = chunk_note("one\n" + "\n" * 300 + "two\n", limit_chars=100)

    assert [chunk.body for chunk in chunks if chunk.body] == ["one", "two"]
    assert max(len(chunk.text) for chunk in chunks) == 100
