"""Text with colors, as terminals get it."""

from __future__ import annotations

import pytest

from hivemind_memory.cli.styled import Text, joined
from hivemind_memory.cli.terminal import body, rendered


@pytest.fixture(autouse=True)
def a_terminal_with_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of usual width."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_where_two_styles_meet_both_hold_and_of_two_colors_the_later() -> None:
    """A word of the query lights up in a line that is dim already."""
    text = Text("we deploy", "dim cyan")

    text.stylize("bold yellow", 3)

    assert text.encoded() == "\x1b[2;36mwe \x1b[0m\x1b[1;2;33mdeploy\x1b[0m"


def test_no_color_keeps_bold_and_a_dumb_terminal_gets_no_sequence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """https://no-color.org speaks of colors; an empty value does not count."""
    text = Text("deploy", "bold yellow") + Text(" on Tuesdays", "green")
    shown = {}
    for name, value in (("NO_COLOR", ""), ("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
        shown[name, value] = text.encoded()

    assert shown == {
        ("NO_COLOR", ""): "\x1b[1;33mdeploy\x1b[0m\x1b[32m on Tuesdays\x1b[0m",
        ("NO_COLOR", "1"): "\x1b[1mdeploy\x1b[0m on Tuesdays",
        ("TERM", "dumb"): "deploy on Tuesdays",
    }


def test_no_style_goes_on_behind_the_end_of_a_line() -> None:
    """A pager that begins in the middle would show the rest in another color."""
    lines = joined(Text("\n"), [Text("one", "red"), Text("two", "red")])

    assert lines.encoded() == "\x1b[31mone\x1b[0m\n\x1b[31mtwo\x1b[0m"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("deploys", 7, "deploys"),
        ("deploys", 6, "deplo…"),
        ("火曜日", 6, "火曜日"),
        ("火曜日", 5, "火曜…"),
        ("火曜日", 4, "火…"),
        ("e\u0301clair", 3, "e\u0301c…"),
    ],
)
def test_a_cut_text_is_never_wider_than_its_room(
    text: str, width: int, shown: str
) -> None:
    """Marks fill no column, and ideographs two."""
    short = Text(text, "bold").shortened(width)

    assert short.plain == shown
    assert len(short.styles) == len(short.plain)
    assert short.cell_len <= width


def test_a_line_with_tabs_is_folded_where_the_terminal_ends() -> None:
    """A tab counted as one column, so the line went over the edge."""
    shown = rendered([body("a\tb\tc\td\te\tf")])

    assert max(map(len, shown.splitlines())) <= 40
    assert shown.split() == list("abcdef")
