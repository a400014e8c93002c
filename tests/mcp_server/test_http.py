"""`hm mcp --http`: the same tools for whoever knows the token, on this machine."""

from __future__ import annotations

import functools
import http.client
import itertools
import json
import resource
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from hivemind_memory.errors import HivemindError
from hivemind_memory.mcp_server import http_listen
from hivemind_memory.mcp_server.http_checks import send_json
from hivemind_memory.mcp_server.http_listen import listen, make_config
from hivemind_memory.mcp_server.token_file import read_token
from tests.mcp_server.agents import (
    COMMAND,
    MODES,
    environ,
    initialize_request,
    text_of,
)
from tests.support.forked import start
from tests.support.waiting import HANG_S

HELLO = initialize_request(1, "http")


@dataclass(frozen=True)
class Served:
    """A server that is there."""

    process: subprocess.Popen[str]
    url: str
    token: str

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].split("/")[0])

    def open_session(self) -> str:
        """Return the id of a new session."""
        headers: dict[str, str] = {}
        self.post(answered=headers)
        return headers["mcp-session-id"]

    def post(
        self,
        body: bytes | None = None,
        answered: dict[str, str] | None = None,
        **headers: str,
    ) -> tuple[int, str]:
        """Send a request with headers (``_`` for ``-``); return status and body."""
        sent = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            data = json.dumps(HELLO).encode() if body is None else body
            connection.putrequest("POST", "/mcp", skip_host="Host" in sent)
            for name, value in sent.items():
                if value:
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            response = connection.getresponse()
            if answered is not None:
                answered.update(response.getheaders())
            return response.status, response.read().decode()
        finally:
            connection.close()


@contextmanager
def serving(home: Path, *words: str, max_files: int = 0) -> Iterator[Served]:
    """Run a server on a free port, from when it says where it is."""
    with start(
        [*COMMAND, "--http", "--port", "0", *words],
        max_files=max_files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ(),
    ) as process:
        try:
            assert process.stderr is not None
            url = process.stderr.readline().split()[-1]
            file = Path(process.stderr.readline().removeprefix("token in ").strip())
            yield Served(process, url, file.read_text(encoding="utf-8").strip())
        finally:
            process.kill()
            assert process.stdout is not None
            assert process.stdout.read() == ""


@pytest.fixture
def served(home: Path) -> Iterator[Served]:
    """A server over HTTP."""
    with serving(home) as one:
        yield one


def test_clients_of_every_version_are_served(served: Served, notes: Path) -> None:
    """The same tools, with the same answers."""

    async def run(mode: str) -> str:
        headers = {"Authorization": f"Bearer {served.token}"}
        async with httpx2.AsyncClient(headers=headers) as http_client:
            transport = streamable_http_client(served.url, http_client=http_client)
            async with Client(transport, mode=mode) as client:
                await client.call_tool(
                    "memory_write", {"content": "Bats hang.", "file": "bat.md"}
                )
                return text_of(
                    await client.call_tool("memory_search", {"query": "bats"})
                )

    for mode in MODES:
        assert "> Bats hang." in anyio.run(run, mode)
    assert (notes / "bat.md").read_text(encoding="utf-8").count(" by=mcp ") == 3


def test_only_the_token_opens(served: Served) -> None:
    """Any program on this machine, of any user, can reach the port."""
    assert served.post()[0] == 200
    for header in (
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Basic {served.token}",
        f"Bearer {served.token}x",
        f"Bearer {served.token[:-1]}",
        "Bearer \u00e9",
    ):
        status, body = served.post(Authorization=header)
        assert status == 401, header
        assert served.token not in body


def test_a_web_page_is_refused(served: Served) -> None:
    """DNS rebinding: a page that a browser shows must not speak to us."""
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ):
        assert served.post(**headers)[0] == status, headers


def test_hostile_bodies_do_not_end_it(served: Served) -> None:
    """Each gets an answer, and the next request is served as before.

    A refused request opens no session: the answer named one that was dropped.
    """
    bodies = (
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff\x00",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}',
        b"x" * (33 * 1024 * 1024),
    )
    for body in bodies:
        headers: dict[str, str] = {}
        status, _ = served.post(body, headers)
        assert 400 <= status < 500
        assert "mcp-session-id" not in headers

    assert served.post()[0] == 200


