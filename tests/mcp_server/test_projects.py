"""Whose call it is: the project and the session of each connection."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ListRootsResult, Root

from hivemind_memory import opening
from hivemind_memory.mcp_server import client_memory
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from tests.mcp_server.agents import piped
from tests.mcp_server.test_http import Served, serving
from tests.mcp_server.test_http_sessions import Clients

VERSION = "2026-07-28"
ROOTS_GO = "ignore:The roots capability is deprecated"
"""The newest protocol has none, and clients of the older ones still tell theirs."""

UNNAMED = "this connection names no project"


@pytest.fixture(autouse=True)
def _without_project(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would count for every connection."""
    monkeypatch.delenv("HIVEMIND_PROJECT")


@pytest.fixture
def served(home: Path) -> Iterator[Served]:
    """A server over HTTP, started outside of any repository."""
    with serving(home) as one:
        yield one


def repository(folder: Path, origin: str = "") -> Path:
    """A git repository."""
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    if origin:
        words = ["git", "-C", str(folder), "remote", "add", "origin", origin]
        subprocess.run(words, check=True)
    return folder


def ask(
    served: Served | Clients,
    tool: str,
    headers: dict[str, str | bytes] | None = None,
    meta: dict[str, Any] | None = None,
    *,
    roots: tuple[Path, ...] = (),
    **arguments: Any,
) -> dict[str, Any]:
    """Call a tool as Claude Code does: without a session, answering what is asked."""
    sent: dict[str, str | bytes] = {
        "Authorization": f"Bearer {served.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "MCP-Method": "tools/call",
        "MCP-Name": tool,
        **(headers or {}),
    }
    about = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {"listChanged": True}},
        **(meta or {}),
    }
    params = {"name": tool, "arguments": arguments, "_meta": about}
    result = _answer(served, sent, params)
    if result.get("resultType") == "input_required":
        assert result["inputRequests"]["roots"]["method"] == "roots/list"
        told = {"roots": [{"uri": folder.as_uri()} for folder in roots]}
        params["inputResponses"] = {"roots": told}
        params["requestState"] = result["requestState"]
        result = _answer(served, sent, params)
    return result


def _answer(
    served: Served | Clients, headers: dict[str, str | bytes], params: dict[str, Any]
) -> dict[str, Any]:
    """Send one call; return its result."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    try:
        line.request("POST", "/mcp", json.dumps(body), headers)
        answer: dict[str, Any] = json.loads(line.getresponse().read())
    finally:
        line.close()
    result: dict[str, Any] = answer["result"]
    return result


def written(result: dict[str, Any]) -> dict[str, Any]:
    """What a write returned."""
    assert not result["isError"], result
    found: dict[str, Any] = result["structuredContent"]
    return found


def scope_of(served: Served, header: str | bytes, **more: Any) -> str:
    """Where a write goes for a connection with a header."""
    result = ask(
        served, "memory_write", {"Hivemind-Project": header}, content="x", **more
    )
    return str(written(result).get("scope", ""))


def session_of(home: Path, word: str) -> str:
    """The session that the entry with a word was written in."""
    for note in (home / "memory").rglob("*.md"):
        before, _, _ = note.read_text(encoding="utf-8").partition(word)
        if before and word in note.read_text(encoding="utf-8"):
            return before.rpartition("session=")[2].split()[0]
    raise AssertionError(word)


def save_and_find(
    served: Served, word: str, client: dict[str, Any], headers: dict[str, str]
) -> list[str]:
    """Save a memory in the project's scope, and return the keys that are found."""

    async def run() -> list[str]:
        sent = {"Authorization": f"Bearer {served.token}", **headers}
        async with httpx2.AsyncClient(headers=sent) as http_client:
            transport = streamable_http_client(served.url, http_client=http_client)
            async with Client(transport, mode="legacy", **client) as opened:
                arguments = {"key": word, "content": f"Osprey {word}."}
                await opened.call_tool("memory_save", {**arguments, "scope": "project"})
                found = await opened.call_tool("memory_search", {"query": "osprey"})
                assert found.structured_content is not None
                return [hit["key"] for hit in found.structured_content["hits"]]

    return anyio.run(run)


def test_each_connection_brings_its_own_project(served: Served, tmp_path: Path) -> None:
    """All agents of one HTTP server once shared the project of the server's folder."""
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")

    async def roots(*_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=f"file://{two}")])

    by_header = save_and_find(served, "a", {}, {"Hivemind-Project": str(one)})
    by_roots = save_and_find(served, "b", {"list_roots_callback": roots}, {})
    by_name = save_and_find(served, "c", {}, {"Hivemind-Project": "shop"})
    unexpanded = save_and_find(served, "d", {}, {"Hivemind-Project": "${PWD}"})
    without = save_and_find(served, "e", {}, {})

    assert (by_header, by_roots, by_name) == (["a"], ["b"], ["c"])
    assert unexpanded == without == []


