"""Serves any number of clients over streamable HTTP, on this machine only.

A client must send a token: the server's own, which is created once in a file that only
its owner can read, or a named one; see ``http_tokens``. Host names and origins that a
web page could use are refused; see ``http_checks``.
"""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.transport_security import TransportSecuritySettings

from hivemind_memory.mcp_server.http_checks import HOSTS, LocalClients
from hivemind_memory.mcp_server.http_listen import HOST, serve_app
from hivemind_memory.mcp_server.http_projects import SessionProjects
from hivemind_memory.mcp_server.http_resumption import SessionResumption
from hivemind_memory.mcp_server.http_sessions import (
    IDLE_S,
    MAX_IDLE,
    MAX_OPEN,
    App,
    Message,
    Receive,
    Scope,
    Send,
    SessionLimit,
)
from hivemind_memory.mcp_server.http_tokens import FindToken, KnownClients
from hivemind_memory.mcp_server.open_requests import BoundedClients, is_mcp_stream
from hivemind_memory.mcp_server.server import MemoryServer
from hivemind_memory.mcp_server.streams import MAX_LINE_BYTES
from hivemind_memory.mcp_server.token_file import read_token

PATH = "/mcp"


def serve_http(
    server: MemoryServer,
    port: int,
    token_file: str,
    announce: Callable[[str, str], None],
    find_token: FindToken | None = None,
) -> None:
    """Serve until the process is told to end.

    Args:
        server: The server.
        port: Port on the loopback address; 0: any free one.
        token_file: File with the token; created if it does not exist.
        announce: Called with the address and the token file once clients may connect.
        find_token: Finds the tokens that have names; None: there are none.

    Raises:
        HivemindError: The port is taken, or there is no usable token.
    """
    token = read_token(token_file)
    serve_app(
        lambda real_port: make_app(server, real_port, token, find_token=find_token),
        port,
        lambda address: announce(address + PATH, token_file),
    )


def make_app(
    server: MemoryServer,
    port: int,
    token: str,
    *,
    find_token: FindToken | None = None,
    idle_s: float = IDLE_S,
    max_idle: int = MAX_IDLE,
    max_streams: int = 0,
) -> App:
    """Return an application that only requests of known clients reach.

    Args:
        server: The server.
        port: Where it listens.
        token: The server's own.
        find_token: Finds the tokens that have names; None: there are none.
        idle_s: How long a session is kept without a request.
        max_idle: Sessions that are kept; see ``SessionLimit``.
        max_streams: Streams that are held open; see ``SessionLimit``.
    """
    app = make_mcp_app(
        server,
        port,
        token,
        idle_s=idle_s,
        max_idle=max_idle,
        max_streams=max_streams,
    )
    bounded = BoundedClients(app, is_stream=lambda scope: is_mcp_stream(scope, PATH))
    known = KnownClients(bounded, token, find_token, takes_scopes=takes_scopes(server))
    return LocalClients(known, port)


def takes_scopes(server: MemoryServer) -> bool:
    """Return whether tokens may have scopes of their own."""
    return server.has_projects and not server.more_scopes


def make_mcp_app(
    server: MemoryServer,
    port: int,
    token: str,
    *,
    idle_s: float = IDLE_S,
    max_idle: int = MAX_IDLE,
    max_streams: int = 0,
) -> App:
    """Return the SDK's ASGI application for clients that are known already.

    Args:
        server: The server.
        port: Where it listens.
        token: The server's own; it signs the ids of sessions.
        idle_s: How long a session is kept without a request.
        max_idle: Sessions that are kept; see ``SessionLimit``.
        max_streams: Streams that are held open; see ``SessionLimit``.
    """
    names = [f"{name}:{port}" for name in HOSTS]
    app: App = server.streamable_http_app(
        streamable_http_path=PATH,
        host=HOST,
        max_request_body_size=MAX_LINE_BYTES,
        session_idle_timeout=idle_s,
        max_sessions=MAX_OPEN,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=names,
            allowed_origins=[f"http://{name}" for name in names],
        ),
    )
    if server.has_projects:
        app = SessionProjects(app, PATH)
    limited = SessionLimit(app, PATH, max_idle, max_streams)
    return _whole(SessionResumption(limited, PATH, token))


def _whole(app: App) -> App:
    """Return *app* for requests that arrive whole."""

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        elif (whole := await _received(receive)) is not None:
            await app(scope, whole, send)

    return wait


async def _received(receive: Receive) -> Receive | None:
    """Return what repeats a whole request; None: its client has left before the end.

    The SDK takes such a client for an error, and logs where it occurred. More than a
    body may have, the SDK refuses: that is not received whole.
    """
    parts: list[Message] = []
    size, is_whole = 0, False
    while not is_whole and size <= MAX_LINE_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message)
        size += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
    parts.reverse()

    async def repeat() -> Message:
        return parts.pop() if parts else await receive()

    return repeat
