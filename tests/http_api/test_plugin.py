"""memory-plugin v1 over a real server: the contract's fixtures, texts and statuses."""

from __future__ import annotations

import json
import os
import socket
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from hivemind_memory import opening
from tests.http_api.served import Served, add_token, save, serving
from tests.support.forked import HM, finish

FIXTURES = Path(__file__).parents[2] / "fixtures" / "memory_plugin"
WEB = "/v1/namespaces/workspace:web"
OWN = "5b1f0c1e-7c1e-4f43-9d4d-0f9f7f1d2a10"
FACT = {"content": "We deploy on Tuesdays.", "kind": "fact", "source": "agent"}


def fixture(name: str) -> Any:
    """Return a body of the contract's own tests."""
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def plugin(home: Path) -> Iterator[Served]:
    """A server with the plugin, and one namespace."""
    assert home.is_dir()
    with serving("--plugin") as one:
        assert one.ask("PUT", WEB, json={"kind": "workspace"}).status_code == 200
        yield one


def found(plugin: Served, *names: str, **more: Any) -> list[dict[str, Any]]:
    """Return what a search of some namespaces finds."""
    body = {"namespaces": names, **more}
    answer = plugin.ask("POST", "/v1/search", json=body)
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["memories"]
    return rows


def test_the_fixtures_of_the_contract_go_through(plugin: Served) -> None:
    """Each body is taken as it is, and each answer has its form."""
    upsert, write = (
        fixture("namespace_upsert_workspace"),
        fixture("memory_write_minimal"),
    )
    search = fixture("search_three_namespaces")
    workspace, *others = search["namespaces"]

    health = plugin.ask("GET", "/v1/health").json()
    missing = plugin.ask("PATCH", f"/v1/namespaces/{workspace}", json={"metadata": {}})
    made = plugin.ask("PUT", f"/v1/namespaces/{workspace}", json=upsert)
    missed = plugin.ask("POST", f"/v1/namespaces/{others[0]}/memories", json=write)
    written = plugin.ask("POST", f"/v1/namespaces/{workspace}/memories", json=write)
    answer = plugin.ask("POST", "/v1/search", json=search)

    expected = fixture("health_ok")
    assert health.keys() == expected.keys()
    assert (health["status"], health["version"]) == ("ok", expected["version"])
    assert set(health["capabilities"]) == {"fts", "ttl", "pin", "propagation"}
    assert (made.status_code, made.json()["name"]) == (200, workspace)
    assert {**upsert, "name": workspace}.items() <= made.json().items()
    assert missing.json() == missed.json() == fixture("error_not_found")
    assert missed.status_code == 404
    assert written.status_code == 201
    assert written.json()["namespace"] == workspace
    [hit] = answer.json()["memories"]
    assert hit["id"] == written.json()["id"]
    assert 0 < hit["score"] <= 1
    [row] = found(plugin, *search["namespaces"])
    assert {**write, "id": written.json()["id"], "pin": False}.items() <= row.items()


