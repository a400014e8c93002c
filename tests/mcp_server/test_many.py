"""Ten servers over one index: one leads, the rest follow, a dead one is replaced."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.watch.leader import Leadership
from tests.mcp_server.agents import Pipes, piped
from tests.support.waiting import wait_until

COUNT = 10


def leader_of(home: Path) -> str:
    """Who leads, as ``pid 123``, or nothing."""
    places = opening.open_memory(home=str(home)).places
    return Leadership(places.leader_lock, state_path=places.watch_state).holder()


def wait_for_leader(home: Path, among: list[Pipes]) -> Pipes:
    """Return the server that leads, once one does."""

    def found() -> Pipes | None:
        holder = leader_of(home)
        named = (one for one in among if holder == f"pid {one.process.pid}")
        return next(named, None)

    leader = wait_until(found, "nobody leads")
    assert leader is not None
    return leader


def facts_of(pipes: Pipes, given: str) -> set[str]:
    """The facts that a server finds."""
    found = pipes.call("memory_search", given, query="harbour", max_results=50)
    return {hit["snippet"] for hit in found["structuredContent"]["hits"]}


@pytest.mark.thorough
def test_ten_servers_share_an_index_and_replace_each_leader_that_is_killed(
    home: Path,
) -> None:
    """Any process may take over, within a second."""
    with ExitStack() as stack:
        servers = [stack.enter_context(piped()) for _ in range(COUNT)]
        for pipes in servers:
            pipes.initialize()
        for number, pipes in enumerate(servers):
            pipes.call("memory_write", number, content=f"Harbour {number} is deep.")
        written = {f"Harbour {number} is deep." for number in range(COUNT)}

        assert all(facts_of(pipes, "all") == written for pipes in servers)
        assert [one.name for one in home.rglob("memory.db")] == ["memory.db"]
        leader = wait_for_leader(home, servers)
        # So long that each of the others has asked for the lead and not got it.
        for _ in range(20):
            assert leader_of(home) == f"pid {leader.process.pid}"
            time.sleep(0.05)
        while len(servers) > COUNT // 2:
            os.kill(leader.process.pid, signal.SIGKILL)
            leader.process.wait()
            servers.remove(leader)
            leader = wait_for_leader(home, servers)

        assert all(facts_of(pipes, "after") == written for pipes in servers)
