"""Entries of untrusted sources wait in an inbox like any other claim."""

from __future__ import annotations

import pytest

from hivemind_memory.errors import MemoryNotFoundError, UsageError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.display import lines_text
from tests.support.sandbox import Sandbox, ask, paths


def write(memory: Memory, content: str) -> str:
    """Write an entry of a source that is not trusted; return its id."""
    return memory.write(content, source="external").id


def test_a_waiting_entry_is_listed_and_counted(memory: Memory) -> None:
    """Each of a day's note by itself, newest first; status counts the same."""
    ids = [write(memory, text) for text in ("The zebra came.", "The okapi left.")]

    waiting = memory.curation.pending()

    assert [one.id for one in waiting] == ids[::-1]
    assert [one.source for one in waiting] == ["external"] * 2
    assert {one.status for one in waiting} == {"pending"}
    assert memory.count_pending(is_fresh=True) == 2


def test_an_entry_that_waits_is_shown_as_pending(memory: Memory) -> None:
    """A list said pending, and what was shown for its id said active."""
    entry = write(memory, "The zebra came.")

    assert memory.curation.show(entry).memory.status == "pending"
    assert memory.curation.history(entry).memories[0].status == "pending"

    accepted = memory.curation.accept(entry).memory

    assert memory.curation.show(entry).memory.status == accepted.status == "active"


def test_an_accepted_entry_moves_to_the_note_of_its_day(memory: Memory) -> None:
    """With its id and its source, and the others stay; an undo puts it back."""
    entry, other = write(memory, "The zebra came."), write(memory, "The okapi left.")

    accepted = memory.curation.accept(entry).memory

    assert (accepted.id, accepted.source) == (entry, "external")
    assert "inbox/" not in accepted.path
    assert paths(ask(memory, "zebra")) == [accepted.path]
    assert [one.id for one in memory.curation.pending()] == [other]
    assert memory.count_pending(is_fresh=True) == 1

    memory.curation.undo("")

    assert paths(ask(memory, "zebra")) == []
    assert {one.id for one in memory.curation.pending()} == {entry, other}


def test_the_only_entry_of_a_note_is_accepted_by_its_path(
    memory: Memory, sandbox: Sandbox
) -> None:
    """The note is gone then; the journal does not bring the entry back."""
    write(memory, "The zebra came.")
    [waiting] = memory.curation.pending()

    accepted = memory.curation.accept(waiting.path).memory
    memory.sync()

    assert accepted.text == "The zebra came."
    assert not (sandbox.notes / waiting.path).exists()
    assert memory.curation.pending() == ()
    assert memory.count_pending(is_fresh=True) == 0


def test_a_path_of_several_entries_asks_which(memory: Memory) -> None:
    """A place with lines names one."""
    write(memory, "The zebra came.")
    write(memory, "The okapi left.")
    newest, oldest = memory.curation.pending()

    with pytest.raises(UsageError, match="2 pending claims"):
        memory.curation.accept(newest.path)
    place = lines_text(oldest.path, oldest.start_line, oldest.end_line)
    accepted = memory.curation.accept(place).memory

    assert accepted.text == "The zebra came."


def test_a_rejected_entry_waits_no_more(memory: Memory) -> None:
    """The others do; a restore brings it back to the inbox."""
    entry, other = write(memory, "The zebra came."), write(memory, "The okapi left.")

    rejected = memory.curation.reject(entry)

    assert [one.id for one in rejected.memories] == [entry]
    assert [one.id for one in memory.curation.pending()] == [other]
    assert memory.count_pending(is_fresh=True) == 1
    with pytest.raises(MemoryNotFoundError):
        memory.curation.accept(entry)

    memory.curation.undo("")

    assert {one.id for one in memory.curation.pending()} == {entry, other}


def test_an_entry_that_waits_is_found_for_the_editor(memory: Memory) -> None:
    """By its id: the editor opens the note at its line."""
    entry = write(memory, "The zebra came.")

    assert memory.curation.find_pending(entry) == entry
