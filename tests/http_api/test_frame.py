"""What the frame answers for all routes: checks, sizes, forms, paths, methods."""

from __future__ import annotations

import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio
import httpx
import pytest

from hivemind_memory import opening
from hivemind_memory.http_api.callers import CallerMemories, Client
from hivemind_memory.http_api.failures import (
    Failure,
    NoWorkspaceFailure,
    plain_envelope,
)
from hivemind_memory.http_api.frame import Frame
from hivemind_memory.http_api.route_groups import all_groups
from hivemind_memory.http_api.routes import Call, RouteGroup
from hivemind_memory.mcp_server.server_state import ServerState
from tests.http_api.served import Served, add_token, save, serving
from tests.support.forked import HM, finish

ROUTE = "/api/v1/search"


def test_a_memory_is_read_and_found(served: Served) -> None:
    """By its key or id; a search finds it."""
    known = save("deploy-day", "We deploy on Tuesdays.", type="decision")

    for name in ("deploy-day", known):
        row = served.ask("GET", f"/api/v1/memories/{name}").json()
        assert row["content"] == "We deploy on Tuesdays."
        assert (row["id"], row["scope"], row["isActive"]) == (known, "global", True)
    [hit] = served.ask("GET", f"{ROUTE}?q=when+do+we+deploy").json()["hits"]
    assert hit["key"] == "deploy-day"


@pytest.mark.parametrize(
    ("headers", "status", "error"),
    [
        ({"Host": "evil.example"}, 421, "this name is not served here"),
        ({"Host": "127.0.0.1:1"}, 421, "this name is not served here"),
        ({"Host": "localhost.evil.example"}, 421, "this name is not served here"),
        ({"Origin": "http://evil.example"}, 403, "Invalid Origin header"),
        ({"Origin": "null"}, 403, "Invalid Origin header"),
        ({"Origin": "https://127.0.0.1"}, 403, "Invalid Origin header"),
        ({"Authorization": ""}, 401, "the token is missing or wrong"),
        ({"Authorization": "Bearer"}, 401, "the token is missing or wrong"),
        ({"Authorization": "Bearer wrong"}, 401, "the token is missing or wrong"),
        ({"Authorization": "Basic d3Jvbmc="}, 401, "the token is missing or wrong"),
    ],
)
def test_the_checks_come_in_order(
    served: Served, headers: dict[str, str], status: int, error: str
) -> None:
    """Name, origin, token: before anything is said of a route."""
    for path in (ROUTE, "/api/v1/none", "/workspaces/a/memory", "/none"):
        answer = served.ask("GET", path, headers=headers)

        assert (answer.status_code, answer.json()) == (status, {"error": error})
        is_asked_for = answer.headers.get("www-authenticate") == "Bearer"
        assert is_asked_for == (status == 401)


def test_own_names_and_origins_are_served(served: Served) -> None:
    """A browser on this machine may open any of them."""
    port = served.url.rpartition(":")[2]
    for name in ("127.0.0.1", "localhost", "[::1]", "LOCALHOST"):
        headers = {"Host": f"{name}:{port}", "Origin": f"http://{name}:{port}"}
        assert served.ask("GET", ROUTE, headers=headers).status_code == 200


def test_paths_and_methods_that_there_are_not(served: Served) -> None:
    """404 says nothing of what there is; 405 says what is allowed."""
    for path in ("/none", "/api/v1/none", "/api/v1/memories/a/b/c", "/%ff"):
        answer = served.ask("GET", path)
        assert (answer.status_code, answer.json()) == (404, {"error": "no route"})
    answer = served.ask("PUT", ROUTE)
    assert (answer.status_code, answer.json()) == (405, {"error": "method not allowed"})
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("colour=red", "colour: unknown field"),
        ("max_results=0", "max_results: must be a whole number from 1 to 50"),
        ("limit=1&max_results=2", "limit and max_results are the same: give one"),
        ("q=a&q=b", "q: is given more than once"),
        ("q=%ff", "the query string is not UTF-8"),
    ],
)
def test_a_query_of_the_wrong_form_is_refused(
    served: Served, query: str, error: str
) -> None:
    """The sentence names the field, and what is wrong with it."""
    answer = served.ask("GET", f"{ROUTE}?{query}")

    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_health_needs_no_token_and_head_has_no_body(served: Served) -> None:
    """A program that waits for the server has none."""
    assert served.ask("GET", "/healthz", token=None).json() == {"status": "ok"}
    answer = served.ask("HEAD", ROUTE)
    assert (answer.status_code, answer.content) == (200, b"")
    for method in ("POST", "DELETE", "TRACE"):
        answer = served.ask(method, "/healthz", token=None)
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("name", ["deploy-day", "id"])
def test_a_version_that_the_client_has_already_is_not_sent_again(
    served: Served, name: str
) -> None:
    """It was sent whole, though its `ETag` was named."""
    known = save("deploy-day", "We deploy on Tuesdays.")
    path = f"/api/v1/memories/{known if name == 'id' else name}"
    first = served.ask("GET", path)
    version = first.headers["etag"]
    assert first.headers["cache-control"] == "private, no-cache"

    for given in (version, f"W/{version}", f'"other", {version}', "*"):
        answer = served.ask("GET", path, headers={"If-None-Match": given})
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == version
        assert answer.headers["cache-control"] == "private, no-cache"
    save("deploy-day", "On Mondays.", reason="a new rota")
    answer = served.ask("GET", path, headers={"If-None-Match": version})
    assert (answer.status_code, answer.headers["etag"] != version) == (200, True)


