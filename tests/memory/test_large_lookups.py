"""Large notes that are not indexed yet: who looks a memory up does not wait for them.

What is said of memories is known all the same, in a large note too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest

from hivemind_memory.errors import MemoryNotFoundError
from hivemind_memory.markdown import blocks
from hivemind_memory.memory import background_sync, note_indexer
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.model.note import Note
from hivemind_memory.model.note_path import NotePath
from tests.support.sandbox import Sandbox

LARGE = "The giraffe is tall.\n" * (note_indexer.LARGE_NOTE_BYTES // 10)
ENTRY_ID = "01J9ZZZZZZZZZZZZZZZZZZZZZZ"


@pytest.fixture
def import_at_rest(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three large notes are imported, and indexing them does not end."""
    may_end = threading.Event()
    real = blocks.BlockReader.read_all

    def read_all(
        self: blocks.BlockReader, noted: Sequence[tuple[NotePath, bytes]]
    ) -> list[Note]:
        if any(path.startswith("import/") for path, _ in noted):
            assert may_end.wait(5), "it waited for the import"
        return real(self, noted)

    with sandbox.memory() as memory:
        memory.save(NewMemory(key="lion", content="It roars.", type="decision"))
    for number in range(3):
        sandbox.save(f"import/{number}.md", f"# Import [[lion]]\n\n{LARGE}")
    monkeypatch.setattr(blocks.BlockReader, "read_all", read_all)
    monkeypatch.setattr(background_sync, "WAIT_S", 0.05)
    try:
        yield
    finally:
        may_end.set()


@pytest.mark.usefixtures("import_at_rest")
def test_show_and_history_do_not_wait_for_an_import(memory: Memory) -> None:
    """After an import of 150 MB they answered minutes later."""
    versions = memory.curation.history("lion")
    shown = memory.curation.show("lion")

    assert [version.text for version in versions.memories] == ["It roars."]
    assert shown.memory.text == "It roars."
    [warning] = shown.warnings
    assert warning == (
        "import/0.md, import/1.md, import/2.md are large and not indexed yet, so a"
        " link from them may be missing; the next search indexes them"
    )


@pytest.mark.usefixtures("import_at_rest")
def test_a_name_that_nothing_has_is_refused_without_waiting(memory: Memory) -> None:
    """What is said of every memory is known, so none has that name."""
    with pytest.raises(MemoryNotFoundError):
        memory.curation.history("okapi")


@pytest.mark.usefixtures("import_at_rest")
def test_a_list_and_a_save_do_not_wait_for_an_import(memory: Memory) -> None:
    """The save says with which texts it did not compare the new one."""
    listed = memory.curation.list_memories(MemoryFilter())
    saved = memory.save(NewMemory(key="okapi", content="It hides.", type="decision"))

    assert [found.key for found in listed] == ["lion"]
    [warning] = [text for text in saved.warnings if "large" in text]
    assert "so their texts were not compared" in warning


@pytest.mark.usefixtures("import_at_rest")
def test_no_version_is_missed_because_it_is_large(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A history that lacks a version without saying so is worse than a slow one."""
    head = "---\ntype: decision\nkey: lion\nsuperseded_by: lion\n---\n\n"
    sandbox.save("superseded/lion-old.md", head + LARGE)
    other = "---\ntype: decision\nkey: cub\nid: cub\nsupersedes: older.md\n---\n\n"
    sandbox.save("cub.md", other + LARGE)
    sandbox.save("older.md", LARGE)

    versions = memory.curation.history("lion")
    chain = memory.curation.history("cub")

    paths = [version.path for version in versions.memories]
    assert paths == ["lion.md", "superseded/lion-old.md"]
    assert [version.path for version in chain.memories] == ["cub.md", "older.md"]
    assert not chain.missing


@pytest.mark.usefixtures("import_at_rest")
def test_what_names_a_large_note_finds_it(sandbox: Sandbox, memory: Memory) -> None:
    """By its path, its name, or the id of an entry in it."""
    comment = f"<!-- hm id={ENTRY_ID} at=2026-11-21T10:00:00Z source=human -->"
    sandbox.save("day.md", f"{LARGE}\n{comment}\nThe okapi hides.\n")
    sandbox.save("plain.md", LARGE)

    entry = memory.curation.show(ENTRY_ID)
    by_path = memory.curation.show("plain.md")
    by_name = memory.curation.locate("plain")

    assert entry.memory.text.strip() == "The okapi hides."
    assert by_path.memory.path == "plain.md"
    assert by_name[0] == "plain.md"


def test_an_import_is_indexed_in_the_background_meanwhile(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks up a memory starts what nobody else may start."""
    monkeypatch.setattr(background_sync, "WAIT_S", 60.0)
    memory.save(NewMemory(key="lion", content="It roars.", type="decision"))
    sandbox.save("import.md", f"# Import [[lion]]\n\n{LARGE}")

    memory.curation.show("lion")
    assert memory.index_handle.wait_for_rest()
    shown = memory.curation.show("lion")

    assert [edge.path for edge in shown.edges] == ["import.md"]
    assert not shown.warnings


@pytest.mark.usefixtures("import_at_rest")
def test_what_large_notes_say_of_memories_is_in_lists_at_once(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A large memory was not injected yet, and a large forgotten note was listed."""
    sandbox.save("okapi.md", f"---\ntype: decision\nkey: okapi\n---\n\n{LARGE}")
    forgotten = "---\ntype: decision\nkey: gone\nforgotten: 2026-11-21\n---\n\n"
    sandbox.save("gone.md", forgotten + LARGE)
    sandbox.save("inbox/claim.md", LARGE)

    rows = memory.memories()

    assert sorted(row.key for row in rows if row.key) == ["gone", "lion", "okapi"]
    assert "gone.md" not in [note.path for note in memory.list()]
    assert memory.count_pending(is_fresh=True) == 1
