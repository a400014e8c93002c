"""Marking a todo as done, and as open again."""

from __future__ import annotations

import pytest

from hivemind_memory.errors import MemoryNotFoundError, UsageError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.notes.memory_header import is_done
from tests.support.sandbox import Sandbox, ask, paths


@pytest.fixture
def todo(memory: Memory) -> str:
    """The path of a todo."""
    content = "Renew the certificates."
    wanted = NewMemory(key="renew", content=content, type="todo")
    return memory.curation.save(wanted).path


def status_of(memory: Memory) -> str:
    return memory.curation.show("renew").memory.status


def test_what_is_done_is_no_longer_listed_and_still_found(
    memory: Memory, todo: str
) -> None:
    """There was no command for it: a person had to write the line by hand."""
    first = memory.curation.mark_done("renew")
    again = memory.curation.mark_done("renew")

    assert (first.path, first.is_changed, again.is_changed) == (todo, True, False)
    assert status_of(memory) == "done"
    assert memory.curation.list_memories(MemoryFilter()) == ()
    assert paths(ask(memory, "certificates")) == [todo]


def test_a_done_is_taken_back_and_made_again(
    memory: Memory, todo: str, sandbox: Sandbox
) -> None:
    """The note is what it was, to the byte."""
    before = (sandbox.notes / todo).read_bytes()
    memory.curation.mark_done("renew")
    marked = (sandbox.notes / todo).read_bytes()

    undone = memory.curation.undo("")

    assert (undone.kind, undone.reopened) == ("done", todo)
    assert (sandbox.notes / todo).read_bytes() == before
    assert memory.curation.undo(undone.id).done == todo
    assert (sandbox.notes / todo).read_bytes() == marked


def test_a_done_memory_is_open_again(memory: Memory, todo: str) -> None:
    """And `hm undo` marks it as done once more."""
    memory.curation.mark_done("renew")

    assert memory.curation.mark_done("renew", is_open=True).is_changed
    assert status_of(memory) == "active"
    assert memory.curation.undo("").done == todo


def test_a_day_to_come_is_not_done_yet(
    memory: Memory, todo: str, sandbox: Sandbox
) -> None:
    """A person may have planned it."""
    note = sandbox.notes / todo
    planned = note.read_text().replace("type: todo", "type: todo\ndone: 2999-01-01")
    note.write_text(planned)

    assert memory.curation.mark_done("renew").is_changed
    assert status_of(memory) == "done"


def test_what_is_done_stays_done_further_west(
    memory: Memory, todo: str, sandbox: Sandbox
) -> None:
    """There it may still be the day before, or the day before that."""
    memory.curation.mark_done("renew")
    sandbox.ahead_s = -25 * 3_600

    assert status_of(memory) == "done"
    assert memory.curation.list_memories(MemoryFilter(statuses=("done",))) != ()
    assert not memory.curation.mark_done("renew").is_changed
    assert is_done(102, today=100)
    assert not is_done(103, today=100)


def test_only_a_typed_memory_can_be_done(memory: Memory) -> None:
    """Free text has no front matter to say so in."""
    written = memory.write("The walrus is staging.")

    with pytest.raises(UsageError, match="not a typed memory"):
        memory.curation.mark_done(written.path)
    with pytest.raises(MemoryNotFoundError):
        memory.curation.mark_done("nosuch")
