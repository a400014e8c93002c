"""Processes that scan, read and index at the same time never undo each other's work.

Each test stops one handle at the worst moment and lets another one finish its work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.index.port import MADE
from hivemind_memory.index.sqlite import notes as index_notes
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.memory import sync
from hivemind_memory.memory.freshness import FreshnessCheck
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.note_path import NotePath
from tests.support.after_first import after_first
from tests.support.index_race import RacePlan, race
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths


@pytest.fixture(autouse=True)
def many_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes are read without the lock of the writers, as when many have changed."""
    monkeypatch.setattr(sync, "QUICK_NOTES", -1)


@pytest.fixture
def slow(sandbox: Sandbox) -> Iterator[Memory]:
    """The process that is stopped."""
    with sandbox.memory() as memory:
        yield memory


@pytest.fixture
def other(sandbox: Sandbox) -> Iterator[Memory]:
    """The process that finishes its work meanwhile."""
    with sandbox.memory() as memory:
        yield memory


def is_indexed(memory: Memory, word: str) -> bool:
    """Return whether the index as it is finds a word, without a scan of the notes."""
    from hivemind_memory.model.query import Query

    return bool(memory.search(Query(text=word, min_score=0.0), is_fresh=False).hits)


def test_an_older_look_does_not_remove_a_newer_note(
    sandbox: Sandbox, slow: Memory, other: Memory
) -> None:
    """A looks, B writes a note and indexes it, A applies its look."""
    sandbox.save("a.md", "old text\n")
    slow.sync()
    sandbox.save("a.md", "changed text\n")
    real = NotesFolder.snapshot
    look = after_first(real, lambda: other.write("xylophone", file="b.md"))

    with mock.patch.object(NotesFolder, "snapshot", look):
        answer = ask(slow, "changed")

    assert paths(answer) == ["a.md"]
    assert is_indexed(other, "xylophone")
    assert difference_from_fresh(sandbox, other) == []


def test_an_older_look_does_not_remove_a_note_that_came_back(
    sandbox: Sandbox, slow: Memory, other: Memory
) -> None:
    """A looks while an editor saves, B indexes what it saved, A applies its look."""
    file = sandbox.save("a.md", "old text\n")
    slow.sync()
    file.unlink()

    def come_back() -> None:
        sandbox.save("a.md", "xylophone\n")
        other.sync()

    look = after_first(NotesFolder.snapshot, come_back)
    with mock.patch.object(NotesFolder, "snapshot", look):
        slow.sync()

    assert is_indexed(other, "xylophone")


def test_an_older_reading_does_not_overwrite_a_newer_one(
    sandbox: Sandbox, slow: Memory, other: Memory
) -> None:
    """A reads a note, B appends to it and indexes it, A writes what it has read."""
    sandbox.save("a.md", "old text\n")
    slow.sync()
    sandbox.save("a.md", "changed text\n")
    real = NotesFolder.read
    read = after_first(
        real,
        lambda: other.write("xylophone", file="a.md"),
    )

    with mock.patch.object(NotesFolder, "read", read):
        slow.sync()

    assert is_indexed(other, "xylophone")
    assert difference_from_fresh(sandbox, other) == []


@pytest.mark.parametrize("step_chunks", [1, 1_000], ids=["large", "small"])
def test_a_note_that_is_saved_while_it_is_indexed_is_indexed_as_it_is_last(
    sandbox: Sandbox, slow: Memory, other: Memory, step_chunks: int
) -> None:
    """Large notes are staged beside their old rows and swapped at the end."""
    sandbox.save("a.md", "old text\n\n\nand more\n")
    slow.sync()
    sandbox.save("a.md", "changed text\n\n\nand more\n")
    real = SqliteIndex.replace

    def replace(self: SqliteIndex, *args: Any, **kwargs: Any) -> Any:
        patch.stop()
        other.write("xylophone", file="a.md")
        return real(self, *args, **kwargs)

    patch = mock.patch.object(SqliteIndex, "replace", replace)
    with mock.patch.object(index_notes, "STEP_CHUNKS", step_chunks):
        patch.start()
        slow.sync()

    assert is_indexed(other, "xylophone")
    assert difference_from_fresh(sandbox, other) == []


def test_an_answer_is_of_the_state_that_was_compared(
    sandbox: Sandbox, slow: Memory, other: Memory
) -> None:
    """Another index takes the place of this one between the scan and the reading."""
    sandbox.save("a.md", "some text\n")
    other.sync()
    ask(slow, "text")

    def replace_by_older() -> None:
        index = other.index_handle.opened().index
        index.remove([NotePath("a.md")])
        index.set_meta(MADE, "at another time")

    replaced = after_first(FreshnessCheck.ensure_fresh, replace_by_older)

    with mock.patch.object(FreshnessCheck, "ensure_fresh", replaced):
        answer = ask(slow, "text")

    assert paths(answer) == ["a.md"]
    assert answer.report.is_fresh


def test_a_note_that_was_deleted_meanwhile_does_not_come_back(
    sandbox: Sandbox, slow: Memory, other: Memory
) -> None:
    """A reads a note, it is deleted, B indexes that, A writes what it has read."""
    file = sandbox.save("a.md", "old text\n")
    slow.sync()
    sandbox.save("a.md", "changed text\n")

    def delete() -> None:
        file.unlink()
        other.sync()

    real = NotesFolder.read
    read = after_first(real, delete)
    with mock.patch.object(NotesFolder, "read", read):
        slow.sync()

    assert not is_indexed(other, "text")


def test_no_search_misses_a_finished_change(sandbox: Sandbox) -> None:
    """A short form of ``python -m benchmarks.index_race``."""
    outcome = race(sandbox, RacePlan(steps=150), seed=1)

    assert outcome.problems == []
    assert outcome.steps >= 150
