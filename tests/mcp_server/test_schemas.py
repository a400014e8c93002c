"""The schemas of the tools are built once; what a tool opens is its own server's."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp.server.mcpserver.tools import Tool

from hivemind_memory import opening
from hivemind_memory.mcp_server.server import MemoryServer, make_server
from hivemind_memory.mcp_server.server_state import ServerState
from tests.mcp_server.agents import call, found


def test_a_second_server_builds_no_schemas(
    server: MemoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They took most of the 40 ms that each server of a process took to make."""
    built: list[object] = []
    monkeypatch.setattr(Tool, "from_function", built.append)

    other = make_server(ServerState(pytest.fail), "0ther")

    assert built == []
    assert other is not server


def test_servers_of_one_process_answer_from_their_own_memory(
    server: MemoryServer, home: Path, tmp_path: Path
) -> None:
    """They share schemas, and nothing else of a tool."""
    state = ServerState(lambda: opening.open_memory(home=str(tmp_path / "other")))
    other = make_server(state, "0ther")

    written = found(call(other, "memory_write", content="Terns.", file="t.md"))
    lists = [found(call(one, "memory_list"))["files"] for one in (server, other)]
    state.close(5)

    assert written["path"] == "t.md"
    assert [one["path"] for one in lists[0]] == [
        "deploy.md",
        "odd.md",
        "projects/site.md",
    ]
    assert [one["path"] for one in lists[1]] == ["t.md"]
