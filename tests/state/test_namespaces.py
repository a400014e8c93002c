"""What is kept of namespaces: by name, for one notes folder, until it is deleted."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory.errors import UsageError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory
from hivemind_memory.state.namespaces import Namespace, Namespaces
from hivemind_memory.state.state_file import StateFile

WEB = Namespace(
    name="workspace:web",
    scope="workspaces/web",
    kind="workspace",
    expires_at=1_800_000_000.25,
    metadata='{"a":1}',
    created_at=1_700_000_000.5,
)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateFile]:
    opened = StateFile(str(tmp_path / "state.db"))
    yield opened
    opened.close()


def put(state: StateFile, one: Namespace) -> None:
    """Keep a namespace."""
    Namespaces(state).change(one.name, lambda _: one)


def test_what_is_put_is_there_exactly_and_in_its_folder_alone(
    state: StateFile,
) -> None:
    """Times to the microsecond; another notes folder has its own."""
    put(state, WEB)

    assert Namespaces(state).all() == [WEB]
    other = StateFile(state.path, "/notes")
    assert Namespaces(other).all() == []
    put(other, WEB)
    Namespaces(state).change(WEB.name, lambda _: None)
    assert Namespaces(state).all() == []
    assert Namespaces(other).all() == [WEB]


def test_to_look_makes_no_file(state: StateFile) -> None:
    """Most homes have none."""
    assert Namespaces(state).all() == []
    assert not Path(state.path).exists()


def test_what_is_refused_changes_nothing(state: StateFile) -> None:
    """And is told as it is."""
    put(state, WEB)

    def refuse(known: list[Namespace]) -> Namespace:
        assert known == [WEB]
        message = "no"
        raise UsageError(message)

    with pytest.raises(UsageError, match="no"):
        Namespaces(state).change(WEB.name, refuse)
    assert Namespaces(state).all() == [WEB]


def test_32_at_once_lose_nothing(state: StateFile) -> None:
    """Each counts on what the one before has left."""
    put(state, WEB)

    def count() -> None:
        own = StateFile(state.path)
        for _ in range(5):
            Namespaces(own).change(
                WEB.name,
                lambda known: Namespace(
                    name=WEB.name,
                    scope=WEB.scope,
                    kind=WEB.kind,
                    created_at=known[0].created_at + 1,
                ),
            )
        own.close()

    threads = [threading.Thread(target=count) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [one] = Namespaces(state).all()
    assert one.created_at == WEB.created_at + 160


def test_a_scope_that_gets_a_name_keeps_the_namespace_that_meant_it(
    state: StateFile,
) -> None:
    """Two names never mean one scope."""
    for name, scope in (("custom:a", "projects/a"), ("custom:b", "projects/b")):
        put(state, Namespace(name=name, scope=scope, kind="custom"))
    moves = {"projects/a": "projects/c"}
    Namespaces(state).rename_scopes(lambda scope: moves.get(scope, scope))
    assert [one.scope for one in Namespaces(state).all()] == [
        "projects/c",
        "projects/b",
    ]
    moves = {"projects/c": "projects/b"}
    Namespaces(state).rename_scopes(lambda scope: moves.get(scope, scope))
    assert [one.name for one in Namespaces(state).all()] == ["custom:b"]


def test_a_purge_takes_the_text_out_of_metadata(memory: Memory) -> None:
    """A platform may have copied it there."""
    memory.save(NewMemory(key="port", content="The port is 5433."))
    copy = Namespace(
        name="custom:a",
        scope="projects/a",
        kind="custom",
        metadata=json.dumps({"last": ["It said: The port is 5433."]}),
    )
    put(memory.state(), copy)
    put(memory.state(), WEB)

    dry = memory.curation.purge(MemorySelector(name="port"), is_dry_run=True)
    assert Namespaces(memory.state()).all() == [copy, WEB]
    done = memory.curation.purge(MemorySelector(name="port"))

    for receipt in (dry, done):
        [place] = [one for one in receipt.places if one.name == "namespaces"]
        assert place.count == 1
    assert [one.metadata for one in Namespaces(memory.state()).all()] == ["", '{"a":1}']
    for file in Path(memory.places.home).glob("state.db*"):
        assert b"5433" not in file.read_bytes()