def test_no_answer_is_kept_or_taken_for_another_type(served: Served) -> None:
    """What the memory holds stays out of every cache."""
    save("deploy-day", "We deploy on Tuesdays.")
    for method, path, status in (
        ("GET", f"{ROUTE}?q=deploy", 200),
        ("GET", "/api/v1/memories", 200),
        ("GET", "/api/v1/none", 404),
        ("POST", "/api/v1/memories", 400),
        ("DELETE", "/api/v1/memories/deploy-day", 200),
    ):
        answer = served.ask(method, path)
        assert answer.status_code == status
        assert answer.headers["cache-control"] == "no-store", path
        assert answer.headers["x-content-type-options"] == "nosniff", path


def test_long_answers_are_compressed_for_who_takes_it(served: Served) -> None:
    """A stream of events is not: each event would wait for the next."""
    save("deploy-day", "We deploy on Tuesdays. " * 100)
    save("short", "We deploy.")
    long, short = "/api/v1/memories/deploy-day", "/api/v1/memories/short"
    for path, asked, is_packed in (
        (long, "br, gzip", True),
        (long, "*", True),
        (long, "gzip;q=0", False),
        (long, "br", False),
        (short, "gzip", False),
        ("/api/v1/openapi.json", "gzip", True),
        ("/api/v1/docs", "gzip", True),
    ):
        answer = served.ask("GET", path, headers={"Accept-Encoding": asked})
        packed = answer.headers.get("content-encoding") == "gzip"
        assert (answer.status_code, packed) == (200, is_packed), (path, asked)
        assert (answer.headers.get("vary") == "accept-encoding") == (path != short)
        plain = served.ask("GET", path, headers={"Accept-Encoding": "identity"})
        assert answer.content == plain.content
    headers = {"Authorization": f"Bearer {served.token}", "Accept-Encoding": "gzip"}
    with httpx.stream("GET", f"{served.url}/api/v1/events", headers=headers) as stream:
        assert "content-encoding" not in stream.headers


def test_what_was_made_is_named_by_its_location(served: Served) -> None:
    """A client that follows it reads what it has written."""
    save("rollback", "Run rollback.sh.")
    for path, body, expected in (
        ("memories", {"key": "deploy day", "content": "On Mondays."}, "On Mondays."),
        ("notes", {"content": "It failed.", "file": "a b.md"}, "It failed."),
        ("links", {"from": "rollback", "to": "deploy day", "kind": "updates"}, "day"),
    ):
        made = served.ask("POST", f"/api/v1/{path}", json=body)
        assert made.status_code == 201, made.text
        assert expected in served.ask("GET", made.headers["location"]).text


def test_a_chain_is_read_in_parts(served: Served) -> None:
    """A memory that changed a hundred times was one long answer."""
    for number in range(4):
        save("deploy-day", f"It is {number} now.", reason="" if not number else "new")
    path = "/api/v1/memories/deploy-day/chain"

    def texts(query: str) -> list[str]:
        answer = served.ask("GET", path + query).json()
        assert answer["total"] == 4
        return [row["content"][6] for row in answer["data"]]

    assert texts("") == ["3", "2", "1", "0"]
    assert texts("?limit=2&offset=1") == ["2", "1"]
    assert texts("?offset=9") == []
    assert served.ask("GET", f"{path}?limit=101").status_code == 400


def test_a_visitor_is_let_in_only_with_public(home: Path) -> None:
    """And then to read what is public, and never with a wrong token."""
    assert home.is_dir()
    save("open", "The kitchen is open.")
    with serving() as closed:
        assert closed.ask("GET", ROUTE, token=None).status_code == 401
    with serving("--public") as served:
        found = served.ask("GET", f"{ROUTE}?q=kitchen", token=None).json()
        assert [hit["key"] for hit in found["hits"]] == ["open"]
        assert served.ask("POST", ROUTE, token=None).status_code == 401
        assert served.ask("GET", ROUTE, token="wrong").status_code == 401
        assert served.ask("GET", "/mcp", token=None).status_code == 401


