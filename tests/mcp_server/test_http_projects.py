"""Which project a request over HTTP works in, and what names none."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import anyio
import pytest

from hivemind_memory import opening
from hivemind_memory.mcp_server import client_memory
from hivemind_memory.mcp_server.http_projects import (
    SessionProjects,
    project_of,
    read_project,
)
from hivemind_memory.mcp_server.http_sessions import (
    Message,
    Receive,
    Scope,
    Send,
    header_of,
)
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from tests.mcp_server.agents import initialize_request
from tests.mcp_server.test_http_sessions import Clients, serving
from tests.mcp_server.test_projects import ask

HEADER = "Hivemind-Project"
HELLO = initialize_request(1, "http")


@pytest.fixture
def clients(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clients]:
    """A server whose connections bring their projects."""
    monkeypatch.delenv("HIVEMIND_PROJECT")
    state = ServerState(
        lambda: opening.open_memory(home=str(home)),
        open_project=client_memory.open_connection_memory,
    )
    with serving(make_server(state, "5e551017")) as served:
        yield served
    assert state.close(5)


def post(
    clients: Clients, body: Any, query: str = "", **headers: str
) -> tuple[int, str, dict[str, Any]]:
    """Send a request with headers (``_`` for ``-``); return status, session, answer."""
    sent = {
        "Authorization": f"Bearer {clients.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    line = http.client.HTTPConnection("127.0.0.1", clients.port, timeout=120)
    try:
        line.request("POST", f"/mcp{query}", json.dumps(body), sent)
        response = line.getresponse()
        text = response.read().decode().rpartition("data: ")[2]
    finally:
        line.close()
    session = response.getheader("mcp-session-id") or ""
    return response.status, session, json.loads(text)


def write(
    clients: Clients,
    session: str,
    query: str = "",
    turn: dict[str, Any] | None = None,
    **headers: str,
) -> dict[str, Any]:
    """Write in a session; return the result."""
    params = {
        "name": "memory_write",
        "arguments": {"content": "x"},
        "_meta": {"x-codex-turn-metadata": turn} if turn else {},
    }
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    _, _, answer = post(clients, body, query, Mcp_Session_Id=session, **headers)
    result: dict[str, Any] = answer["result"]
    return result


def scope_of(result: dict[str, Any]) -> str:
    """Where a write went."""
    assert not result["isError"], result
    return str(result["structuredContent"].get("scope", ""))


def test_a_session_begun_in_a_project_stays_there_without_the_header(
    clients: Clients,
) -> None:
    """A later request without the header once wrote for all projects."""
    _, by_header, _ = post(clients, HELLO, Hivemind_Project="shop")
    _, by_address, _ = post(clients, HELLO, "?project=blog")
    _, unnamed, _ = post(clients, HELLO)
    _, without, _ = post(clients, HELLO, Hivemind_Project="none")

    assert scope_of(write(clients, by_header)) == "projects/shop"
    # A variable that a client does not expand names nothing.
    kept = write(clients, by_header, Hivemind_Project="${PWD}")
    assert scope_of(kept) == "projects/shop"
    assert "warnings" not in kept["structuredContent"]
    assert scope_of(write(clients, by_address)) == "projects/blog"
    assert scope_of(write(clients, unnamed)) == ""
    assert scope_of(write(clients, unnamed, "?project=own")) == "projects/own"
    assert scope_of(write(clients, unnamed)) == "projects/own"
    assert scope_of(write(clients, without)) == ""
    # Another project counts for its request alone.
    other = write(clients, by_header, Hivemind_Project="blog")
    assert scope_of(other) == "projects/blog"
    assert scope_of(write(clients, by_header)) == "projects/shop"


def test_the_project_of_a_session_is_forgotten_with_it() -> None:
    """Else a server that runs for months would keep that of every session."""
    passed: list[str] = []

    async def app(scope: Scope, _: Receive, send: Send) -> None:
        passed.append(project_of(SimpleNamespace(scope=scope)))
        is_new = not header_of(scope, b"mcp-session-id")
        status = 404 if scope["method"] == "GET" else 200
        headers = [(b"mcp-session-id", b"one")] if is_new else []
        start = {"type": "http.response.start", "status": status}
        await send({**start, "headers": headers})

    projects = SessionProjects(app, "/mcp")

    async def request(method: str = "POST", **headers: str) -> None:
        sent = [
            (name.replace("_", "-").encode(), value.encode())
            for name, value in headers.items()
        ]
        scope = {"type": "http", "method": method, "path": "/mcp", "headers": sent}
        await projects({**scope, "query_string": b""}, receive, ignore)

    async def receive() -> Message:
        raise AssertionError

    async def ignore(_: Message) -> None:
        pass

    async def run(ending: str) -> None:
        await request(hivemind_project="shop")
        await request(mcp_session_id="one")
        await request(ending, mcp_session_id="one")
        await request(mcp_session_id="one")

    anyio.run(run, "DELETE")
    anyio.run(run, "GET")

    assert passed == ["shop", "shop", "shop", ""] * 2


def test_auto_names_no_project_and_is_refused(clients: Clients) -> None:
    """It once meant no project, and the session wrote for all projects."""
    for given in ("auto", "Auto", "%61uto"):
        for what, (status, session, answer) in (
            (f"header {HEADER}", post(clients, HELLO, Hivemind_Project=given)),
            ("parameter project", post(clients, HELLO, f"?project={given}")),
        ):
            assert (status, session) == (400, "")
            assert f"The {what} is" in answer["error"]["message"]
            assert "or none." in answer["error"]["message"]


def test_an_empty_project_is_none_and_costs_no_agent_its_tools(
    clients: Clients,
) -> None:
    """A service has no PWD: Gemini CLI and OpenCode send the header without a value,
    were refused with status 400, and had no tools."""
    for given in ("", "%20"):
        status, session, _ = post(clients, HELLO, Hivemind_Project=given)
        by_header = write(clients, session, Hivemind_Project=given)
        by_address = write(clients, session, f"?project={given}")

        assert status == 200
        for result in (by_header, by_address):
            assert scope_of(result) == ""
            [warning] = result["structuredContent"]["warnings"]
            assert "is empty or an unset variable" in warning


def test_none_is_the_word_for_no_project(clients: Clients) -> None:
    """In any letter case, as other names are."""
    result = ask(clients, "memory_write", {HEADER: "None"}, content="x")

    assert scope_of(result) == ""
    assert "warnings" not in result["structuredContent"]


def test_a_server_for_one_project_does_not_judge_the_header(home: Path) -> None:
    """It is not read there."""
    state = ServerState(lambda: opening.open_memory(home=str(home)))
    with serving(make_server(state, "5e551017")) as served:
        status, session, _ = post(served, HELLO, Hivemind_Project="auto")
        assert status == 200
        assert scope_of(write(served, session)) == ""
    assert state.close(5)


def test_nul_in_a_folder_is_refused_in_a_sentence(clients: Clients) -> None:
    """It once was an unexpected error, a ValueError, and told nobody what to change."""
    _, session, _ = post(clients, HELLO)
    path = "/nowhere/a\0b"
    for result in (
        write(clients, session, Hivemind_Project=quote(path)),
        write(clients, session, f"?project={quote(path)}"),
        write(clients, session, turn={"workspaces": {path: {}}}),
    ):
        [content] = result["content"]
        assert result["isError"]
        assert r"/nowhere/a\x00b is not a folder" in content["text"]
        assert "Nothing was saved." in content["text"]


def test_a_control_character_in_a_project_is_refused_in_one_line(
    clients: Clients,
) -> None:
    """What follows a line break could pass for a part of the answer."""
    _, session, _ = post(clients, HELLO, Hivemind_Project="none")
    for letter in "\0\t\n\x1b\x7f\x85\u2028":
        for given in (f"sh{letter}op", f"/nowhere/sh{letter}op"):
            for result in (
                write(clients, session, Hivemind_Project=quote(given)),
                write(clients, session, f"?project={quote(given)}"),
            ):
                [content] = result["content"]
                assert result["isError"]
                assert "Unexpected" not in content["text"]
                assert letter not in content["text"]


def test_a_folder_may_have_the_signs_of_a_variable(tmp_path: Path) -> None:
    """Its agent wrote for every project."""
    folder = tmp_path / "{{name}} $x"
    folder.mkdir()

    assert read_project(str(folder)) == str(folder)
    assert read_project("${PWD}") == read_project("{{name}}") == ""
