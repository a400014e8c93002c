"""A key that is in several scopes never means the wrong memory to what changes one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hivemind_memory.access.rules import Caller, ProjectHere
from hivemind_memory.errors import UsageError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.memories import RELATED
from tests.support.sandbox import Sandbox


@pytest.fixture
def memory(memory: Memory) -> Memory:
    """The key ``port`` in two projects and two teams, ``tide`` also globally."""
    for scope in ("project/shop", "project/site", "team/red", "team/blue"):
        for key in ("port", "tide"):
            memory.save(NewMemory(key=key, content=f"{key} of {scope}", scope=scope))
    memory.save(NewMemory(key="tide", content="tide of all", scope="global"))
    memory.save(NewMemory(key="moon", content="It is full.", scope="global"))
    return memory


def in_project(memory: Memory, name: str) -> Memory:
    """Return the memory as a person's shell in a repository sees it."""
    memory.here = ProjectHere(lambda _: f"projects/{name}")
    return memory


def saved(memory: Memory, **links: tuple[str, ...]) -> object:
    """Save a global memory with links."""
    return memory.save(NewMemory(key="k", content="x", scope="global", **links))  # type: ignore[arg-type]  # fields of it


CHANGES: dict[str, Callable[[Memory], object]] = {
    "start": lambda memory: memory.curation.link("port", "moon", RELATED),
    "end": lambda memory: memory.curation.link("moon", "port", RELATED),
    "related": lambda memory: saved(memory, related=("port",)),
    "contradicts": lambda memory: saved(memory, contradicts=("port",)),
}


@pytest.mark.parametrize("at", CHANGES)
def test_no_scope_is_chosen_by_chance(
    sandbox: Sandbox, memory: Memory, at: str
) -> None:
    """Outside a repository, none of them comes first; nothing is changed."""
    before = {one: one.read_bytes() for one in sandbox.notes.rglob("*.md")}

    with pytest.raises(UsageError, match="projects/shop, projects/site, teams") as told:
        CHANGES[at](memory)

    assert "by its path" in told.value.hint
    assert {one: one.read_bytes() for one in sandbox.notes.rglob("*.md")} == before


def test_no_edge_is_removed_by_chance(memory: Memory) -> None:
    """One end is named by a key that several scopes have."""
    memory.curation.link("moon", "projects/site/port.md", RELATED)

    with pytest.raises(UsageError, match="in several scopes"):
        memory.curation.unlink("moon", "port", RELATED)
    with pytest.raises(UsageError, match="in several scopes"):
        memory.curation.unlink("port", "moon", RELATED)

    assert memory.curation.unlink("moon", "projects/site/port", RELATED).changed_paths


@pytest.mark.parametrize(
    ("start", "end", "linked"),
    [
        ("port", "tide", ("projects/site/port.md", "projects/site/tide.md")),
        ("tide.md", "tide", ("tide.md", "projects/site/tide.md")),
        (
            "projects/shop/port.md",
            "tide",
            ("projects/shop/port.md", "projects/shop/tide.md"),
        ),
        ("moon", "port", ("moon.md", "projects/site/port.md")),
    ],
)
def test_the_scope_of_the_other_end_comes_first_then_the_repository(
    memory: Memory, start: str, end: str, linked: tuple[str, str]
) -> None:
    """As reading says which comes first."""
    done = in_project(memory, "site").curation.link(start, end, RELATED)

    assert (done.from_path, done.to_path) == linked


def test_an_agent_is_told_of_its_own_scopes_only(memory: Memory) -> None:
    """Of two teams with the key, neither comes first; others do not exist."""
    both = Caller(project="projects/boat", teams=("teams/blue", "teams/red"))
    with memory.as_caller(both) as agent, pytest.raises(UsageError) as told:
        agent.curation.link("port", "moon", RELATED)
    with memory.as_caller(Caller(teams=("teams/red",))) as agent:
        done = agent.curation.link("port", "moon", RELATED)

    assert "teams/blue, teams/red." in str(told.value)
    assert "projects/shop" not in str(told.value)
    assert done.changed_paths == ("teams/red/port.md",)
