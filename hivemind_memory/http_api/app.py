"""The application of ``hm serve``: what answers a path, and who may reach it.

Each request passes the checks of ``mcp_server/http_checks`` and ``http_tokens``, which
``hm mcp --http`` has too, and then goes to one of the mounts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import anyio.to_thread

from hivemind_memory.http_api.mcp_mount import LazyMcpApp
from hivemind_memory.http_api.plugin_clients import OpenPlugin, SocketClients
from hivemind_memory.mcp_server.http_checks import (
    LocalClients,
    refuse_plainly,
    send_json,
)
from hivemind_memory.mcp_server.http_sessions import App, Receive, Scope, Send
from hivemind_memory.mcp_server.http_tokens import FindToken, KnownClients
from hivemind_memory.mcp_server.open_requests import BoundedClients, is_mcp_stream

HEALTH = "/healthz"
MCP = "/mcp"
EVENTS = "/api/v1/events"
DOCUMENT, PAGE = "/api/v1/openapi.json", "/api/v1/docs"
HOMES = frozenset({"/", "/api/v1", "/api/v1/"})
"""Where a person looks first: they lead to the page."""

OPEN_PATHS = frozenset({HEALTH, DOCUMENT, PAGE, *HOMES})
"""What needs no token, for it says nothing of the memory."""

PAGES = "/memory"
"""The pages for people, which find out by themselves who reads them."""

API_MOUNTS = ("/api/v1", "/workspaces", "/v1")
"""Beginnings of the paths that the routes of ``route_groups`` answer."""


def make_app(
    mounts: Mapping[str, App],
    port: int,
    token: str,
    *,
    find_token: FindToken | None = None,
    is_public: bool = False,
    is_plugin_open: bool = False,
) -> App:
    """Return an application that only requests of known clients reach.

    Args:
        mounts: Beginning of a path -> what answers there; ``""``: all other paths.
        port: Where it listens.
        token: The server's own.
        find_token: Finds the tokens that have names; None: there are none.
        is_public: Whether requests without a token may read what is public.
        is_plugin_open: Whether the memory plugin answers without a token.
    """

    def is_page(scope: Scope) -> bool:
        path = scope["path"]  # the pages count by their own sessions
        return path in OPEN_PATHS or _mount_of(path, (PAGES,)) is not None

    def is_open(scope: Scope) -> bool:
        path, method = scope["path"], scope["method"]
        if is_page(scope):
            return True
        is_reading = method in {"GET", "HEAD"}
        return is_public and is_reading and _mount_of(path, (MCP,)) is None

    def is_stream(scope: Scope) -> bool:
        return scope["path"] == EVENTS or is_mcp_stream(scope, MCP)

    inside = Mounts(mounts)
    known: App = KnownClients(
        BoundedClients(
            inside,
            refuse,
            is_stream=is_stream,
            is_free=is_page,
        ),
        token,
        find_token,
        takes_scopes=True,
        is_open=is_open,
        refuse=refuse,
    )
    if is_plugin_open:
        known = OpenPlugin(known, inside)
    return SocketClients(LocalClients(known, port, refuse), inside, refuse)


class Mounts:
    """An application made of several, one for each beginning of a path."""

    def __init__(self, mounts: Mapping[str, App]) -> None:
        """Take them; see ``make_app``."""
        self._mounts = mounts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["path"] == HEALTH:
            if scope["method"] in {"GET", "HEAD"}:
                await send_json(send, 200, b'{"status":"ok"}')
            else:
                allow = ((b"allow", b"GET, HEAD"),)
                await send_json(send, 405, b'{"error":"method not allowed"}', allow)
            return
        if scope["path"] in HOMES and scope["method"] in {"GET", "HEAD"}:
            headers = [(b"location", PAGE.encode()), (b"content-length", b"0")]
            await send(
                {"type": "http.response.start", "status": 307, "headers": headers}
            )
            await send({"type": "http.response.body"})
            return
        mount = _mount_of(scope["path"], self._mounts)
        await self._mounts[mount or ""](scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        """Start, and close what was started when the server ends."""
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for app in {id(app): app for app in self._mounts.values()}.values():
            if isinstance(app, LazyMcpApp):
                await app.close()
        await send({"type": "lifespan.shutdown.complete"})


def _mount_of(path: str, mounts: Mapping[str, App] | Sequence[str]) -> str | None:
    """Return the beginning under which a path is; None: under none of them."""
    for mount in mounts:
        if mount and (path == mount or path.startswith(f"{mount}/")):
            return mount
    return None


@runtime_checkable
class StreamingApp(Protocol):
    """An application some of whose answers go on until they are ended."""

    def end_streams(self) -> None:
        """End the answers that go on."""


class LazyApp:
    """An application that is made with its first request: its schemas take a while."""

    def __init__(self, make_app: Callable[[], App]) -> None:
        """Build nothing yet.

        Args:
            make_app: Returns what answers; called once, on a thread.
        """
        self._make_app = make_app
        self._lock = asyncio.Lock()
        self._app: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if self._app is None:
            async with self._lock:
                if self._app is None:
                    self._app = await anyio.to_thread.run_sync(self._make_app)
        await self._app(scope, receive, send)

    def end_streams(self) -> None:
        """End the streams of events: the server waits for all answers to end."""
        app: object = self._app
        if isinstance(app, StreamingApp):
            app.end_streams()


async def refuse(scope: Scope, send: Send, status: int, error: str) -> None:
    """Answer a request that is not passed on, in the form of its mount."""
    if _mount_of(scope["path"], API_MOUNTS) is None:
        await refuse_plainly(scope, send, status, error)
        return
    from hivemind_memory.http_api.failures import Failure, envelope_at
    from hivemind_memory.http_api.frame import send_failure

    failure = Failure(status, error)
    await send_failure(send, failure, envelope_at(scope["path"]))
