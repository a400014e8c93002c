"""What is kept by the id of a memory belongs to it, not to a copy in another scope.

Ids are in the notes, so anyone who writes notes can give one to another note.
"""

from __future__ import annotations

import apsw
import pytest

from hivemind_memory.access.rules import Caller
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.notes.journal import Journal
from tests.support.sandbox import Sandbox, ask

SITE = Caller(project="projects/site")
SHOP = Caller(project="projects/shop")
COPY = "projects/shop/copy.md"


@pytest.fixture
def memory(sandbox: Sandbox) -> Memory:
    """A memory of site, recalled twice, and a note of shop with its id."""
    memory = sandbox.memory()
    with memory.as_caller(SITE) as site:
        site.save(NewMemory(key="port", content="The harbour opens at five."))
        for _ in range(2):
            site.record_recall(ask(site, "harbour"))
    text = (sandbox.notes / "projects/site/port.md").read_text()
    sandbox.save(COPY, text.replace("The harbour opens", "Another one closes"))
    memory.sync()
    return memory


def recalls(memory: Memory, caller: Caller) -> int:
    """Return how often the only memory that a project has was recalled."""
    with memory.as_caller(caller) as asking:
        shown = asking.curation.show(_own(asking))
        [listed] = [
            one for one in asking.curation.list_memories(MemoryFilter()) if one.id
        ]
        counts = asking.curation.recalls([listed])
        assert list(counts.values()) == [shown.recall][: len(counts)]
        return shown.recall.access_count


def _own(asking: Memory) -> str:
    [one] = asking.curation.list_memories(MemoryFilter())
    return one.path


def purge(memory: Memory, caller: Caller, name: str) -> None:
    with memory.as_caller(caller) as asking:
        asking.curation.purge(MemorySelector(name=name), is_forced=True)


def test_a_copied_id_shows_no_recalls_of_the_other_note(memory: Memory) -> None:
    """It would tell how often another project's agents ask."""
    assert recalls(memory, SHOP) == 0
    assert recalls(memory, SITE) == 2


def test_recalls_of_a_copy_are_its_own(memory: Memory) -> None:
    """In the other direction."""
    with memory.as_caller(SHOP) as shop:
        shop.record_recall(ask(shop, "another"))

    assert recalls(memory, SHOP) == 1
    assert recalls(memory, SITE) == 2


@pytest.mark.parametrize("caller", [SHOP, None])
def test_purging_a_copy_leaves_the_counter_and_the_changes(
    memory: Memory, caller: Caller | None
) -> None:
    """Also when the owner does it, who sees both."""
    if caller:
        purge(memory, caller, COPY)
    else:
        memory.curation.purge(MemorySelector(name=COPY), is_forced=True)

    assert recalls(memory, SITE) == 2
    with memory.as_caller(SITE) as site:
        assert site.curation.undo("").kind == "save"
        assert site.curation.list_memories(MemoryFilter()) == ()


def test_purging_a_memory_that_was_moved_by_hand_leaves_nothing(
    sandbox: Sandbox,
) -> None:
    """Its counter and its change still name the scope that it had."""
    with sandbox.memory() as memory:
        with memory.as_caller(SITE) as site:
            site.save(NewMemory(key="port", content="The harbour opens at five."))
            site.record_recall(ask(site, "harbour"))
        (sandbox.notes / "projects/shop").mkdir()
        (sandbox.notes / "projects/site/port.md").rename(sandbox.notes / COPY)
        memory.sync()

        memory.curation.purge(MemorySelector(name=COPY), is_forced=True)

    state = apsw.Connection(str(sandbox.home / "state.db"))
    assert state.execute("SELECT * FROM recalls").fetchall() == []
    assert "port" not in str(state.execute("SELECT record FROM changes").fetchall())


@pytest.mark.parametrize("is_purged", [True, False])
def test_removing_the_copy_of_an_entry_keeps_the_text_in_the_journal(
    sandbox: Sandbox, is_purged: bool
) -> None:
    """A stale save that loses the entry of site would lose it for good."""
    with sandbox.memory() as memory:
        with memory.as_caller(SITE) as site:
            site.write("The harbour is blue.", file="day.md")
        written = (sandbox.notes / "projects/site/day.md").read_text()
        sandbox.save("projects/shop/day.md", written.replace("harbour", "copy"))
        memory.sync()
        with memory.as_caller(SHOP) as shop:
            [found] = ask(shop, "copy").hits
            selector = MemorySelector(name=found.id)
            if is_purged:
                shop.curation.purge(selector)
            else:
                shop.forget(selector)

        kept = Journal(sandbox.places.journal, sandbox.places.notes).entries()

    assert [one.path for one in kept] == ["projects/site/day.md"]


def test_a_counter_from_before_it_had_a_scope_goes_to_the_only_note_with_its_id(
    sandbox: Sandbox,
) -> None:
    """If two scopes have such a note, it is dropped."""
    with sandbox.memory() as memory:
        with memory.as_caller(SITE) as site:
            ids = [
                site.save(NewMemory(key=key, content=f"The {key} is deep.")).id
                for key in ("port", "lake")
            ]
        text = (sandbox.notes / "projects/site/port.md").read_text()
        sandbox.save(COPY, text)
        memory.sync()
        state = apsw.Connection(str(sandbox.home / "state.db"))
        for one in ids:
            state.execute("INSERT INTO recalls VALUES (?, '?', '', 7, 1)", (one,))
        state.close()

        with memory.as_caller(SITE) as site:
            found = site.curation.list_memories(MemoryFilter())
            counts = site.curation.recalls(found)

        assert {ref: one.access_count for ref, one in counts.items()} == {
            ("projects/site", ids[1]): 7
        }
    state = apsw.Connection(str(sandbox.home / "state.db"))
    assert state.execute("SELECT scope, count FROM recalls").fetchall() == [
        ("projects/site", 7)
    ]
