"""Reads the rest of a request that is answered before it has arrived whole.

uvicorn closes a connection after an answer that says so. If the client is still sending
then, the system resets the connection, and the client loses the answer that it has not
read yet. So its last part waits until all has arrived, or until the client takes too
long, see ``ClientTimeout``; nothing of the rest is kept.
"""

from __future__ import annotations

from hivemind_memory.mcp_server.http_sessions import App, Message, Receive, Scope, Send

BODY_LENGTHS = frozenset({b"content-length", b"transfer-encoding"})
"""A request without these headers has no body."""


class WholeRequests:
    """An application that ends no answer before its request has arrived."""

    def __init__(self, app: App) -> None:
        """Take what answers the requests."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request."""
        if any(name in BODY_LENGTHS for name, _ in scope.get("headers", ())):
            request = _Request(receive, send)
            receive, send = request.receive, request.send
        await self._app(scope, receive, send)


class _Request:
    """One request that has a body."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._is_whole = False

    async def receive(self) -> Message:
        """Return the next part."""
        message = await self._receive()
        # Who has left sends nothing more either.
        self._is_whole = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer, but the last one only if all has arrived."""
        is_body = message["type"] == "http.response.body"
        if is_body and not message.get("more_body", False) and not self._is_whole:
            await self._send({**message, "more_body": True})
            while (await self.receive()).get("more_body", False):
                pass
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)
