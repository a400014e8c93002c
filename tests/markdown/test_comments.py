"""HTML comments that stand alone speak to whoever edits the note, and are no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.cli.commands.init import FIRST_NOTE
from hivemind_memory.inject.section import render_excerpt
from hivemind_memory.markdown.text import without_comments
from hivemind_memory.model.injection import Excerpt
from tests.support.sandbox import Sandbox, ask


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- b -->\nc", "a\nc"),
        ("a\n  <!-- b\nc\n-->  \nd", "a\nd"),
        ("<!-- a -->", ""),
        ("a <!-- b --> c", "a <!-- b --> c"),
        ("<!-- a --> b", "<!-- a --> b"),
        ("<!-- a\nb --> c\nd", "<!-- a\nb --> c\nd"),
        ("<!-- never closed\nb", "<!-- never closed\nb"),
        ("```html\n<!-- a -->\n```\n<!-- b -->", "```html\n<!-- a -->\n```"),
        ("    <!-- code -->", "    <!-- code -->"),
        ("no comment", "no comment"),
    ],
)
def test_only_a_comment_with_its_lines_to_itself_is_left_out(
    text: str, left: str
) -> None:
    """What is code, or shares a line with text, is text."""
    assert without_comments(text) == left


def test_the_comment_of_a_new_global_note_is_no_hit(tmp_path: Path) -> None:
    """It answered every question that begins with "for every project"."""
    house = Sandbox(tmp_path / "home")
    house.save("global.md", FIRST_NOTE)
    house.save("note.md", "<!-- keep sorted -->\n\n- kiwi\n")

    with house.memory() as memory:
        assert not ask(memory, "for every project preferences").hits
        assert not ask(memory, "sorted").hits
        [hit] = ask(memory, "kiwi").hits

    assert "keep sorted" in hit.snippet


def test_a_comment_is_not_injected() -> None:
    """A section quotes what the note says, not what it says to its editor."""
    excerpt = Excerpt(
        path="a.md", start_line=1, end_line=3, text="<!-- keep sorted -->\n- kiwi"
    )

    assert render_excerpt(excerpt) == "> `a.md:1-3`\n> - kiwi"