@pytest.mark.parametrize(
    "header", [{}, {"Hivemind-Project": "${PWD}"}, {"Hivemind-Project": ""}]
)
def test_a_write_without_a_project_says_that_every_project_sees_it(
    served: Served, header: dict[str, str | bytes]
) -> None:
    """Claude Code over HTTP once leaked so, and nobody was told. The advice was to run
    the command that had written the variable which is not set."""
    found = ask(served, "memory_list", header)
    text = found["content"][0]["text"]
    assert text.startswith("Read without a project: this connection names no project")
    assert ("hm connect AGENT` without --http" in text) == bool(header)
    wrote = ask(served, "memory_write", header, content="The key is under the mat.")
    saved = ask(served, "memory_save", header, key="mat", content="Under the mat.")
    meant = ask(served, "memory_write", header, content="y", scope="global")
    named = ask(served, "memory_write", {"Hivemind-Project": "shop"}, content="z")

    for result in (wrote, saved):
        [warning] = written(result)["warnings"]
        assert UNNAMED in warning
        assert "Hivemind-Project" in warning
        assert UNNAMED in result["content"][0]["text"]
    assert "warnings" not in written(meant)
    assert "warnings" not in written(named)


def test_a_server_for_one_project_warns_nobody(home: Path) -> None:
    """Its connections share what it was started with, and cannot name another."""
    with serving(home, "--project", "none") as served:
        assert "warnings" not in written(ask(served, "memory_write", content="x"))


def test_roots_count_more_than_a_folder_that_a_variable_may_name(
    served: Served, tmp_path: Path
) -> None:
    """A program that starts an agent in another folder leaves PWD as it was, and the
    agent read and wrote the notes of the wrong project."""
    shop, bakery = repository(tmp_path / "shop"), repository(tmp_path / "bakery")
    stale: dict[str, str | bytes] = {"Hivemind-Project": str(shop)}
    named: dict[str, str | bytes] = {"Hivemind-Project": "own"}

    async def roots(*_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=f"file://{bakery}")])

    with_session = save_and_find(
        served, "a", {"list_roots_callback": roots}, {"Hivemind-Project": str(shop)}
    )
    kept = [
        written(ask(served, "memory_write", header, roots=folders, content="x"))[
            "scope"
        ]
        for header, folders in (
            (stale, (bakery,)),
            (stale, (bakery, shop)),
            (stale, ()),
            (named, (bakery,)),
        )
    ]

    assert kept == [
        "projects/bakery",
        "projects/shop",
        "projects/shop",
        "projects/own",
    ]
    assert with_session == ["a"]
    found = ask(served, "memory_list", stale, roots=(bakery,))
    assert "a" in json.dumps(found["structuredContent"])


def test_a_header_is_read_as_clients_send_it(served: Served, tmp_path: Path) -> None:
    """UTF-8 was once read as Latin-1, and every call failed."""
    large = repository(tmp_path / "größe", "https://example.org/acme/large.git")
    percent = str(large).replace("ö", "%C3%B6").replace("ß", "%C3%9F")

    assert scope_of(served, str(large).encode()) == "projects/large"
    assert scope_of(served, percent) == "projects/large"


def test_the_folder_of_a_codex_turn_counts_more_than_that_of_its_shell(
    served: Served, tmp_path: Path
) -> None:
    """`codex -C ../shop`, started in blog, once wrote into blog's project."""
    shop, blog = repository(tmp_path / "shop"), repository(tmp_path / "blog")
    turn = {"x-codex-turn-metadata": {"workspaces": {str(shop): {}}}}

    result = ask(
        served, "memory_write", {"Hivemind-Project": str(blog)}, turn, content="x"
    )
    without_header = ask(served, "memory_write", {}, turn, content="x")
    by_name = ask(
        served, "memory_write", {"Hivemind-Project": "own"}, turn, content="x"
    )

    assert written(result)["scope"] == "projects/shop"
    assert written(without_header)["scope"] == "projects/shop"
    assert written(by_name)["scope"] == "projects/own"


def test_a_folder_that_becomes_another_repository_is_another_project(
    served: Served, tmp_path: Path
) -> None:
    """The server once kept what a path had meant, and showed one client's notes to the
    agents of the other."""
    place = repository(tmp_path / "work", "https://example.org/acme/clientx.git")
    header: dict[str, str | bytes] = {"Hivemind-Project": str(place)}
    ask(served, "memory_save", header, key="host", content="Confidential osprey.")

    shutil.rmtree(place)
    repository(place, "https://example.org/acme/clienty.git")

    found = ask(served, "memory_search", header, query="confidential osprey")
    assert found["structuredContent"]["hits"] == []
    assert scope_of(served, str(place)) == "projects/clienty"


