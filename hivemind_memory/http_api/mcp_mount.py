"""The MCP server as a part of another application, loaded when it is first used.

Its SDK takes a second to load, which a server that no agent asks need not spend.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import anyio.to_thread

from hivemind_memory.mcp_server.http_sessions import (
    App,
    Message,
    Receive,
    Scope,
    Send,
)


class LazyMcpApp:
    """An application that is made, and started, with its first request."""

    def __init__(self, make_app: Callable[[], App]) -> None:
        """Make nothing yet.

        Args:
            make_app: Returns the application; called once, on a thread.
        """
        self._make_app = make_app
        self._lock = asyncio.Lock()
        self._app: App | None = None
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._lifespan: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        async with self._lock:
            if self._app is None:
                self._app = await self._start()
        await self._app(scope, receive, send)

    async def close(self) -> None:
        """End the application as its own server would, if it was started."""
        if self._lifespan is not None:
            await self._to_app.put({"type": "lifespan.shutdown"})
            await self._lifespan

    async def _start(self) -> App:
        """Return the application, once it says that it has started.

        Raises:
            RuntimeError: It did not start.
        """
        app = await anyio.to_thread.run_sync(self._make_app)
        started: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        async def on_message(message: Message) -> None:
            if not started.done():
                started.set_result(message["type"] == "lifespan.startup.complete")

        await self._to_app.put({"type": "lifespan.startup"})
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        task = asyncio.get_running_loop().create_task(
            _run(app, scope, self._to_app.get, on_message)
        )

        def on_end(_: object) -> None:
            if not started.done():
                started.set_result(False)

        task.add_done_callback(on_end)
        if not await started:
            message = "the MCP server did not start"
            raise RuntimeError(message)
        self._lifespan = task
        return app


async def _run(app: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Run an application from its start to its end."""
    await app(scope, receive, send)
