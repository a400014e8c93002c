"""Named tokens over HTTP: who asks, what that one sees, and that it may only read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory import environment, opening
from hivemind_memory.curation.access_tokens import AccessTokens
from hivemind_memory.mcp_server import client_memory
from hivemind_memory.mcp_server import server as server_module
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from tests.mcp_server.agents import initialize_request
from tests.mcp_server.test_http_projects import post
from tests.mcp_server.test_http_sessions import Clients, serving

TOOLS = Path(server_module.__file__).with_name("tools.json")
HELLO = initialize_request(1, "http")
CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_write", {"content": "x"}),
    ("memory_save", {"key": "new", "content": "x"}),
    ("memory_save", {"key": "deploy", "content": "x", "supersede_reason": "y"}),
    ("memory_learn", {"topic": "new", "claim": "x"}),
    ("memory_forget", {"key": "deploy"}),
    ("memory_link", {"from": "deploy", "to": "notes", "kind": "related_to"}),
)


@pytest.fixture
def tokens(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AccessTokens]:
    """The tokens of the memory, as its owner has them."""
    monkeypatch.delenv("HIVEMIND_PROJECT", raising=False)
    with opening.open_memory(home=str(home)) as memory:
        for key in ("deploy", "notes"):
            for project in ("shop", "blog"):
                memory.curation.save(
                    _new_memory(key, f"{key} of the {project}", project)
                )
        yield AccessTokens(memory.state(), memory.clocks, memory.caller)


def _new_memory(key: str, content: str, project: str) -> Any:
    """Return a memory to save."""
    from hivemind_memory import NewMemory

    scope = f"project/{project}"
    return NewMemory(key=key, content=content, type="decision", scope=scope)


@contextmanager
def clients_of(
    home: Path, tokens: AccessTokens, project: str = ""
) -> Iterator[Clients]:
    """A server that knows the tokens; *project* is the one it was started with."""
    request = environment.agent_scope_request(project=project or "none")
    state = ServerState(
        lambda: opening.open_memory(home=str(home), scope_request=request),
        open_project=None if project else client_memory.open_connection_memory,
        open_for_token=lambda named, token: client_memory.open_connection_memory(
            project or named or "none",
            workspace=token.workspace,
            teams=",".join(token.teams),
            is_read_only=token.is_read_only,
        ),
    )
    server = make_server(state, "5e551017")
    with serving(server, find_token=tokens.admit) as served:
        yield served
    assert state.close(5)


@pytest.fixture
def clients(home: Path, tokens: AccessTokens) -> Iterator[Clients]:
    """A server whose connections bring their projects."""
    with clients_of(home, tokens) as served:
        yield served


def call(
    clients: Clients, session: str, tool: str, given: dict[str, Any], **headers: str
) -> dict[str, Any]:
    """Call a tool; return the result."""
    params = {"name": tool, "arguments": given}
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    _, _, answer = post(clients, body, Mcp_Session_Id=session, **headers)
    result: dict[str, Any] = answer["result"]
    return result


def text_of(result: dict[str, Any]) -> str:
    """What a model reads."""
    return str(result["content"][0]["text"])


def as_client(clients: Clients, secret: str) -> Clients:
    """The same server, for the client of another token."""
    client = Clients(clients.port)
    client.token = secret
    return client


def files_below(folder: Path) -> dict[str, bytes]:
    """Every note, with its bytes."""
    return {str(path): path.read_bytes() for path in folder.rglob("*.md")}


def test_a_token_of_a_project_sees_no_other_whatever_its_connection_says(
    clients: Clients, tokens: AccessTokens, home: Path
) -> None:
    """Neither a header nor a path leads out of it, and it writes under its name."""
    of_shop = as_client(clients, tokens.add("ci", project="shop"))
    _, session, _ = post(of_shop, HELLO, Hivemind_Project="blog")

    for header in ({}, {"Hivemind_Project": "blog"}, {"Hivemind_Project": "/"}):
        found = text_of(
            call(of_shop, session, "memory_search", {"query": "deploy"}, **header)
        )
        assert "deploy of the shop" in found
        assert "blog" not in found
    refused = call(of_shop, session, "memory_get", {"path": "projects/blog/deploy.md"})
    assert refused["isError"]
    kept = call(of_shop, session, "memory_write", {"content": "We ship on Fridays."})
    assert kept["structuredContent"]["scope"] == "projects/shop"
    [note] = (home / "memory" / "projects" / "shop").glob("20*.md")
    assert "by=ci " in note.read_text(encoding="utf-8")


def test_a_read_only_token_changes_nothing_and_reads(
    clients: Clients, tokens: AccessTokens, home: Path
) -> None:
    """Every tool that changes something refuses, and says why."""
    listed = json.loads(TOOLS.read_text(encoding="utf-8"))["tools"]
    tools = {one["name"]: one["annotations"]["readOnlyHint"] for one in listed}
    assert {name for name, _ in CHANGES} == {name for name in tools if not tools[name]}
    reader = as_client(clients, tokens.add("reader", project="shop", is_read_only=True))
    _, session, _ = post(reader, HELLO)
    before = files_below(home)

    for tool, given in CHANGES:
        refused = call(reader, session, tool, given)
        assert refused["isError"], tool
        assert "This connection may only read" in text_of(refused), tool
    assert "deploy of the shop" in text_of(
        call(reader, session, "memory_search", {"query": "deploy"})
    )
    assert files_below(home) == before


def test_a_revoked_or_expired_token_is_refused_at_its_next_request(
    clients: Clients, tokens: AccessTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its open session does not help it."""
    guest = as_client(clients, tokens.add("guest"))
    today = tokens._clocks.today()
    until_today = as_client(clients, tokens.add("today", expires_day=today))
    _, session, _ = post(guest, HELLO)
    assert post(until_today, HELLO)[0] == 200

    tokens.revoke("guest")
    with monkeypatch.context() as patched:
        patched.setattr(type(tokens._clocks), "today", lambda _self: today + 1)
        late, _, _ = post(until_today, HELLO)

    status, _, answer = post(guest, HELLO, Mcp_Session_Id=session)
    assert (status, answer) == (401, {"error": "the token is missing or wrong"})
    assert late == 401
    assert post(as_client(clients, "hm_wrong"), HELLO)[0] == 401
    assert post(clients, HELLO)[0] == 200


