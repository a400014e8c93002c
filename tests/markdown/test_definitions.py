"""A block of link definitions says nothing that a search should find."""

from __future__ import annotations

import pytest

from hivemind_memory.markdown.note_parser import chunk_note, join_chunks

LINKS = "\n".join(f"[{n}]: https://wal.example.org/sqlite/{n}" for n in range(9))
COMMENT = (
    "<!-- hm id=01M807TWJZKCK1P0XVRQGZK90X source=agent"
    " at=2026-11-21T23:42:31+00:00 -->"
)
TEXT = "SQLite writes ahead. " * 9


def bodies(text: str, limit: int = 200) -> list[str]:
    """The bodies of a text's chunks that hold anything."""
    chunks = chunk_note(text, limit_chars=limit)
    assert join_chunks(chunks) == text.removesuffix("\n")
    return [chunk.body for chunk in chunks if chunk.body]


@pytest.mark.parametrize("gap", ["\n\n\n", "\n\n"])
def test_a_block_of_links_at_the_end_of_a_note_is_not_found(gap: str) -> None:
    """It has the words of every address, and came before the text."""
    assert bodies(f"# WAL\n\n{TEXT}{gap}{LINKS}\n") == [f"# WAL\n\n{TEXT}".strip()]


@pytest.mark.parametrize(
    "line",
    [
        "[1]: https://example.org/a",
        "[docs]: ./docs/a.md 'The manual'",
        '[docs]: <https://example.org/a b> "The manual"',
        "  [1.2.0]: https://example.org/compare/1...2",
        "[ada]: mailto:ada@example.org",
    ],
)
def test_what_defines_a_link_is_known_in_each_form(line: str) -> None:
    """With and without a title."""
    assert bodies(f"Text.\n\n\n\n{line}\n") == ["Text."]


@pytest.mark.parametrize(
    "line",
    [
        "[^1]: A footnote on https://example.org.",
        "[1]: see the wiki",
        "[x]: done",
        "[ ] https://example.org",
        "See https://example.org/a.",
    ],
)
def test_what_only_looks_like_it_is_found(line: str) -> None:
    """A footnote is text, and so is a task."""
    assert bodies(f"Text.\n\n\n\n{line}\n") == ["Text.", line]


def test_links_beside_text_are_found_with_it() -> None:
    """Which note has an address can be asked."""
    assert bodies("Text [1].\n\n[1]: https://example.org\n") == [
        "Text [1].\n\n[1]: https://example.org"
    ]


@pytest.mark.parametrize(
    "note",
    [f"{LINKS}\n", f"Mine.\n\n\n{COMMENT}\n{LINKS}\n"],
)
def test_a_note_or_an_entry_of_links_alone_is_found(note: str) -> None:
    """That is what its author wrote down."""
    assert bodies(note, limit=2_000)[-1] == LINKS
