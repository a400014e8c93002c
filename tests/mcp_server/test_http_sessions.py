"""Sessions over HTTP: how many are kept, and for how long."""

from __future__ import annotations

import http.client
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
import httpx
import pytest
import uvicorn

from hivemind_memory.http_api import app as api
from hivemind_memory.mcp_server.http import make_app
from hivemind_memory.mcp_server.http_listen import listen, make_config
from hivemind_memory.mcp_server.open_requests import OpenRequests
from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import initialize_request

TOKEN = "0123456789abcdef"
HELLO = initialize_request(1, "http")
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


class Clients:
    """Whoever sends requests to a server."""

    token = TOKEN

    def __init__(self, port: int) -> None:
        self.port = port

    def request(
        self, body: Any, session: str = "", *, method: str = "POST", path: str = "/mcp"
    ) -> tuple[int, str]:
        """Send a request; return its status, and the session that it opened."""
        connection, answer = self.begin(body, session, method=method, path=path)
        answer.read()
        connection.close()
        return answer.status, answer.getheader("mcp-session-id") or ""

    def begin(
        self,
        body: Any,
        session: str = "",
        *,
        method: str = "POST",
        path: str = "/mcp",
        more: Mapping[str, str] | None = None,
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send a request; return the connection and the answer, still to be read."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **(more or {}),
        }
        if session:
            headers["Mcp-Session-Id"] = session
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, headers)
        return connection, connection.getresponse()

    def open(self) -> str:
        """Begin a session and return its name."""
        status, session = self.request(HELLO)
        assert status == 200
        return session


@contextmanager
def serving(server: MemoryServer, **bounds: Any) -> Iterator[Clients]:
    """Serve over HTTP, with bounds for sessions."""
    with listen(0) as listening:
        port = listening.getsockname()[1]
        app = make_app(server, port, TOKEN, **bounds)
        served = uvicorn.Server(make_config(app))
        thread = threading.Thread(target=served.run, args=([listening],), daemon=True)
        thread.start()
        try:
            yield Clients(port)
        finally:
            served.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


@pytest.fixture
def logged() -> Iterator[Callable[[str], int]]:
    """Wait until the SDK has logged something; return how often it has."""
    lines: list[str] = []
    changed = threading.Condition()

    def keep(record: logging.LogRecord) -> bool:
        with changed:
            lines.append(record.getMessage())
            changed.notify_all()
        return True

    logger = logging.getLogger("mcp.server.streamable_http_manager")
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addFilter(keep)

    def wait(beginning: str) -> int:
        with changed:
            assert changed.wait_for(
                lambda: any(line.startswith(beginning) for line in lines), 60
            )
            return sum(line.startswith(beginning) for line in lines)

    yield wait
    logger.removeFilter(keep)
    logger.setLevel(level)


BEGUN = "Created new transport"
"""What is logged of each session, of one that is begun again too."""


def test_beyond_a_number_of_sessions_the_one_idle_longest_ends(
    server: MemoryServer, logged: Callable[[str], int]
) -> None:
    """A thousand sessions that no client ended once took 48 MB until the next day."""
    with serving(server, max_idle=3) as clients:
        first, second, third = (clients.open() for _ in range(3))
        assert clients.request(LIST, first)[0] == 200
        fourth = clients.open()

        kept = [clients.request(LIST, one)[0] for one in (first, third, fourth)]
        assert (kept, logged(BEGUN)) == ([200] * 3, 4)
        assert (clients.request(LIST, second)[0], logged(BEGUN)) == (200, 5)


def test_an_evicted_session_goes_on_and_others_make_room(
    server: MemoryServer, logged: Callable[[str], int]
) -> None:
    """Gemini CLI begins no new session, and had no memory until it was restarted."""
    with serving(server, max_idle=1) as clients:
        sessions = [clients.open() for _ in range(3)]
        for _ in range(2):
            assert [clients.request(LIST, one)[0] for one in sessions] == [200] * 3

        assert logged(BEGUN) == 3 + 6
        assert clients.request(None, sessions[2], method="DELETE")[0] == 200
        # Evicted, then ended by its client: it is gone at once, and stays so.
        assert clients.request(None, sessions[0], method="DELETE")[0] == 404
        gone = [clients.request(LIST, one)[0] for one in sessions]

    assert gone == [200, 200, 404]


def test_many_requests_of_an_evicted_session_begin_it_once(
    server: MemoryServer, logged: Callable[[str], int]
) -> None:
    """32 at once, and each is answered."""
    with serving(server, max_idle=1) as clients:
        evicted = clients.open()
        clients.open()
        with ThreadPoolExecutor(32) as pool:
            bodies = [{**LIST, "id": number} for number in range(2, 34)]
            asked = [pool.submit(clients.request, one, evicted) for one in bodies]
            statuses = {one.result()[0] for one in asked}

        assert (statuses, logged(BEGUN)) == ({200}, 3)