def test_a_session_belongs_to_the_token_that_began_it(
    clients: Clients, tokens: AccessTokens
) -> None:
    """Else its project, and what the server sends to it, would be another client's."""
    one, other = (as_client(clients, tokens.add(name)) for name in ("one", "other"))
    _, session, _ = post(one, HELLO, Hivemind_Project="shop")
    body = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    assert post(one, body, Mcp_Session_Id=session)[0] == 200
    assert post(other, body, Mcp_Session_Id=session)[0] == 404
    assert post(clients, body, Mcp_Session_Id=session)[0] == 404


def test_a_server_of_one_project_takes_no_token_of_another(
    home: Path, tokens: AccessTokens
) -> None:
    """Which of the two would count is not for a guess; a right to read may be less."""
    with clients_of(home, tokens, project="shop") as clients:
        of_blog = as_client(clients, tokens.add("blog", project="blog"))
        reader = as_client(clients, tokens.add("reader", is_read_only=True))

        status, _, answer = post(of_blog, HELLO)
        assert status == 403
        assert "takes no token that has its own" in answer["error"]
        _, session, _ = post(reader, HELLO)
        found = text_of(call(reader, session, "memory_search", {"query": "deploy"}))
        assert "deploy of the shop" in found
        assert "blog" not in found
        assert call(reader, session, *CHANGES[0])["isError"]


def test_a_token_offers_the_scopes_of_its_client(
    clients: Clients, tokens: AccessTokens
) -> None:
    """A workspace that only this client has is in nobody else's list."""
    lists = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    offered = []
    for client in (clients, as_client(clients, tokens.add("ws", workspace="a"))):
        _, session, _ = post(client, HELLO)
        _, _, answer = post(client, lists, Mcp_Session_Id=session)
        tools = {tool["name"]: tool for tool in answer["result"]["tools"]}
        arguments = tools["memory_save"]["inputSchema"]["properties"]
        offered.append(arguments["scope"]["enum"])

    assert offered == [["global", "project"], ["global", "project", "workspace"]]
