"""Serves any number of clients over streamable HTTP, on this machine alone.

Every request must carry the token, which is made once and kept in a file that only its
owner can read. The SDK refuses requests with an unknown Host or Origin (DNS rebinding).
"""

from __future__ import annotations

import hmac
import os
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import (
    PRIVATE_FILE,
    make_private_folder,
    set_mode,
)
from hivemind_memory.mcp_server.server import MemoryServer

HOST = "127.0.0.1"
PATH = "/mcp"
MAX_BYTES = 32 * 1024 * 1024
"""Of one request; as over standard input."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def serve_http(
    server: MemoryServer,
    port: int,
    token_file: str,
    announce: Callable[[str, str], None],
) -> None:
    """Serve until the process is told to end.

    Args:
        server: The server.
        port: Port on the loopback address; 0: any that is free.
        token_file: File that holds the token; made if it is not there.
        announce: Told the address and the token's file once clients may come.

    Raises:
        HivemindError: The port is taken, or the token cannot be read.
    """
    token = read_token(token_file, lambda: secrets.token_urlsafe(32))
    with listen(port) as listening:
        real_port = listening.getsockname()[1]
        config = uvicorn.Config(
            make_app(server, real_port, token),
            loop="asyncio",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        announce(f"http://{HOST}:{real_port}{PATH}", token_file)
        # uvicorn ends at SIGTERM and then sends it again, to whoever was in charge
        # before: nobody, so that what is open can be closed.
        before = signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            signal.signal(signal.SIGTERM, before)


def make_app(server: MemoryServer, port: int, token: str) -> App:
    """Return the ASGI application: the SDK's, behind the token."""
    names = [f"{name}:{port}" for name in (HOST, "localhost")]
    app: App = server.streamable_http_app(
        streamable_http_path=PATH,
        host=HOST,
        max_request_body_size=MAX_BYTES,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=names,
            allowed_origins=[f"http://{name}" for name in names],
        ),
    )
    return _guarded(app, token)


def _guarded(app: App, token: str) -> App:
    """Return *app* for those who know the token."""
    expected = f"bearer {token}".encode()

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _is_known(scope, expected):
            await app(scope, receive, send)
        else:
            await _refuse(send)

    return guard


def _is_known(scope: Scope, expected: bytes) -> bool:
    """Whether a request carries the token, compared in constant time."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1:
        return False
    scheme, _, token = given[0].partition(b" ")
    return hmac.compare_digest(scheme.lower() + b" " + token.strip(), expected)


async def _refuse(send: Send) -> None:
    """Answer 401, with where the token lies left to the one who started us."""
    body = b'{"error":"the token is missing or wrong"}'
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback address alone.

    Raises:
        HivemindError: The port is taken.
    """
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise HivemindError(
            # Python adds the address as it sees it, which says nothing to a person.
            f"Port {port} is not available: {os.strerror(error.errno or 0)}.",
            hint="Choose another with --port, or 0 for any that is free.",
        ) from error
    # What is accepted inherits it. asyncio sets it only where a socket names TCP, which
    # this one does not, and each answer of two packets would wait 40 ms for the first
    # to be acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


_MIN_CHARS = 16


def read_token(path: str, make_token: Callable[[], str]) -> str:
    """Return the token in the file *path*, which is made if it is not there.

    Args:
        path: The file; others lose their right to read it.
        make_token: Returns a new token.

    Raises:
        HivemindError: It can be neither read nor made, or holds no token.
    """
    try:
        if not os.path.exists(path):
            _write_new(path, make_token())
        token = _read(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise HivemindError(
            f"The token cannot be read from {path}: {reason}.",
            hint="see who owns the file, or name another with --token-file",
        ) from error
    if len(token) < _MIN_CHARS or not token.isascii() or not token.isprintable():
        raise HivemindError(
            f"{path} holds no token of at least {_MIN_CHARS} characters.",
            hint="delete it, and a new one is made",
        )
    return token


def _read(path: str) -> str:
    """Return what the file holds, after shutting others out."""
    with open(path, encoding="utf-8") as file:
        set_mode(file.fileno(), PRIVATE_FILE)
        return file.read(4096).strip()


def _write_new(path: str, token: str) -> None:
    """Make the file whole at once; if another process was first, its token counts."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        make_private_folder(folder)
    write_file(path, f"{token}\n".encode(), is_new=True)