def test_a_session_with_a_request_in_the_air_does_not_end_for_another(
    server: MemoryServer, logged: Callable[[str], int]
) -> None:
    """Clients hold a stream open on which the server may speak."""
    with serving(server, max_idle=1) as clients:
        listening = clients.open()
        connection, stream = clients.begin(None, listening, method="GET")
        assert stream.status == 200
        others = [clients.open() for _ in range(3)]

        # The newest has just begun: ended at once, no client could ever connect.
        kept = [clients.request(LIST, one)[0] for one in (listening, others[2])]
        assert (kept, logged(BEGUN)) == ([200, 200], 4)
        assert clients.request(LIST, others[0])[0] == 200
        assert logged(BEGUN) == 5
        connection.close()
        stream.close()


def test_beyond_a_number_of_streams_the_oldest_is_closed(server: MemoryServer) -> None:
    """A thousand of them took all descriptors, and no call was answered any more.

    The client whose stream was closed may open it again.
    """
    with serving(server, max_streams=2) as clients, ExitStack() as stack:
        sessions = [clients.open() for _ in range(3)]

        def listen_again(session: str) -> http.client.HTTPResponse:
            connection, stream = clients.begin(None, session, method="GET")
            stack.callback(connection.close)
            assert stream.status == 200
            return stream

        first, second, third = map(listen_again, sessions)
        assert first.read() == b""
        again = listen_again(sessions[0])
        assert second.read() == b""

        assert [clients.request(LIST, one)[0] for one in sessions] == [200] * 3
        assert not third.isclosed()
        assert not again.isclosed()


def test_a_stream_that_goes_on_after_an_event_is_a_stream(server: MemoryServer) -> None:
    """A client that reconnects names the last event it knows: we send none with ids."""
    with serving(server) as clients, ExitStack() as stack:
        session = clients.open()
        connection, stream = clients.begin(
            None, session, method="GET", more={"Last-Event-ID": "1c9-4"}
        )
        stack.callback(connection.close)

        assert stream.status == 200
        assert stream.headers["content-type"].startswith("text/event-stream")


def test_a_session_that_its_client_ended_makes_room(
    server: MemoryServer, logged: Callable[[str], int]
) -> None:
    """Else sessions that are gone would end those that are not."""
    with serving(server, max_idle=2) as clients:
        kept = clients.open()
        for _ in range(4):
            left = clients.open()
            assert clients.request(None, left, method="DELETE")[0] == 200

        assert (clients.request(LIST, kept)[0], logged(BEGUN)) == (200, 5)


def test_a_wrong_address_does_not_hide_a_session(
    server: MemoryServer, logged: Callable[[str], int]
) -> None:
    """Nothing is there, and the session counts as before."""
    with serving(server, max_idle=2) as clients:
        first, second = clients.open(), clients.open()
        for session in (first, second):
            assert clients.request(LIST, session, path="/other")[0] == 404
        clients.open()

        assert (clients.request(LIST, second)[0], logged(BEGUN)) == (200, 3)
        assert (clients.request(LIST, first)[0], logged(BEGUN)) == (200, 4)


def test_a_session_without_requests_ends_after_a_time(
    server: MemoryServer, logged: Callable[[str], int]
) -> None:
    """Its next request begins it again."""
    with serving(server, idle_s=0.05) as clients:
        session = clients.open()

        assert logged(f"Session {session.split('.', maxsplit=1)[0]} idle timeout")
        assert (clients.request(LIST, session)[0], logged(BEGUN)) == (200, 2)


def test_a_session_goes_on_after_a_restart_of_the_server(server: MemoryServer) -> None:
    """Gemini CLI begins no new session upon 404, and had no memory until it was
    restarted."""
    with serving(server) as before:
        session = before.open()
        closed = before.open()
        assert before.request(None, closed, method="DELETE")[0] == 200
    with serving(server) as after:
        statuses = [after.request(LIST, session)[0] for _ in range(2)]
        forged = after.request(LIST, session[:-1] + "x")[0]
        connection, answer = after.begin(LIST, "unknown")
        text = answer.read().decode()
        connection.close()
        assert after.request(None, session, method="DELETE")[0] == 200
        gone = [after.request(LIST, session)[0] for _ in range(2)]

    assert statuses == [200, 200]
    assert (forged, answer.status, *gone) == (404, 404, 404, 404)
    assert "Nothing was saved" in text
    assert "Restart the agent" in text


@pytest.mark.parametrize("is_api", [True, False])
def test_streams_of_mcp_count_as_streams_of_a_client(
    server: MemoryServer, monkeypatch: pytest.MonkeyPatch, *, is_api: bool
) -> None:
    """They took the room for its requests, and it could ask nothing more."""
    counted: list[bool] = []

    @contextmanager
    def note(_: OpenRequests, name: object, *, is_stream: bool) -> Iterator[str]:
        assert name is None
        counted.append(is_stream)
        yield "enough"

    monkeypatch.setattr(OpenRequests, "counted", note)
    app = api.make_app({}, 8737, TOKEN) if is_api else make_app(server, 8737, TOKEN)

    async def ask() -> list[int]:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app),  # type: ignore[arg-type]
            base_url="http://127.0.0.1:8737",
            headers={"Authorization": f"Bearer {TOKEN}"},
        ) as client:
            return [
                (await client.request(method, path)).status_code
                for method in ("GET", "POST", "DELETE")
                for path in ("/mcp", "/mcp/")
            ]

    assert anyio.run(ask) == [429] * 6
    assert counted == [True, True, False, False, False, False]