def test_every_error_has_the_text_of_the_contract(plugin: Served) -> None:
    """Platforms compare them word for word."""
    refused = [
        ("PUT", WEB, {}, 400, "kind: is required"),
        (
            "PUT",
            "/v1/namespaces/Web",
            {"kind": "team"},
            400,
            "namespace name must match",
        ),
        (
            "PUT",
            WEB,
            {"kind": "room"},
            400,
            "kind: must be workspace, team, org or custom",
        ),
        (
            "PUT",
            WEB,
            {"kind": "workspace", "metadata": 1},
            400,
            "metadata: must be an object",
        ),
        ("PUT", WEB, {"kind": "workspace", "expires_at": "soon"}, 400, "expires_at: "),
        ("PATCH", WEB, {}, 400, "patch has no fields set"),
        ("PATCH", f"{WEB}2", {"metadata": {"a": 1}}, 404, "namespace not found"),
        ("DELETE", f"{WEB}2", None, 404, "namespace not found"),
        ("POST", f"{WEB}/memories", {**FACT, "content": " "}, 400, "content is empty"),
        ("POST", f"{WEB}/memories", {**FACT, "kind": "x"}, 400, "kind: must be fact"),
        ("POST", f"{WEB}/memories", {**FACT, "id": "x"}, 400, "id: must be a UUID"),
        (
            "POST",
            f"{WEB}/memories",
            {**FACT, "pin": 1},
            400,
            "pin: must be true or false",
        ),
        (
            "POST",
            f"{WEB}/memories",
            {**FACT, "expires_at": "2027"},
            400,
            "expires_at: ",
        ),
        (
            "POST",
            f"{WEB}/memories",
            {**FACT, "content": "x" * 4001},
            400,
            "The content ",
        ),
        (
            "POST",
            f"{WEB}/memories",
            {**FACT, "embedding": [1]},
            400,
            "embedding is not",
        ),
        ("POST", f"{WEB}/memories", {**FACT, "propagation": "x" * 9000}, 400, "propag"),
        ("POST", f"{WEB}2/memories", FACT, 404, "namespace not found"),
        ("POST", "/v1/search", {}, 400, "namespaces is empty (workspace-server must"),
        ("POST", "/v1/search", {"namespaces": ["x"]}, 400, "namespace name must match"),
        (
            "POST",
            "/v1/search",
            {"namespaces": ["a:b"], "limit": -1},
            400,
            "limit -1 out",
        ),
        (
            "POST",
            "/v1/search",
            {"namespaces": ["a:b"], "limit": 101},
            400,
            "limit 101 ",
        ),
        ("DELETE", f"/v1/memories/{OWN}", {}, 400, "requested_by_namespace is empty"),
        (
            "DELETE",
            f"/v1/memories/{OWN}",
            {"requested_by_namespace": "workspace:web"},
            404,
            "memory not found in namespace",
        ),
        ("GET", "/v1/search", None, 405, "method not allowed"),
        ("GET", "/v1/nothing", None, 404, "no route"),
    ]
    codes = {400: "bad_request", 404: "not_found", 405: "bad_request"}
    for method, path, body, status, text in refused:
        answer = plugin.ask(method, path, json=body)
        said = answer.json()
        assert (answer.status_code, said["code"]) == (status, codes[status]), (
            answer.text
        )
        assert said["message"].startswith(text), (path, said)
        assert said.keys() <= {"code", "message", "details"}
    for content in (b"{", b"[", b'{"namespaces": tru}', b"\xff"):
        answer = plugin.ask("POST", "/v1/search", content=content)
        assert answer.json() == {"code": "bad_request", "message": "invalid JSON"}
    assert plugin.ask("GET", "/v1/health", token="wrong").json() == {
        "code": "forbidden",
        "message": "the token is missing or wrong",
    }
    assert found(plugin, "workspace:web") == []


def test_a_memory_is_replaced_under_its_id_and_is_a_note(
    plugin: Served, home: Path
) -> None:
    """It is found like all others; what is replaced is not kept."""
    first = {
        **FACT,
        "id": OWN.upper(),
        "propagation": {"hops": [1, 2.5, None], "name": "é"},
        "expires_at": "2096-11-21T10:00:00+01:00",
    }
    for body in (first, {**FACT, "id": OWN, "content": "Or Wednesdays.", "pin": True}):
        answer = plugin.ask("POST", f"{WEB}/memories", json=body)
        assert answer.json() == {"id": OWN, "namespace": "workspace:web"}
        [row] = found(plugin, "workspace:web")
        assert (row["id"], row["content"]) == (OWN, body["content"])
        assert row.get("propagation") == body.get("propagation")
        assert row["pin"] == body.get("pin", False)
        assert ("expires_at" in row) == ("expires_at" in body)

    [note] = home.glob("memory/workspaces/web/**/*.md")
    text = note.read_text(encoding="utf-8")
    assert "Tuesdays" not in text
    assert f"\nkey: uuid-{OWN}\n" in text
    with opening.open_memory() as memory:
        [one] = memory.memories()
        assert (one.type, one.is_pinned, one.source) == ("fact", True, "agent")


def test_an_id_of_another_namespace_is_not_found_there(plugin: Served) -> None:
    """Neither to write to, nor to forget."""
    plugin.ask("PUT", "/v1/namespaces/team:red", json={"kind": "team"})
    plugin.ask("POST", f"{WEB}/memories", json={**FACT, "id": OWN})

    answers = [
        plugin.ask(
            "POST", "/v1/namespaces/team:red/memories", json={**FACT, "id": OWN}
        ),
        plugin.ask(
            "DELETE",
            f"/v1/memories/{OWN}",
            json={"requested_by_namespace": "team:red"},
        ),
    ]

    for answer in answers:
        assert (answer.status_code, answer.json()["message"]) == (
            404,
            "memory not found in namespace",
        )
    gone = plugin.ask(
        "DELETE",
        f"/v1/memories/{OWN}",
        json={"requested_by_namespace": "workspace:web"},
    )
    assert (gone.status_code, gone.content) == (204, b"")
    assert found(plugin, "workspace:web", "team:red") == []