def test_a_token_sees_its_own_project_alone(served: Served) -> None:
    """What it may not see is answered as what is not there, byte for byte."""
    hidden = save("plan", "The blog moves.", scope="project/blog")
    token = add_token("ci", project="shop")

    for name in (hidden, "plan"):
        answer = served.ask("GET", f"/api/v1/memories/{name}", token=token)
        absent = served.ask("GET", f"/api/v1/memories/{name[:-1]}x", token=token)
        expected = absent.content.replace(f"{name[:-1]}x".encode(), name.encode())
        assert (answer.status_code, answer.content) == (404, expected)
    found = served.ask("GET", f"{ROUTE}?q=blog+moves", token=token).json()
    assert found["hits"] == []
    assert served.ask("GET", f"{ROUTE}?q=blog+moves").json()["hits"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)]
)
def test_it_ends_when_it_is_told_to(served: Served, number: int, code: int) -> None:
    """Also while a client holds a connection open; it has nothing to say then."""
    host, port = served.url.removeprefix("http://").split(":")
    assert served.ask("GET", ROUTE).status_code == 200
    with socket.create_connection((host, int(port))):
        served.process.send_signal(number)

        assert served.process.wait(30) == code
    assert served.process.stderr is not None
    assert served.process.stderr.read() == ""


def test_a_port_that_is_taken_names_its_process(served: Served) -> None:
    """Usually it is another server that was forgotten."""
    port = served.url.rpartition(":")[2]

    done = finish([*HM, "serve", "--port", port])

    assert done.returncode == 1
    first = done.stderr.decode().splitlines()[0]
    assert f"address already in use by process {served.process.pid} (" in first


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.7", "example.org"])
def test_another_address_is_refused_with_the_reason(home: Path, address: str) -> None:
    """A token and every note would cross the network readable."""
    assert home.is_dir()
    done = finish([*HM, "serve", "--port", "0", "--host", address])

    assert done.returncode == 2
    assert "listens on 127.0.0.1 only" in done.stderr.decode()


