"""Refuses requests that another web page could have a browser send.

A page whose name was made to point to this machine (DNS rebinding) is refused by the
name that it asks for, and a page of another origin by that origin.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from hivemind_memory.mcp_server.http_sessions import App, Message, Receive, Scope, Send
from hivemind_memory.mcp_server.whole_requests import BODY_LENGTHS

HOSTS = ("127.0.0.1", "localhost", "[::1]")

WRONG_HOST = "this name is not served here"
WRONG_ORIGIN = "Invalid Origin header"
TWO_LENGTHS = "Transfer-Encoding and Content-Length cannot be given together"

RETRY_S = 5
"""After so long, a client may try again that has too many requests open, or that asked
when the memory, or the server, could not be used."""

SAFE_HEADERS = ((b"x-content-type-options", b"nosniff"),)

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
            hosts, origins, lengths = [], [], set()
            for name, value in scope["headers"]:
                if name == b"host":
                    hosts.append(value.lower())
                elif name == b"origin":
                    origins.append(value.lower())
                elif name in BODY_LENGTHS:
                    lengths.add(name)
            if len(lengths) > 1:
                # Another program on the way may have taken the other one: what is sent
                # next may be the rest of this body.
                await self._refuse(scope, closing(send), 400, TWO_LENGTHS)
                return
            named: list[bytes] = []
            if scope["path"][:1] != "/":
                scope, named = _without_authority(scope)
            if len(hosts) != 1 or not self._names.issuperset(hosts + named):
                await self._refuse(scope, send, 421, WRONG_HOST)
                return
            if any(origin not in self._origins for origin in origins):
                await self._refuse(scope, send, 403, WRONG_ORIGIN)
                return
        await self._app(scope, receive, send)


def _without_authority(scope: Scope) -> tuple[Scope, list[bytes]]:
    """Return a request as if it named a path alone, and the host that it named too.

    A client that takes the server for a proxy sends the whole address.
    """
    raw: bytes = scope["raw_path"]
    scheme, _, rest = raw.partition(b"://")
    host, slash, path = rest.partition(b"/")
    if scheme.lower() != b"http" or not host:
        return scope, []
    whole = {"raw_path": slash + path or b"/"}
    shown = scope["path"].partition("://")[2].partition("/")
    return {**scope, **whole, "path": f"/{shown[2]}"}, [host.lower()]


def closing(send: Send) -> Send:
    """Return what sends an answer after which the connection is closed."""

    async def close(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message.get("headers", ()), (b"connection", b"close")]
            message = {**message, "headers": headers}
        await send(message)

    return close


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
        *SAFE_HEADERS,
        *headers,
    ]
    if not any(name == b"cache-control" for name, _ in headers):
        all_headers.append((b"cache-control", b"no-store"))
    if status == 401:
        all_headers.append((b"www-authenticate", b"Bearer"))
    elif status in {429, 503}:
        all_headers.append((b"retry-after", str(RETRY_S).encode()))
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