def test_what_a_person_saved_is_found_and_outlives_the_namespace(
    plugin: Served,
) -> None:
    """The plugin deletes what came through it, and nothing else."""
    save("tea", "Tea is at four.", "workspace/web", type="fact", source="human")
    save("rule", "Never on Fridays.", "workspace/web", type="lesson")
    plugin.ask("POST", f"{WEB}/memories", json=FACT)

    before = {row["content"]: row["source"] for row in found(plugin, "workspace:web")}
    assert plugin.ask("DELETE", WEB).status_code == 204
    assert found(plugin, "workspace:web") == []
    plugin.ask("PUT", WEB, json={"kind": "workspace"})
    after = found(plugin, "workspace:web")

    assert before == {"Tea is at four.": "user", FACT["content"]: "agent"}
    assert [row["content"] for row in after] == ["Tea is at four."]
    assert uuid.UUID(after[0]["id"])
    body = {"requested_by_namespace": "workspace:web"}
    path = f"/v1/memories/{after[0]['id']}"
    assert plugin.ask("DELETE", path, json=body).status_code == 204
    assert found(plugin, "workspace:web") == []


def test_a_folder_and_the_org_have_one_name(plugin: Served) -> None:
    """Else what is written under the one would be found under the other."""
    plugin.ask("PUT", "/v1/namespaces/org:acme-corp", json={"kind": "org"})
    plugin.ask("PUT", "/v1/namespaces/project:shop", json={"kind": "custom"})

    org = plugin.ask("PUT", "/v1/namespaces/org:other", json={"kind": "org"})
    custom = plugin.ask("PUT", "/v1/namespaces/custom:shop", json={"kind": "custom"})

    assert (org.status_code, custom.status_code) == (400, 400)
    assert org.json()["message"] == (
        "this memory belongs to org:acme-corp; it has no second org"
    )
    assert "project:shop has the same folder" in custom.json()["message"]


def test_no_secret_is_kept_or_given(plugin: Served, home: Path) -> None:
    """Not in the text, not in what is opaque."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    body = {**FACT, "content": f"token {secret}", "propagation": {"t": [secret]}}
    plugin.ask("POST", f"{WEB}/memories", json=body)
    plugin.ask("PUT", WEB, json={"kind": "workspace", "metadata": {"t": secret}})

    assert secret not in json.dumps(found(plugin, "workspace:web"))
    for file in home.rglob("*"):
        if file.is_file() and file.name != "mcp-token":
            assert secret.encode() not in file.read_bytes(), file


def test_a_token_of_one_workspace_reaches_no_other(plugin: Served) -> None:
    """What it may not see is as if it were not there."""
    plugin.ask("PUT", "/v1/namespaces/workspace:ops", json={"kind": "workspace"})
    plugin.ask("POST", "/v1/namespaces/workspace:ops/memories", json=FACT)
    token, reader = add_token("web", workspace="web"), add_token("r", is_read_only=True)

    def ask(method: str, path: str, body: object, by: str = token) -> tuple[int, str]:
        answer = plugin.ask(method, path, token=by, json=body)
        return answer.status_code, str(answer.json().get("message", ""))

    hidden = {"namespaces": ["workspace:ops", "workspace:web"]}
    assert plugin.ask("POST", "/v1/search", token=token, json=hidden).json() == {
        "memories": []
    }
    for name in ("workspace:ops", "workspace:none"):
        path = f"/v1/namespaces/{name}"
        missing = (404, "namespace not found")
        assert ask("POST", f"{path}/memories", FACT) == missing
        assert ask("DELETE", path, None) == missing
        assert ask("PATCH", path, {"metadata": {"a": 1}}) == missing
        assert ask("PUT", path, {"kind": "workspace"})[0] == 403
    assert ask("POST", f"{WEB}/memories", FACT)[0] == 201
    assert ask("POST", f"{WEB}/memories", FACT, reader) == (
        403,
        "this token only reads",
    )
    assert (
        ask("POST", "/v1/search", {"namespaces": ["workspace:web"]}, reader)[0] == 200
    )


def test_without_a_token_it_answers_on_the_socket_alone(home: Path) -> None:
    """The file says who may connect; nothing but the plugin is there."""
    path = home / "plugin.sock"
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(path))
    with serving("--plugin", "--socket", str(path)) as served:
        assert any(f"unix:{path}" in line for line in served.announced)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        transport = httpx.HTTPTransport(uds=str(path))
        with httpx.Client(transport=transport, base_url="http://plugin") as client:
            assert client.get("/v1/health").json()["status"] == "ok"
            made = client.put(
                "/v1/namespaces/workspace:web", json={"kind": "workspace"}
            )
            assert made.status_code == 200
            for other in ("/api/v1/search?q=x", "/mcp", "/", "/v1"):
                assert client.get(other).status_code == 404, other
        assert served.ask("GET", "/v1/health", token=None).status_code == 401
        second = finish(
            [*HM, "serve", "--port", "0", "--plugin", "--socket", str(path)]
        )
        assert second.returncode == 1
        assert "another server listens there" in second.stderr.decode()
        served.process.terminate()
        assert served.process.wait(30) == 0
    assert not path.exists()


def test_a_file_in_the_place_of_the_socket_stays(home: Path) -> None:
    """It may be a person's."""
    path = home / "plugin.sock"
    path.write_text("mine", encoding="utf-8")

    done = finish([*HM, "serve", "--port", "0", "--plugin", "--socket", str(path)])

    assert done.returncode == 1
    assert "a file of that name is there" in done.stderr.decode()
    assert path.read_text(encoding="utf-8") == "mine"