def test_it_leaves_when_it_is_told_to(served: Served) -> None:
    """Also with a client that listens."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    served.post()
    connection.connect()

    served.process.send_signal(signal.SIGTERM)

    assert served.process.wait(HANG_S) == 0
    connection.close()


def test_an_answer_does_not_wait_for_the_network_to_say_that_it_came() -> None:
    """Nagle's algorithm and late acknowledgements made each call last 44 ms, not 10."""
    with (
        listen(0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_said(served: Served, home: Path) -> None:
    """Instead of a traceback."""
    done = subprocess.run(
        [*COMMAND, "--http", "--port", str(served.port)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environ(),
        check=False,
        text=True,
        timeout=120,
    )

    assert done.returncode == 1
    assert f"error: Cannot listen on port {served.port}: address" in done.stderr
    assert "127.0.0.1" not in done.stderr
    assert "Traceback" not in done.stderr


def test_the_token_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """The token file is 0600 under any umask, and the token stays the same."""
    file = tmp_path / "new" / "token"

    first = read_token(str(file), lambda: "0123456789abcdef")
    file.chmod(0o644)
    second = read_token(str(file), lambda: "another-token-now")

    assert first == second == "0123456789abcdef"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [one.name for one in file.parent.iterdir()] == ["token"]


@pytest.mark.parametrize("held", [b"", b"short\n", b"\xff" * 40, b"with\ttab" * 9])
def test_a_file_without_a_token_is_refused(tmp_path: Path, held: bytes) -> None:
    """An empty token would open to everybody."""
    file = tmp_path / "token"
    file.write_bytes(held)

    with pytest.raises(HivemindError):
        read_token(str(file), _never)


def _never() -> Any:
    pytest.fail("a token that is there was replaced")


@contextmanager
def serving_app(app: Any, **options: Any) -> Iterator[tuple[str, int]]:
    """Serve an application in this process; yield its address."""
    server = uvicorn.Server(make_config(app, **options))
    with listen(0) as listening:
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        server.config.lifespan = "off"
        thread.start()
        try:
            yield listening.getsockname()
        finally:
            server.should_exit = True
            thread.join(HANG_S)


def answering(body: bytes = b"") -> Any:
    """Return an application that reads a request and answers with a body."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    return app


HALF_REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{"
WHOLE_REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"


def test_connections_that_send_no_request_are_closed() -> None:
    """Nine hundred of them once used up the descriptors of a server, for good."""
    closed: list[bytes] = []
    with serving_app(answering(), client_wait_s=0.2) as address:
        begun = (b"", b"POST /mcp HTTP/1.1\r\nHost: x\r\n", HALF_REQUEST)
        with ExitStack() as stack:
            connections = []
            for sent in begun * 10:
                one = socket.create_connection(address, 30)
                connections.append(stack.enter_context(one))
                one.sendall(sent)
            closed += [one.recv(1) for one in connections]

    assert closed == [b""] * 30


def test_half_a_request_behind_a_whole_one_is_closed() -> None:
    """It came with the one before: nothing arrived later that started the timer."""
    with (
        serving_app(answering(b"here"), client_wait_s=0.2) as address,
        socket.create_connection(address, 15) as one,
    ):
        one.sendall(WHOLE_REQUEST + HALF_REQUEST)
        answer = b"".join(iter(lambda: one.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"HTTP/1.1 200") == 1


def test_a_client_that_never_reads_its_answer_is_closed() -> None:
    """The server waited until all was sent, and so did its end."""
    done = threading.Event()
    answer = answering(b"x" * 40_000_000)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await answer(scope, receive, send)
        done.set()

    with (
        serving_app(app, client_wait_s=0.2) as address,
        socket.create_connection(address, 15) as one,
    ):
        one.sendall(WHOLE_REQUEST * 3)
        assert done.wait(HANG_S)
        time.sleep(0.5)  # longer than the server waits
        taken = 0
        with suppress(ConnectionError):
            while part := one.recv(1_000_000):
                taken += len(part)

    assert taken < 40_000_000


def test_an_answer_that_is_read_slowly_arrives() -> None:
    """All of it is read in time, though it is more than the system takes at once."""
    taken = 0
    with (
        serving_app(answering(b"x" * 20_000_000), client_wait_s=30) as address,
        socket.create_connection(address, 30) as one,
    ):
        one.sendall(WHOLE_REQUEST.replace(b"Host", b"Connection: close\r\nHost"))
        while part := one.recv(1_000_000):
            taken += len(part)
            time.sleep(0.002)

    assert taken > 20_000_000


def test_a_request_is_answered_while_very_many_others_do_not_arrive() -> None:
    """The oldest are closed: none of them would time out before the test ends."""
    with (
        serving_app(answering(), client_wait_s=1e6, max_waiting=20) as address,
        ExitStack() as stack,
    ):
        halves = [
            stack.enter_context(socket.create_connection(address, 60))
            for _ in range(100)
        ]
        for half in halves[:80]:
            read_to_end(half)
        whole = stack.enter_context(socket.create_connection(address, 60))
        whole.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = whole.recv(12)

    assert answer == b"HTTP/1.1 200"


def test_a_request_on_a_connection_too_many_is_refused_with_a_status() -> None:
    """It would take a descriptor that the tools need."""
    with serving_app(answering(), max_connections=3) as address, ExitStack() as stack:
        answers = []
        for _ in range(3):
            one = stack.enter_context(socket.create_connection(address, 60))
            one.sendall(WHOLE_REQUEST)
            answers.append(one.recv(12))
        refusal = b"".join(iter(lambda: one.recv(65536), b""))

    assert answers == [b"HTTP/1.1 200", b"HTTP/1.1 200", b"HTTP/1.1 503"]
    head, _, body = refusal.partition(b"\r\n\r\n")
    assert b"retry-after: " in head.lower()
    assert "too many connections" in json.loads(body)["error"]


def test_a_wrong_rest_of_a_request_that_was_answered_leaves_no_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It was answered a second time, which its connection did not allow."""

    async def refuse(_: Any, __: Any, send: Any) -> None:
        await send_json(send, 401, b"{}")

    chunked = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with (
        serving_app(refuse) as address,
        socket.create_connection(address, 15) as one,
    ):
        one.sendall(chunked)
        answer = one.recv(12)
        one.sendall(b"no length\r\n")
        answer += b"".join(iter(lambda: one.recv(65536), b""))

    assert answer.count(b"HTTP/1.1 ") == 1
    assert caplog.text.count("Traceback") == 0


def test_a_client_that_leaves_leaves_no_traceback(served: Served) -> None:
    """Each left two: the SDK logged its frames, and so did uvicorn."""
    session = served.open_session()
    for version, more in (("2025-06-18", session), ("2026-07-28", "")):
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            f"Authorization: Bearer {served.token}\r\nMcp-Session-Id: {more}\r\n"
            f"MCP-Protocol-Version: {version}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
        )
        call = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 5,
                "method": "tools/call",
                "params": {"name": "memory_search", "arguments": {"query": "bats"}},
            }
        )
        for length in (900, len(call)):  # within the request, and within the answer
            with socket.create_connection(("127.0.0.1", served.port), 20) as one:
                one.sendall(f"{head}Content-Length: {length}\r\n\r\n{call}".encode())
                time.sleep(0.02)
    assert served.post()[0] == 200

    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(HANG_S) == 0
    assert served.process.stderr is not None
    assert "Traceback" not in served.process.stderr.read()