def test_an_agents_shell_starts_none(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would have the rights of its owner."""
    assert home.is_dir()
    for name, value in (("CLAUDECODE", "1"), ("HIVEMIND_PROJECT", "shop")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            done = finish([*HM, "serve", "--port", "0"])
            assert done.returncode == 2, done.stderr


def raw(served: Served, first: str, *more: str, body: str = "") -> bytes:
    """Send a request as it is written, and return all that comes until the end."""
    host = served.url.removeprefix("http://")
    lines = (
        first.replace("HOST", host),
        f"Host: {host}",
        f"Authorization: Bearer {served.token}",
        *more,
    )
    port = int(host.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=120) as client:
        client.sendall("\r\n".join((*lines, "", body)).encode())
        return b"".join(iter(lambda: client.recv(4096), b""))


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://HOST/api/v1/search?q=tea", 200),
        ("HTTP://HOST/api/v1/search?q=tea", 200),
        ("http://HOST/none", 404),
        ("http://evil.example/api/v1/search", 421),
        ("http://HOST@evil.example/api/v1/search", 421),
        ("https://HOST/api/v1/search", 404),
    ],
)
def test_a_whole_address_is_taken_for_its_path_if_it_is_ours(
    served: Served, target: str, status: int
) -> None:
    """As clients send it to a proxy; it was no path, and so 401."""
    answer = raw(served, f"GET {target} HTTP/1.1", "Connection: close")

    assert answer.startswith(f"HTTP/1.1 {status} ".encode())


def test_a_body_with_two_lengths_is_refused_and_ends_the_connection(
    served: Served,
) -> None:
    """What one program takes for the body, another takes for the next request."""
    smuggled = "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    lengths = (f"Content-Length: {len(smuggled)}", "Transfer-Encoding: chunked")
    answer = raw(served, "POST /api/v1/memories HTTP/1.1", *lengths, body=smuggled)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"cannot be given together" in answer


@pytest.mark.parametrize("target", ["*", "example.org:443"])
def test_a_target_without_a_slash_is_no_route(served: Served, target: str) -> None:
    """As of OPTIONS and CONNECT; the answer was an empty 500."""
    answer = raw(served, f"OPTIONS {target} HTTP/1.1", "Connection: close")

    assert answer.startswith(b"HTTP/1.1 404 ")
    assert answer.endswith(b'{"error":"no route"}')


def test_a_search_is_narrowed_by_tags_and_folder_and_limited(served: Served) -> None:
    """As `hm search` is; `limit` and `max_results` are the same."""
    for number in range(3):
        save(f"deploy-{number}", f"We deploy {number} on Tuesdays.", tags=("ci",))
    save("other", "We deploy never.")

    def found(words: str) -> set[str]:
        answer = served.ask("GET", f"{ROUTE}?q=deploy&{words}")
        assert answer.status_code == 200, answer.text
        return {hit["key"] for hit in answer.json()["hits"]}

    assert found("") == {"deploy-0", "deploy-1", "deploy-2", "other"}
    assert found("tags=ci") == {"deploy-0", "deploy-1", "deploy-2"}
    assert found("tags=ci,none") == set()
    assert len(found("limit=2")) == len(found("max_results=2")) == 2
    assert served.ask("GET", f"{ROUTE}?q=a&limit=1&max_results=2").status_code == 400
    assert served.ask("GET", f"{ROUTE}?q=deploy&folder=none").status_code == 404


def test_a_search_returns_no_more_hits_than_may_be_asked_for(home: Path) -> None:
    """What is configured may be more; the answer was as long as that."""
    config = {"memory": {"max_results": 200}}
    (home / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for number in range(60):
        note = home / "memory" / f"n{number}.md"
        note.write_text(
            f"# Note {number}\n\nThe okapi has {number} legs.\n", encoding="utf-8"
        )

    with serving() as other:
        found = other.ask("GET", f"{ROUTE}?q=okapi&min_score=0").json()["hits"]

    assert len(found) == 50


@pytest.mark.parametrize("path", ["/", "/api/v1", "/api/v1/"])
def test_where_a_person_looks_first_leads_to_the_documents(
    served: Served, path: str
) -> None:
    """A browser sends no token, and the page says nothing of the memory."""
    answer = served.ask("GET", path, token=None)

    assert (answer.status_code, answer.headers["location"]) == (307, "/api/v1/docs")
    page = served.ask("GET", "/api/v1/docs", token=None)
    assert page.status_code == 200
    assert served.ask("POST", path, token=None).status_code != 307


def test_what_is_wrong_with_a_whole_query_is_not_said_of_a_body(served: Served) -> None:
    answer = served.ask("GET", f"{ROUTE}?limit=1&max_results=2")

    assert [each["field"] for each in answer.json()["details"]] == ["query"]


def test_a_hint_tells_no_secret() -> None:
    """As no sentence and no detail does."""
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    failure = Failure(400, "wrong", hint=f"Did you mean {token}?")

    assert token not in str(plain_envelope(failure))
    assert "Did you mean " in str(plain_envelope(failure)["hint"])


def test_every_route_is_loaded_with_the_first_request_for_its_path(
    served: Served,
) -> None:
    """Groups are loaded apart; what a path leads to has to have its route."""
    for route in (route for group in all_groups() for route in group.routes):
        path = re.sub(r"{[^}]+}", "x", route.path)

        answer = served.ask("TRACE", path)

        assert answer.status_code == 405, path
        assert route.method in answer.headers["allow"].split(", "), path


@dataclass
class NoMemories:
    """Lends no memory, for routes that need none."""

    is_there: bool

    @contextmanager
    def lend_to_read(self, client: Client) -> Iterator[None]:
        if not self.is_there:
            raise NoWorkspaceFailure
        yield None


@pytest.mark.parametrize(("is_there", "status"), [(True, 404), (False, 200)])
def test_only_a_workspace_that_is_not_there_has_nothing_in_it(
    *, is_there: bool, status: int
) -> None:
    """A route's own failure was an empty list if it had the same sentence."""
    group = RouteGroup("/office", tag="office")

    @group.get("/rows", if_no_workspace=[])
    def rows(_call: Call) -> list[int]:
        """Return the rows of something else that has workspaces."""
        raise Failure(404, NoWorkspaceFailure().message)

    frame = Frame([group], cast("CallerMemories", NoMemories(is_there)), "test")
    transport = httpx.ASGITransport(app=frame)  # type: ignore[arg-type]

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.get("http://127.0.0.1/office/rows")

    assert anyio.run(ask).status_code == status


def test_a_request_that_reads_waits_for_no_other_that_reads(home: Path) -> None:
    """A memory takes one question after the other: one processor answered them all."""
    assert home.is_dir()
    state = ServerState(opening.open_memory)
    memories, owner = CallerMemories(state, None), Client()
    with memories.lend(owner) as usual:
        with memories.lend_to_read(owner) as first:
            with memories.lend_to_read(owner) as second:
                with memories.lend_to_read(owner) as third:
                    assert third is first
                assert second is not first
                assert second.caller == first.caller
            with memories.lend_to_read(Client(is_visitor=True)) as other:
                assert other.caller != first.caller
        assert first is usual
    state.close(30)
