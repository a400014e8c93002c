"""Listens on this machine alone, and runs an application until it is told to end.

A connection whose client keeps the server waiting is closed, see ``ClientTimeout``.
Loads nothing of the SDK.
"""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import ClassVar

import uvicorn

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.errors import reason_of
from hivemind_memory.mcp_server.client_timeout import (
    CLIENT_WAIT_S,
    ClientTimeout,
    default_max_waiting,
)
from hivemind_memory.mcp_server.descriptor_share import descriptor_share
from hivemind_memory.mcp_server.http_checks import Refuse, closing, refuse_plainly
from hivemind_memory.mcp_server.http_sessions import App, Receive, Scope, Send
from hivemind_memory.mcp_server.port_holder import find_holder
from hivemind_memory.mcp_server.whole_requests import WholeRequests

HOST = "127.0.0.1"
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

MAX_HEAD_BYTES = 128 * 1024
"""Of the first line of a request and its headers: a long question is in the first."""

MAX_CONNECTIONS = 1024
"""Connections that are open at once; a request on one more is answered with status 503.
They take five eighths of the descriptors at most, of which streams and clients that
the server waits for have two each; the tools need the others."""

TOO_MANY = "the server has too many connections open; try again later"

_CLOSE_S = 0.05


def serve_app(
    make_app: Callable[[int], App],
    port: int,
    announce: Callable[[str], None],
    *,
    max_connections: int = MAX_CONNECTIONS,
    refuse: Refuse = refuse_plainly,
    before_end: Callable[[], None] = lambda: None,
    also_on: Sequence[socket.socket] = (),
) -> None:
    """Serve until the process is told to end.

    Args:
        make_app: Returns what answers the requests; takes the port.
        port: Port on the loopback address; 0: any free one.
        announce: Called with the address, without a path, once clients may connect.
        max_connections: Connections at once; see ``MAX_CONNECTIONS``.
        refuse: Answers a request on one more.
        before_end: Called when the server is told to end, before it waits for answers.
        also_on: Further sockets that listen already.

    Raises:
        HivemindError: The port is taken.
    """
    with listen(port) as listening:
        real_port = listening.getsockname()[1]
        most = descriptor_share(max_connections, 5 / 8)
        config = make_config(make_app(real_port), max_connections=most, refuse=refuse)
        announce(f"http://{HOST}:{real_port}")
        sys.setswitchinterval(SWITCH_S)
        # uvicorn exits at SIGTERM and then raises it again for the handler before its
        # own; one that does nothing leaves time to close what is open.
        before = signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        try:
            LocalServer(config, before_end).run(sockets=[listening, *also_on])
        finally:
            signal.signal(signal.SIGTERM, before)


class LocalServer(uvicorn.Server):
    """Lets the application end what would go on for ever."""

    def __init__(self, config: uvicorn.Config, before_end: Callable[[], None]) -> None:
        super().__init__(config)
        self._before_end = before_end

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams, then wait for answers and close."""
        self._before_end()
        closing = asyncio.create_task(self._close_late_ones())
        try:
            await super().shutdown(sockets)
        finally:
            closing.cancel()

    async def _close_late_ones(self) -> None:
        """Close connections that were accepted just before and are made only now.

        uvicorn closes those that it has when it is told to end, and would wait for the
        others in vain.
        """
        while True:
            await asyncio.sleep(_CLOSE_S)
            for connection in [*self.server_state.connections]:
                if not connection.transport.is_closing():
                    connection.shutdown()


def make_config(
    app: App,
    client_wait_s: float = CLIENT_WAIT_S,
    max_waiting: int = 0,
    max_connections: int = 0,
    refuse: Refuse = refuse_plainly,
) -> uvicorn.Config:
    """Return how uvicorn serves *app*.

    Args:
        app: Answers the requests.
        client_wait_s: How long a client may keep the server waiting.
        max_waiting: Connections that may do so at once; 0: see ``MAX_WAITING``.
        max_connections: Connections at once; 0: see ``MAX_CONNECTIONS``.
        refuse: Answers a request on one more.
    """

    async def refuse_crowd(scope: Scope, _: Receive, send: Send) -> None:
        await refuse(scope, closing(send), 503, TOO_MANY)

    crowd = WholeRequests(refuse_crowd)
    most_open = max_connections or descriptor_share(MAX_CONNECTIONS, 5 / 8)

    class Protocol(ClientTimeout):
        wait_s = client_wait_s
        most = max_waiting or default_max_waiting()
        waiting: ClassVar[dict[ClientTimeout, None]] = {}

        def handle_events(self) -> None:
            """Answer the requests that have arrived, if not too many clients ask.

            uvicorn would refuse them with a mere phrase.
            """
            is_crowded = len(self.connections) >= most_open
            self.app = crowd if is_crowded else self.config.loaded_app
            super().handle_events()

    return uvicorn.Config(
        WholeRequests(app),
        http=Protocol,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_graceful_shutdown=1,
        backlog=ACCEPTED_AT_ONCE,
    )


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
            f"Cannot listen on port {port}: {_why(error, port)}.",
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


def _why(error: OSError, port: int) -> str:
    """Return why the system refuses the port, and which process has it if it tells."""
    reason = reason_of(error)
    if error.errno == errno.EADDRINUSE and (holder := find_holder(port)):
        return f"{reason} by {holder}"
    return reason
