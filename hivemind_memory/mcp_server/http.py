"""Serves any number of clients over streamable HTTP, on this machine only.

A client must send a token: the server's own, which is created once in a file that only
its owner can read, or a named one; see ``http_tokens``. The SDK refuses host names and
origins that a web page could use (DNS rebinding). A connection whose client keeps the
server waiting is closed, see ``ClientTimeout``.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from typing import ClassVar

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import (
    PRIVATE_FILE,
    make_private_folder,
    set_mode,
)
from hivemind_memory.mcp_server.client_timeout import (
    CLIENT_WAIT_S,
    ClientTimeout,
    default_max_waiting,
)
from hivemind_memory.mcp_server.descriptor_share import descriptor_share
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
from hivemind_memory.mcp_server.server import MemoryServer
from hivemind_memory.mcp_server.streams import MAX_LINE_BYTES

HOST = "127.0.0.1"
PATH = "/mcp"
ACCEPTED_AT_ONCE = 4
"""Connections that are accepted before earlier ones are handled. asyncio
accepts as many as may queue: a burst would use up the descriptors before the oldest can
be closed."""

MAX_QUEUED = 1024
"""Connections that the system keeps until they are accepted."""

SWITCH_S = 0.001
"""How long a thread that computes keeps the others waiting. A search gives way some
dozens of times, when it reads a file or asks the index; with Python's 5 ms each time,
one megabyte that another project writes makes it twice as slow."""

MAX_CONNECTIONS = 1024
"""Connections that are open at once; a request on one more is answered with status 503.
They take five eighths of the descriptors at most, of which streams and clients that
the server waits for have two each; the tools need the others."""


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
    with listen(port) as listening:
        real_port = listening.getsockname()[1]
        config = make_config(make_app(server, real_port, token, find_token=find_token))
        announce(f"http://{HOST}:{real_port}{PATH}", token_file)
        sys.setswitchinterval(SWITCH_S)
        # uvicorn exits at SIGTERM and then raises it again for the handler before its
        # own; one that does nothing leaves time to close what is open.
        before = signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            signal.signal(signal.SIGTERM, before)


def make_config(
    app: App,
    client_wait_s: float = CLIENT_WAIT_S,
    max_waiting: int = 0,
    max_connections: int = 0,
) -> uvicorn.Config:
    """Return how uvicorn serves *app*.

    Args:
        app: Answers the requests.
        client_wait_s: How long a client may keep the server waiting.
        max_waiting: Connections that may do so at once; 0: see ``MAX_WAITING``.
        max_connections: Connections at once; 0: see ``MAX_CONNECTIONS``.
    """

    class Protocol(ClientTimeout):
        wait_s = client_wait_s
        most = max_waiting or default_max_waiting()
        waiting: ClassVar[dict[ClientTimeout, None]] = {}

    return uvicorn.Config(
        app,
        http=Protocol,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
        backlog=ACCEPTED_AT_ONCE,
        limit_concurrency=max_connections or descriptor_share(MAX_CONNECTIONS, 5 / 8),
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
    """Return the SDK's ASGI application, which only requests with a token reach.

    Args:
        server: The server.
        port: Where it listens.
        token: The server's own.
        find_token: Finds the tokens that have names; None: there are none.
        idle_s: How long a session is kept without a request.
        max_idle: Sessions that are kept; see ``SessionLimit``.
        max_streams: Streams that are held open; see ``SessionLimit``.
    """
    names = [f"{name}:{port}" for name in (HOST, "localhost")]
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
    whole = _whole(SessionResumption(limited, PATH, token))
    takes_scopes = server.has_projects and not server.has_scopes
    return KnownClients(whole, token, find_token, takes_scopes=takes_scopes)


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


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback address alone.

    Raises:
        HivemindError: The port is taken.
    """
    try:
        with socket.create_server((HOST, port)) as created:
            listening = _Listening(fileno=created.detach())
    except OSError as error:
        raise HivemindError(
            # Python adds the address in its own form, which tells a person nothing.
            f"Cannot listen on port {port}: {os.strerror(error.errno or 0)}.",
            hint="Choose another with --port, or 0 for any free one.",
        ) from error
    # Accepted connections inherit this. asyncio sets it only for sockets that name TCP,
    # which this one does not, and each answer of two packets would wait 40 ms for the
    # first to be acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


class _Listening(socket.socket):
    """Queues more connections than asyncio accepts at once."""

    def listen(self, _: int = 0, /) -> None:
        """Listen; asyncio would queue as many as it accepts."""
        super().listen(MAX_QUEUED)


_MIN_CHARS = 16


def _new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(32)


def read_token(path: str, make_token: Callable[[], str] = _new_token) -> str:
    """Return the token in the file *path*, which is created if it does not exist.

    Args:
        path: The file; other users lose the right to read it.
        make_token: Returns a new token.

    Raises:
        HivemindError: It can be neither read nor created, or holds no token.
    """
    try:
        if not os.path.exists(path):
            _write_new(path, make_token())
        token = _read(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise HivemindError(
            f"Cannot read the token from {path}: {reason}.",
            hint="Check who owns the file, or choose another with --token-file.",
        ) from error
    if len(token) < _MIN_CHARS or not token.isascii() or not token.isprintable():
        raise HivemindError(
            f"{path} does not contain a token of at least {_MIN_CHARS} characters.",
            hint="Delete the file to have a new token created.",
        )
    return token


def _read(path: str) -> str:
    """Return what the file holds, after making it private."""
    with open(path, encoding="utf-8") as file:
        set_mode(file.fileno(), PRIVATE_FILE)
        return file.read(4096).strip()


def _write_new(path: str, token: str) -> None:
    """Create the file in one step; if another process was first, its token is used."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        make_private_folder(folder)
    write_file(path, f"{token}\n".encode(), is_new=True)
