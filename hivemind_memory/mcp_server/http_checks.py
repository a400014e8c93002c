"""Refuses requests that another web page could have a browser send.

A page whose name was made to point to this machine (DNS rebinding) is refused by the
name that it asks for, and a page of another origin by that origin.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from hivemind_memory.mcp_server.http_sessions import App, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost", "[::1]")

WRONG_HOST = "this name is not served here"
WRONG_ORIGIN = "Invalid Origin header"

Refuse = Callable[[Scope, Send, int, str], Awaitable[None]]
"""Answers a request with a status and a sentence."""


class LocalClients:
    """An application that only requests from this machine's own programs reach."""

    def __init__(self, app: App, port: int, refuse: Refuse | None = None) -> None:
        """Know the names of the server.

        Args:
            app: Answers the requests.
            port: Where it listens.
            refuse: Answers the others; None: with ``{"error": …}``.
        """
        self._app = app
        self._names = {f"{host}:{port}".encode() for host in HOSTS}
        if port == 80:
            self._names |= {host.encode() for host in HOSTS}
        self._origins = {b"http://" + name for name in self._names}
        self._refuse = refuse or refuse_plainly

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or refuse it."""
        if scope["type"] != "lifespan":
            hosts, origins = [], []
            for name, value in scope["headers"]:
                if name == b"host":
                    hosts.append(value.lower())
                elif name == b"origin":
                    origins.append(value.lower())
            if len(hosts) != 1 or hosts[0] not in self._names:
                await self._refuse(scope, send, 421, WRONG_HOST)
                return
            if any(origin not in self._origins for origin in origins):
                await self._refuse(scope, send, 403, WRONG_ORIGIN)
                return
        await self._app(scope, receive, send)


async def refuse_plainly(_: Scope, send: Send, status: int, error: str) -> None:
    """Answer with ``{"error": …}``."""
    await send_json(
        send, status, json.dumps({"error": error}, separators=(",", ":")).encode()
    )


async def send_json(
    send: Send,
    status: int,
    body: bytes,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    """Answer with JSON.

    Args:
        send: Sends the parts of the answer.
        status: Its status; 401 says that a token is expected.
        body: The JSON.
        headers: More than type and length.
    """
    all_headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *headers,
    ]
    if status == 401:
        all_headers.append((b"www-authenticate", b"Bearer"))
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
