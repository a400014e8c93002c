"""A process that is asked often compares only the notes that the kernel names."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.index.port import MADE
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.memory import sync
from hivemind_memory.memory.kernel_proof import MAX_UNCHECKED_S
from hivemind_memory.memory.memory import Memory
from hivemind_memory.memory.sync import Syncer
from hivemind_memory.model.note_path import NotePath
from tests.support.after_first import after_first
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux names what has changed"
)


@pytest.fixture
def often_asked(sandbox: Sandbox) -> Iterator[Memory]:
    """A memory that watches the folder; for it no time passes between queries."""
    sandbox.save("a.md", "The old text.\n")
    sandbox.stopwatch = lambda: 1_000.0
    with sandbox.memory() as memory:
        for _ in range(4):
            assert paths(ask(memory, "old")) == ["a.md"]
        yield memory


@pytest.fixture
def other(sandbox: Sandbox) -> Iterator[Memory]:
    """Another process with the same notes."""
    with sandbox.memory() as memory:
        yield memory


def no_scan() -> Any:
    """Return a context in which a scan of the folder fails the test."""
    return mock.patch.object(NotesFolder, "snapshot", side_effect=AssertionError)


def test_a_changed_note_is_indexed_without_a_scan(
    sandbox: Sandbox, often_asked: Memory
) -> None:
    """With 3,000 notes and 32 writers, scans were two thirds of what calls took."""
    sandbox.save("b.md", "A xylophone.\n")
    sandbox.save("a.md", "A zither.\n")

    with no_scan():
        answer = ask(often_asked, "xylophone")
        assert paths(ask(often_asked, "zither")) == ["a.md"]

    assert paths(answer) == ["b.md"]
    assert answer.report.is_fresh
    assert difference_from_fresh(sandbox, often_asked, ("old", "zither")) == []


def test_what_another_process_indexed_is_found_without_a_scan(
    often_asked: Memory, other: Memory
) -> None:
    """The index is another one then, and equal to the folder all the same."""
    other.write("A xylophone.", file="b.md")

    with no_scan():
        assert paths(ask(often_asked, "xylophone")) == ["b.md"]


def test_a_deleted_note_is_gone_without_a_scan(
    sandbox: Sandbox, often_asked: Memory
) -> None:
    """A name that was lost is named, too."""
    (sandbox.notes / "a.md").unlink()

    with no_scan():
        assert paths(ask(often_asked, "old")) == []


@pytest.mark.parametrize("count", [sync.MAX_NAMED, sync.MAX_NAMED + 1])
def test_many_changed_notes_are_all_indexed(
    sandbox: Sandbox, often_asked: Memory, count: int
) -> None:
    """Beyond a number one scan takes less time than to look at each."""
    for number in range(count):
        sandbox.save(f"b{number}.md", f"A xylophone {number}.\n")

    for number in (0, count - 1):
        hits = paths(ask(often_asked, f"xylophone {number}"))
        assert hits[0] == f"b{number}.md"
    assert difference_from_fresh(sandbox, often_asked) == []


def test_a_change_beside_one_that_is_indexed_is_not_forgotten(
    sandbox: Sandbox, often_asked: Memory, other: Memory
) -> None:
    """It was taken off the queue, and the next answer took the index for current."""

    def change_more() -> None:
        other.write("A zebra.", file="zebra.md")
        sandbox.save("b.md", "A xylophone.\n")

    sandbox.save("a.md", "The old text, edited.\n")
    named = after_first(Syncer.sync_named, change_more)
    with mock.patch.object(Syncer, "sync_named", named):
        ask(often_asked, "edited")

    assert paths(ask(often_asked, "xylophone")) == ["b.md"]


def test_half_a_rename_by_another_process_hides_no_note(
    sandbox: Sandbox, often_asked: Memory, other: Memory
) -> None:
    """Another process has removed the old name, and not read the new one yet."""

    def rename_and_index_half() -> None:
        (sandbox.notes / "a.md").rename(sandbox.notes / "z.md")
        other.index_handle.opened().index.remove([NotePath("a.md")])

    sandbox.save("b.md", "A xylophone.\n")
    named = after_first(Syncer.sync_named, rename_and_index_half)
    with mock.patch.object(Syncer, "sync_named", named):
        answer = ask(often_asked, "old")

    assert paths(answer) == ["z.md"]
    assert answer.report.is_fresh


def test_an_index_that_takes_the_place_of_this_one_is_compared(
    sandbox: Sandbox, often_asked: Memory, other: Memory
) -> None:
    """A rebuild was filled before the last change, and nobody has changed a note."""

    def replace_by_older() -> None:
        index = other.index_handle.opened().index
        index.remove([NotePath("a.md")])
        index.set_meta(MADE, "at another time")

    sandbox.save("b.md", "A xylophone.\n")
    named = after_first(Syncer.sync_named, replace_by_older)
    with mock.patch.object(Syncer, "sync_named", named):
        answer = ask(often_asked, "old")

    assert paths(answer) == ["a.md"]


def test_rows_that_other_rules_made_are_not_taken_for_current(
    often_asked: Memory, other: Memory
) -> None:
    """Another process with other rules has marked them; no note has changed."""
    other.index_handle.opened().index.mark_stale()

    ask(often_asked, "old")

    assert not often_asked.index_handle.opened().index.has_outdated()


@pytest.mark.parametrize("where", ["outside", ".store", "."])
def test_a_note_with_another_name_is_found_when_it_changes_under_that(
    sandbox: Sandbox, where: str
) -> None:
    """An event names the file as its writer called it, so the answer was old."""
    folder = sandbox.home if where == "outside" else sandbox.notes / where
    folder.mkdir(exist_ok=True)
    other_name = folder / "other.md"
    os.link(sandbox.save("a.md", "The old text.\n"), other_name)
    with sandbox.memory() as memory:
        for _ in range(4):
            ask(memory, "old")

        other_name.write_text("A xylophone.\n")

        assert "a.md" in paths(ask(memory, "xylophone"))


def test_a_watched_note_that_gets_another_name_is_found_when_it_changes(
    sandbox: Sandbox, often_asked: Memory
) -> None:
    """The new name is in the event of that name, at the latest."""
    os.link(sandbox.notes / "a.md", sandbox.notes / "b.md")
    ask(often_asked, "old")
    (sandbox.notes / "b.md").write_text("A xylophone.\n")

    assert len(ask(often_asked, "xylophone").hits) == 1  # It names the other, too.
    assert paths(ask(often_asked, "old")) == []


def test_a_note_that_is_changed_by_a_name_that_came_and_went(
    sandbox: Sandbox, often_asked: Memory
) -> None:
    """All events name the other name, which is gone by the next query."""
    other_name = sandbox.notes / "b.md"
    os.link(sandbox.notes / "a.md", other_name)
    other_name.write_text("A zither.\n")
    other_name.unlink()

    answer = ask(often_asked, "zither")

    assert paths(answer) == ["a.md"]
    assert answer.report.is_fresh


def test_a_note_that_is_changed_by_a_name_outside_is_found_within_a_second(
    sandbox: Sandbox,
) -> None:
    """Linking sends no event to the folder, so this bound is all there is."""
    outside = sandbox.home / "outside"
    now_s = [1_000.0]
    sandbox.stopwatch = lambda: now_s[0]
    note = sandbox.save("a.md", "The old text.\n")
    with sandbox.memory() as memory:
        for _ in range(4):
            ask(memory, "old")
        os.link(note, outside)
        outside.write_text("A zither.\n")
        now_s[0] += MAX_UNCHECKED_S

        assert paths(ask(memory, "zither")) == ["a.md"]


def test_an_index_that_is_busy_is_not_taken_for_a_broken_one(
    sandbox: Sandbox, often_asked: Memory, other: Memory
) -> None:
    """The process answered from a substitute in memory until somebody else wrote."""
    index = often_asked.index_handle.opened().index
    busy = other.index_handle.opened().index
    assert isinstance(index, SqliteIndex)
    assert isinstance(busy, SqliteIndex)
    index.connection.set_busy_timeout(10)
    sandbox.save("b.md", "A xylophone.\n")

    busy.connection.execute("BEGIN IMMEDIATE")
    answer = ask(often_asked, "old")
    busy.connection.execute("ROLLBACK")

    assert paths(answer) == ["a.md"]
    # It answers from a copy, and says so; then from the file again.
    assert "this answer was made from a copy" in repr(answer.report)
    found = ask(often_asked, "xylophone")
    assert paths(found) == ["b.md"]
    assert "from a copy" not in repr(found.report)
