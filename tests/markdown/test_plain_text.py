"""What a list shows of Markdown: its words, without the signs."""

from __future__ import annotations

import pytest

from hivemind_memory.markdown.plain_text import plain_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("We deploy on **Mondays**.", "We deploy on Mondays."),
        ("Run `rollback.sh`\nand *wait*.", "Run rollback.sh and wait."),
        ("# Rota\n\nOn Mondays.", "Rota: On Mondays."),
        ("Steps:\n\n1. Tag.\n2. Push.", "Steps: 1. Tag. 2. Push."),
        ("- [ ] one\n- [x] two", "• one • two"),
        ("See [[disk-space|the disk]] and [[rota]].", "See the disk and rota."),
        ("[docs](https://x.example) ![p](a.png)", "docs p"),
        ("| a | b |\n|---|:-:|\n| 1 | `2` |", "a, b 1, 2"),
        ("```sh\nrm -rf *\n```\nand more", "rm -rf * and more"),
        ("> said\n> so", "said so"),
        ("Title\n=====\n\n***\n\ntext", "Title text"),
        ("snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"),
        ("<b>bold</b> and <x>", "bold and <x>"),
        ("", ""),
        ("---", ""),
    ],
)
def test_signs_are_left_out_and_words_stay(text: str, shown: str) -> None:
    """Of what most memories consist of."""
    assert plain_text(text, 200) == shown


def test_a_long_text_is_cut_and_says_so() -> None:
    """Also where only what is not read would have more words."""
    assert plain_text("word " * 100, 20) == "word word word word…"
    assert plain_text("ab\n\n" + "***\n" * 100, 20) == "ab…"


def test_hits_keep_their_items_on_lines() -> None:
    """A paragraph that is wrapped is one line."""
    text = "We deploy\non Mondays:\n- tag\n- push\n\n```\na = 1\n  b = 2\n```"
    shown = plain_text(text, 200, separator="\n")
    assert shown == "We deploy on Mondays:\n• tag\n• push\na = 1\n  b = 2"


@pytest.mark.parametrize("sign", ["*", "_", "`", "[", "[[", "<", "-", "|", "#", "> "])
def test_many_signs_are_read_at_once(sign: str) -> None:
    """No pattern takes the square of a text that consists of them."""
    shown = plain_text(sign * 100_000, 600)
    assert len(shown) <= 600
