"""What a server keeps open is bounded, however many projects ask."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.access.rules import Caller
from hivemind_memory.mcp_server import server_state
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import Query


def state_of(home: Path, opened: list[Memory]) -> ServerState:
    """A server over one home that serves any project."""
    first = opening.open_memory(home=str(home))

    def open_project(name: str) -> Memory:
        opened.append(first.as_caller(Caller(project=f"projects/{name}")))
        return opened[-1]

    return ServerState(lambda: first, open_project=open_project)


def descriptor_count() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors from /proc")
def test_a_thousand_projects_leave_no_descriptors_open(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of each project stayed open, and after 500 projects no call worked."""
    monkeypatch.setattr(server_state, "MAX_PROJECTS", 4)
    state = state_of(home, [])
    counts = []
    for number in range(1000):
        with state.memory(f"p{number}") as memory:
            if number < 60:
                memory.search(Query(text="anything"))
        if number in (10, 59, 999):
            counts.append(descriptor_count())

    assert state.close(10)
    assert counts[1] <= counts[0]
    assert counts[2] <= counts[0]


def test_a_memory_in_use_is_closed_by_its_last_call(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other projects may crowd it out while a call is under way."""
    monkeypatch.setattr(server_state, "MAX_PROJECTS", 1)
    opened: list[Memory] = []
    closed: list[Memory] = []
    real = Memory.close
    monkeypatch.setattr(Memory, "close", lambda self: (closed.append(self), real(self)))
    state = state_of(home, opened)

    with ExitStack() as stack:
        busy = stack.enter_context(state.memory("busy"))
        again = stack.enter_context(state.memory("busy"))
        with state.memory("other"):
            crowded = list(closed)
        answer = busy.search(Query(text="anything"))
        stack.pop_all().close()
    after = list(closed)

    assert again is busy
    assert crowded == []
    assert answer.hits == ()
    assert after == [busy]