def test_no_token_opens_the_plugin_alone_and_says_so(home: Path) -> None:
    """Web pages stay out, and so does a wrong token."""
    assert home.is_dir()
    with serving("--plugin", "--no-token") as served:
        assert any(
            line.startswith("warning: every process") for line in served.announced
        )
        assert served.ask("GET", "/v1/health", token=None).status_code == 200
        assert served.ask("GET", "/v1/health", token="wrong").status_code == 401
        assert served.ask("GET", "/api/v1/search?q=x", token=None).status_code == 401
        evil = {"Origin": "http://evil.example"}
        assert (
            served.ask("GET", "/v1/health", token=None, headers=evil).status_code == 403
        )


def test_it_is_off_until_it_is_asked_for(served: Served) -> None:
    """And its options mean nothing without it."""
    answer = served.ask("GET", "/v1/health")
    assert (answer.status_code, answer.json()["message"]) == (404, "no route")
    for words in (("--no-token",), ("--socket", "x.sock")):
        done = finish([*HM, "serve", "--port", "0", *words])
        assert done.returncode == 2
        assert "--socket and --no-token need --plugin." in done.stderr.decode()


def test_a_memory_that_is_switched_off_is_degraded(plugin: Served) -> None:
    """A platform stops asking for a while."""
    assert finish([*HM, "config", "set", "enabled", "false"]).returncode == 0
    with serving("--plugin") as off:
        answer = off.ask("GET", "/v1/health")
        assert answer.status_code == 503
        assert answer.json()["status"] == "degraded"
        assert answer.json()["code"] == "unavailable"
        assert int(answer.headers["retry-after"]) > 0
    assert plugin.process.poll() is None


def test_an_ended_namespace_is_answered_on_no_surface(plugin: Served) -> None:
    """REST, lists, workspaces, MCP and commands, from the second of its end on."""
    body = {**FACT, "id": OWN, "content": "The quokka deploys on Tuesdays."}
    call = {"name": "memory_search", "arguments": {"query": "quokka"}}
    sent = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    hello: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    stream = {"Accept": "application/json, text/event-stream"}
    web = add_token("web", workspace="web")
    begun = plugin.ask("POST", "/mcp", token=web, json=first, headers=stream)
    stream["Mcp-Session-Id"] = begun.headers["mcp-session-id"]

    def mcp() -> httpx.Response:
        return plugin.ask("POST", "/mcp", token=web, json=sent, headers=stream)

    asked: dict[str, Callable[[], str]] = {
        "search": lambda: plugin.ask("GET", "/api/v1/search?q=quokka").text,
        "list": lambda: plugin.ask("GET", "/api/v1/memories").text,
        "workspace": lambda: plugin.ask("GET", "/workspaces/web/v2/memories").text,
        "mcp": lambda: mcp().text,
        "command": lambda: str(finish([*HM, "search", "quokka"]).stdout),
    }
    for surface, answer in asked.items():
        plugin.ask("PUT", WEB, json={"kind": "workspace"})
        plugin.ask("POST", f"{WEB}/memories", json=body)
        assert "deploys on Tuesdays" in answer(), surface
        end_s = time.time() + 1.0
        end = datetime.fromtimestamp(end_s, UTC).isoformat()
        ending = plugin.ask("PATCH", WEB, json={"expires_at": end})
        assert ending.status_code == 200, ending.text
        time.sleep(max(0.0, end_s + 0.01 - time.time()))
        assert "deploys on Tuesdays" not in answer(), surface
