"""A title that stands alone above its sections is seldom what was asked for."""

from __future__ import annotations

from pathlib import Path

from tests.support.sandbox import Sandbox, ask

LONG = "The holder pays the yearly fee in spring, and keeps the receipt. " * 25
TITLE_AND_SECTIONS = (
    f"# Patents\n\n## Duration\n\nPatents last twenty years.\n\n{LONG}\n\n"
    f"## Fees\n\nPatents cost more each year.\n\n{LONG}\n"
)


def first_lines(tmp_path: Path, note: str) -> list[int]:
    """Ask for patents, and return where the hits begin."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("law.md", note)
    with sandbox.memory() as memory:
        hits = ask(memory, "patents", keeps_repetitions=True).hits
        return [hit.start_line for hit in hits]


def test_a_section_comes_before_the_title_of_its_note(tmp_path: Path) -> None:
    """The title is short and has the word twice, but the sections say something."""
    found = first_lines(tmp_path, TITLE_AND_SECTIONS)

    assert found[-1] == 1
    assert len(found) == 3


def test_a_note_of_one_heading_is_found_as_before(tmp_path: Path) -> None:
    """Nothing stands below it: the heading is what the note says."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("todo.md", "# Renew the patents\n")
    sandbox.save("text.md", "Renew the patents\n")

    with sandbox.memory() as memory:
        hits = {hit.path: hit.score for hit in ask(memory, "patents").hits}

    assert hits["todo.md"] >= hits["text.md"]


def test_a_title_that_gets_sections_later_is_indexed_anew(tmp_path: Path) -> None:
    """Rows of chunks are kept while a note grows; this one must change."""
    sandbox = Sandbox(tmp_path)
    sandbox.save("law.md", "# Patents\n")
    with sandbox.memory() as memory:
        assert len(ask(memory, "patents").hits) == 1
        sandbox.save("law.md", TITLE_AND_SECTIONS)

        hits = ask(memory, "patents", keeps_repetitions=True).hits

        assert hits[-1].start_line == 1
