"""Lists and figures come from the index where it has every note, else from a scan."""

from __future__ import annotations

import random

import pytest

from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.reader import NoteReader
from hivemind_memory.memory.memory import Memory
from hivemind_memory.memory.open_index import IndexHandle
from hivemind_memory.model.listing import FolderPage
from hivemind_memory.model.results import ListedNote
from tests.support.sandbox import Sandbox

FOLDERS = ("", "projects/shop/", "projects/shop/deep/", "inbox/")


def scanned(memory: Memory, folder: str) -> tuple[list[ListedNote], FolderPage, object]:
    """Return what the lists are where the folder is scanned for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IndexHandle, "run_whole", lambda *_: None)
        return lists_of(memory, folder)


def lists_of(
    memory: Memory, folder: str
) -> tuple[list[ListedNote], FolderPage, object]:
    """Return all notes, those of one folder, and what waits in inboxes."""
    page = memory.lists.folder(folder, 3)
    return memory.list(), page, memory.curation.pending()


def test_lists_of_the_index_are_those_of_the_folder(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Whatever a person changes by hand, or another process indexes."""
    chance = random.Random(3)
    with sandbox.memory() as other:
        for _ in range(60):
            name = f"{chance.choice(FOLDERS)}n{chance.randrange(6)}.md"
            path = sandbox.notes / name
            if path.exists() and chance.random() < 0.3:
                path.unlink()
            else:
                hidden = "forgotten: 2026-01-01\n" if chance.random() < 0.2 else ""
                head = f"---\ntype: fact\nkey: k\n{hidden}---\n"
                text = f"# Title {chance.random()}\n\ntext\n"
                sandbox.save(name, f"{head if chance.random() < 0.5 else ''}{text}")
            if chance.random() < 0.3:
                other.sync()
            folder = chance.choice(FOLDERS).removesuffix("/")

            assert lists_of(memory, folder) == scanned(memory, folder)


def test_what_the_index_cannot_hold_is_listed_all_the_same(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note that cannot be read now is in the folder."""
    sandbox.save("good.md", "good\n")
    sandbox.save("odd.md", "odd\n")
    read = NotesFolder.read

    def refuse(self: NotesFolder, path: str, **more: object) -> object:
        if path == "odd.md":
            raise_unreadable(path)
        return read(self, path, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(NotesFolder, "read", refuse)

    assert [note.path for note in memory.list()] == ["good.md", "odd.md"]
    page = memory.lists.folder("", 10)
    assert [note.path for note in page.notes] == ["good.md", "odd.md"]
    assert page.folders == (("", 2),)


def raise_unreadable(path: str) -> None:
    """Raise what the system says of a bad block."""
    from hivemind_memory.files.errors import read_error
    from hivemind_memory.model.note_path import NotePath

    raise read_error(NotePath(path), OSError(5, "Input/output error"))


def test_no_note_is_read_to_know_which_are_not_utf8(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index knows: a large memory has its figures at once, and all of them."""
    sandbox.save("good.md", "good\n")
    sandbox.save("bad.md", b"caf\xe9\n")
    memory.sync()
    monkeypatch.setattr(NoteReader, "read", lambda *_: pytest.fail("it was read"))

    assert memory.status().not_utf8 == ("bad.md",)


def test_figures_that_are_updated_first_are_those_of_a_scan(
    sandbox: Sandbox, memory: Memory
) -> None:
    """A note that has changed a moment ago is in both."""
    sandbox.save("a.md", "a\n")
    sandbox.save("b.markdown", "b\n")
    first = memory.status(is_updated=True)
    sandbox.save("c.md", "c\n")

    later = memory.status(is_updated=True)

    assert (first.notes, later.notes) == (1, 2)
    scan = memory.status()
    assert (later.stale_notes, later.skipped) == (scan.stale_notes, scan.skipped)
    assert [note.path for note in later.skipped] == ["b.markdown"]


def test_what_is_kept_is_made_again_when_a_note_changes(
    sandbox: Sandbox, memory: Memory
) -> None:
    """By whomever, and of another key."""
    sandbox.save("a.md", "a\n")
    made: list[str] = []

    def kept(key: str) -> int:
        return memory.lists.kept(key, lambda: made.append(key) or len(made))

    assert [kept("one"), kept("one"), kept("two"), kept("one")] == [1, 1, 2, 3]
    sandbox.save("a.md", "another text\n")
    assert kept("one") == 4
    assert kept("one") == 4
