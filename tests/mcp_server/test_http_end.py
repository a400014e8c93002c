"""A server that is told to end waits for answers, and for nothing else."""

from __future__ import annotations

import asyncio
import logging
import socket

import pytest

from hivemind_memory.mcp_server.http_listen import LocalServer, listen, make_config
from hivemind_memory.mcp_server.http_sessions import Receive, Scope, Send
from tests.support.waiting import HANG_S


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    """Start and end, as a server asks for."""
    for step in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{step}.complete"})
    assert scope["type"] == "lifespan"


def test_a_connection_that_comes_as_the_server_ends_does_not_hold_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It was accepted just before; uvicorn waited for it, and logged an error."""
    config = make_config(_app)
    ours, theirs = socket.socketpair()
    made = []

    async def connect() -> None:
        made.append(
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: config.http_protocol_class(
                    config=config, server_state=server.server_state, app_state={}
                ),
                theirs,
            )
        )

    def come_late() -> None:
        asyncio.get_running_loop().call_later(0.02, asyncio.ensure_future, connect())

    async def serve() -> None:
        with listen(0) as listening:
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            while not server.started:
                await asyncio.sleep(0.01)
            server.should_exit = True
            await serving

    server = LocalServer(config, come_late)
    with ours, caplog.at_level(logging.ERROR):
        ours.settimeout(HANG_S)
        asyncio.run(serve())

        assert made
        assert caplog.text == ""
        assert ours.recv(1) == b""  # it was closed