def test_a_renamed_project_folder_is_found_again_while_servers_run(
    served: Served, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old folder was once made again, and the notes were stranded."""
    shop = repository(tmp_path / "shop", "https://example.org/acme/shop.git")
    header: dict[str, str | bytes] = {"Hivemind-Project": str(shop)}
    monkeypatch.chdir(shop)
    with piped() as stdio:
        stdio.initialize()
        stdio.call("memory_write", 1, content="Ospreys fish.")
        assert scope_of(served, str(shop)) == "projects/shop"

        (notes / "projects" / "shop").rename(notes / "projects" / "store")

        over_http = ask(served, "memory_search", header, query="ospreys")
        [hit] = over_http["structuredContent"]["hits"]
        again = stdio.call("memory_write", 2, content="Terns dive.")

    assert hit["scope"] == again["structuredContent"]["scope"] == "projects/store"
    assert not (notes / "projects" / "shop").exists()


@pytest.mark.filterwarnings(ROOTS_GO)
def test_a_client_that_tells_its_roots_late_is_asked_again(
    served: Served, tmp_path: Path
) -> None:
    """It was once without a project for the whole session, and wrote for everybody."""
    blog = repository(tmp_path / "blog")
    asked = 0

    async def roots(*_: object) -> ListRootsResult:
        nonlocal asked
        asked += 1
        if asked == 1:
            await anyio.sleep(60)
        return ListRootsResult(roots=[Root(uri=f"file://{blog}")])

    async def run() -> list[Any]:
        sent = {"Authorization": f"Bearer {served.token}"}
        async with httpx2.AsyncClient(headers=sent) as http_client:
            transport = streamable_http_client(served.url, http_client=http_client)
            client = Client(transport, mode="legacy", list_roots_callback=roots)
            async with client as opened:
                results = [
                    await opened.call_tool("memory_write", {"content": "x"})
                    for _ in range(3)
                ]
                await opened.session.send_roots_list_changed()
                await opened.call_tool("memory_list", {})
                return results

    first, second, third = anyio.run(run)

    assert first.is_error
    assert "Nothing was saved" in first.content[0].text
    for later in (second, third):
        assert later.structured_content["scope"] == "projects/blog"
    assert asked == 3  # once late, once for good, once more since they have changed


@pytest.mark.filterwarnings(ROOTS_GO)
def test_roots_count_over_stdio_where_the_folder_says_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs with windows start their servers in the home folder."""
    blog = repository(tmp_path / "blog")
    state = ServerState(
        lambda: opening.open_memory(home=str(home)),
        None,
        client_memory.open_connection_memory,
        own_folder=str(tmp_path),
    )

    async def roots(*_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=f"file://{blog}")])

    async def scope(*, asks_for_roots: bool) -> str:
        server = make_server(state, "5e551017", asks_for_roots=asks_for_roots)
        client = Client(server, mode="legacy", list_roots_callback=roots)
        async with client as opened:
            result = await opened.call_tool("memory_write", {"content": "x"})
            assert result.structured_content is not None
            return str(result.structured_content["scope"])

    async def both() -> tuple[str, str]:
        return await scope(asks_for_roots=True), await scope(asks_for_roots=False)

    in_root, in_folder = anyio.run(both)
    state.close(5)

    assert in_root == "projects/blog"
    assert in_folder != in_root


def test_a_session_over_http_is_that_of_one_client(served: Served, home: Path) -> None:
    """All once had the session of the server, and undoing one undid them all."""

    async def write(*words: str) -> None:
        sent = {"Authorization": f"Bearer {served.token}"}
        async with httpx2.AsyncClient(headers=sent) as http_client:
            transport = streamable_http_client(served.url, http_client=http_client)
            async with Client(transport, mode="legacy") as opened:
                for word in words:
                    await opened.call_tool("memory_write", {"content": word})

    anyio.run(write, "albatross", "bittern")
    anyio.run(write, "cormorant")
    for project, word in (("shop", "dunlin"), ("shop", "egret"), ("blog", "fulmar")):
        ask(served, "memory_write", {"Hivemind-Project": project}, content=word)
    for word in ("gannet", "heron"):
        ask(served, "memory_write", {}, {"sessionId": word[0]}, content=word)

    a, b, c, d, e, f, g, h = (
        session_of(home, word)
        for word in (
            "albatross",
            "bittern",
            "cormorant",
            "dunlin",
            "egret",
            "fulmar",
            "gannet",
            "heron",
        )
    )
    assert a == b
    assert d == e
    assert len({a, c, d, f, g, h}) == 6
    assert all(len(one) == 8 and int(one, 16) >= 0 for one in (a, c, d, f, g, h))


def test_a_client_that_goes_on_in_another_project_is_another_session_there(
    served: Served, home: Path
) -> None:
    """One session once wrote in two projects, as whatever its last request named."""

    async def write() -> list[str]:
        sent = {"Authorization": f"Bearer {served.token}"}
        scopes = []
        async with httpx2.AsyncClient(headers=sent) as http_client:
            transport = streamable_http_client(served.url, http_client=http_client)
            async with Client(transport, mode="legacy") as opened:
                for word, project in (
                    ("albatross", "shop"),
                    ("bittern", "blog"),
                    ("cormorant", "shop"),
                ):
                    http_client.headers["Hivemind-Project"] = project
                    result = await opened.call_tool("memory_write", {"content": word})
                    assert result.structured_content is not None
                    scopes.append(result.structured_content["scope"])
        return scopes

    scopes = anyio.run(write)

    shop, blog, again = (
        session_of(home, word) for word in ("albatross", "bittern", "cormorant")
    )
    assert scopes == ["projects/shop", "projects/blog", "projects/shop"]
    assert shop == again != blog
