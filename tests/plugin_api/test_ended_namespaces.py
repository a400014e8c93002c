"""Of a namespace that has ended nothing is answered, on no surface."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.access.rules import OWNER, Caller
from hivemind_memory.errors import MemoryNotFoundError, NoteNotFoundError
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.memories import ACTIVE
from hivemind_memory.model.query import Query
from hivemind_memory.plugin_api.memories import write_row
from hivemind_memory.plugin_api.namespaces import put_namespace
from hivemind_memory.plugin_api.rows import NewRow, key_of
from tests.plugin_api.homes import READER, WEB, FrozenHome, frozen_home

OWN = "5b1f0c1e-7c1e-4f43-9d4d-0f9f7f1d2a10"
TEXT, KEPT = "the quokka is of the platform", "the quokka is of a person"


@pytest.fixture
def home(tmp_path: Path) -> FrozenHome:
    """A home with a namespace that ends in a minute, and what a person saved there."""
    home = frozen_home(tmp_path)
    with home.memory() as memory:
        end_s = home.now_s + 60
        put_namespace(memory, "workspace:web", kind="workspace", expires_at=end_s)
        write_row(memory, "workspace:web", NewRow(content=TEXT, id=OWN))
        saved = NewMemory(key="k", content=KEPT, type="fact", scope="workspace/web")
        memory.save(saved)
        memory.sync()
    return home


@pytest.mark.parametrize("caller", [OWNER, WEB, READER])
def test_an_ended_namespace_is_neither_found_nor_listed(
    home: FrozenHome, caller: Caller
) -> None:
    """Whoever asks first, also one that may change nothing."""
    with home.seen_by(caller) as memory:
        assert len(memory.search(Query(text="quokka")).hits) == 2
    home.now_s += 61
    with home.seen_by(caller) as memory:
        [hit] = memory.search(Query(text="quokka")).hits
        assert "person" in hit.snippet
    with home.seen_by(caller) as memory:
        listed = [row for row in memory.memories() if row.status == ACTIVE]
        assert [row.key for row in listed] == ["k"]


def test_an_ended_namespace_is_not_looked_up_by_key(home: FrozenHome) -> None:
    """Its memory counts as forgotten; the name is free again."""
    home.now_s += 61
    with home.seen_by(WEB) as memory, pytest.raises(MemoryNotFoundError):
        memory.curation.show(key_of(OWN))
    with home.memory() as memory:
        put_namespace(memory, "workspace:web", kind="workspace")
        [hit] = memory.search(Query(text="quokka")).hits
    assert "person" in hit.snippet


@pytest.mark.parametrize("caller", [WEB, READER])
def test_an_ended_namespace_is_not_read_by_the_path_of_its_note(
    home: FrozenHome, caller: Caller
) -> None:
    """Not by who asks first for the whole note, either; the owner sees every line."""
    with home.memory() as memory:
        [path] = [row.path for row in memory.memories() if row.key == key_of(OWN)]
    home.now_s += 61
    with home.seen_by(caller) as memory, pytest.raises(NoteNotFoundError):
        memory.read(path)
    with home.memory() as memory:
        assert TEXT in memory.read(path).text


def test_a_server_sees_that_a_namespace_ends_between_two_calls(
    home: FrozenHome,
) -> None:
    """The memory that its calls share has been open all the time."""
    with home.seen_by(WEB) as memory:
        assert len(memory.current().search(Query(text="quokka")).hits) == 2
        home.now_s += 61
        assert len(memory.current().search(Query(text="quokka")).hits) == 1
