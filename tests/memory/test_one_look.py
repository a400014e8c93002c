"""What is read in one look is of one state of the notes, and compares them once."""

from __future__ import annotations

import pytest

from hivemind_memory.memory.freshness import FreshnessCheck
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import Query
from tests.support.sandbox import Sandbox

NOTE = "---\ntype: fact\nkey: {}\n---\nThe port is {}.\n"


def test_the_parts_of_a_page_are_of_one_state(sandbox: Sandbox, memory: Memory) -> None:
    """What changes meanwhile is in the next answer; a search finds it at once."""
    sandbox.save("a.md", NOTE.format("a", 5432))
    handle = memory.index_handle
    with handle.one_look():
        before = memory.lists.count("type")
        sandbox.save("b.md", NOTE.format("b", 5433))

        meanwhile = (memory.lists.count("type"), len(memory.lists.memories()))
        found = memory.search(Query(text="5433")).hits
    after = memory.lists.count("type")

    assert before == {("fact",): 1}
    assert [hit.path for hit in found] == ["b.md"]
    assert meanwhile == ({("fact",): 1}, 1)
    assert after == {("fact",): 2}


def test_notes_are_compared_once_for_all_parts(
    sandbox: Sandbox, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The form of an edit looked three times, which took seconds while others wrote."""
    sandbox.save("a.md", NOTE.format("a", 5432))
    looks = []
    ensure_fresh = FreshnessCheck.ensure_fresh

    def counted(self: FreshnessCheck, *args: object, **more: object) -> object:
        looks.append(self)
        return ensure_fresh(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(FreshnessCheck, "ensure_fresh", counted)
    with memory.index_handle.one_look():
        for _ in range(3):
            assert memory.curation.show("a").memory.key == "a"
            assert memory.lists.count("scope") == {("",): 1}
            assert memory.lists.disputes() == []
            assert memory.lists.folder("", 10).total == 1
    assert len(looks) == 1
    memory.lists.count("scope")
    assert len(looks) == 2


def test_a_change_within_a_look_is_made_on_the_newest_state(
    sandbox: Sandbox, memory: Memory
) -> None:
    """Whoever changes something looks again."""
    sandbox.save("a.md", NOTE.format("a", 5432))
    with memory.index_handle.one_look():
        assert memory.curation.show("a").memory.key == "a"
        sandbox.save("b.md", NOTE.format("b", 5433))

        memory.curation.link("a", "b", "related_to")

    assert [edge.key for edge in memory.curation.show("a").edges] == ["b"]
