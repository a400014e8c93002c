"""Lists of memories while their notes change."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.curation import listing
from hivemind_memory.curation.context import CurationContext
from hivemind_memory.curation.listing import list_memories, read_log
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.memories import MemoryRow
from tests.support.typed_memory import Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path, is_scanned=False)


def test_a_note_that_loses_its_type_meanwhile_is_listed_as_it_was_found(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit between the index and the note made the list fail."""
    shelf.put("a.md", "---\ntype: decision\nkey: a\n---\nA.\n")
    shelf.put("b.md", "---\ntype: lesson\nkey: b\n---\nB.\n")
    load = listing.load_indexed

    def edited(context: CurationContext, row: MemoryRow) -> StoredMemory | None:
        note = Path(context.folder.root, row.path)
        note.write_text("Plain.\n", encoding="utf-8")
        return load(context, row)

    monkeypatch.setattr(listing, "load_indexed", edited)

    found = list_memories(shelf.context(), MemoryFilter(types=("lesson", "decision")))

    assert {one.path for one in found} == {"a.md", "b.md"}


def test_entries_of_one_second_are_logged_the_newest_first(shelf: Shelf) -> None:
    """They came in the order of their files."""
    at = "2026-05-04T10:00:00+00:00"
    for number, path in enumerate(("c.md", "a.md", "b.md")):
        entry = f"01M80JBHRKPTRHKEJQQCVB56P{number}"
        opening = f"<!-- hm id={entry} by=ada session=s1 source=agent at={at} -->"
        shelf.put(path, f"{opening}\nEntry {number}.\n")

    logged = read_log(shelf.context(), MemoryFilter())

    assert [one.path for one in logged] == ["b.md", "a.md", "c.md"]


def test_a_source_lists_what_answers_say_it_is(shelf: Shelf) -> None:
    """Web clippings were missing in ``hm list --source external`` and in the log."""
    sources = ("https://moon.example", "External", "tool", "human")
    for number, source in enumerate(sources):
        head = f"---\ntype: fact\nkey: k{number}\nsource: {source}\n---\n"
        shelf.put(f"{number}.md", f"{head}Cheese.\n")
    entry = (
        "<!-- hm id=01M80JBHRKPTRHKEJQQCVB56P1 by=ada source=agent at=2026-05-04 -->"
    )
    shelf.put("clip.md", f"---\nsource: https://moon.example\n---\n{entry}\nIt is.\n")
    outside = MemoryFilter(source="external")

    listed = list_memories(shelf.context(), outside)
    logged = read_log(shelf.context(), outside)

    assert {one.path for one in listed} == {"0.md", "1.md"}
    assert {one.path for one in logged} == {"0.md", "1.md", "clip.md"}
    assert {one.source for one in listed} == {"https://moon.example", "External"}