def count_sockets(served: Served) -> int:
    """Return how many descriptors of connections and the like a server has open."""
    count = 0
    for file in Path(f"/proc/{served.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since the listing
            count += str(file.readlink()).startswith("socket:")
    return count


def half_requests(token: str) -> Iterator[bytes]:
    """Yield beginnings of requests: of the first line, of the headers, of the body."""
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nAccept: application/json\r\n"
    ).encode()
    body = b'Content-Length: 900\r\n\r\n{"jsonrpc":'
    yield from itertools.cycle((b"", head[:9], head[:60], head, head + body))


def read_to_end(connection: socket.socket) -> None:
    """Wait until the other side has closed a connection."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass


@pytest.mark.parametrize("max_files", [4096, 90])
def test_nine_hundred_half_open_connections_are_closed(
    home: Path, max_files: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests are answered meanwhile, even where so many cannot be open at once."""
    briefly = functools.partial(make_config, client_wait_s=2.0)
    monkeypatch.setattr(http_listen, "make_config", briefly)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2048)), hard))
    try:
        with serving(home, max_files=max_files) as served, ExitStack() as stack:
            assert served.post()[0] == 200
            before = count_sockets(served)
            halves = []
            for number, sent in zip(
                range(900), half_requests(served.token), strict=False
            ):
                one = socket.create_connection(("127.0.0.1", served.port), 120)
                halves.append(stack.enter_context(one))
                with suppress(ConnectionError):  # closed already
                    one.sendall(sent)
                if number % 100 == 99:
                    assert served.post()[0] == 200
            for half in halves:
                read_to_end(half)

            assert served.post()[0] == 200
            while count_sockets(served) > before:  # or the test never ends
                time.sleep(0.01)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
