"""Bounds the sessions that clients over HTTP leave behind, and their open streams.

The SDK keeps a session until its client ends it or has been quiet for very long, and
few clients end theirs. When there are too many, the one that has been idle longest is
ended as its client would end it. Its next request is answered with 404, upon which the
specification has a client begin a new session.

A client may also hold a stream open, on which the server could speak: a connection, and
so a descriptor, for as long as the client runs. The specification lets a server close
one at any time, and a client that still wants it opens it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio

from hivemind_memory.mcp_server.descriptor_share import descriptor_share

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

IDLE_S = 24 * 60 * 60.0
"""How long a session is kept without a request. An agent that is left open overnight
goes on in the morning, and not every client starts a new session."""

MAX_IDLE = 256
"""Sessions that are kept; one more, and the idle one used longest ago ends, to be begun
again when its client asks something. Each takes some 50 KB."""

MAX_OPEN = 1024
"""Sessions, with those that have a pending request, which are never ended for another:
one more is refused with status 503."""

MAX_STREAMS = 256
"""Streams that are held open; one more, and the oldest is closed. They take a quarter
of the descriptors at most."""

SESSION_HEADER = b"mcp-session-id"
_LAST_EVENT = b"last-event-id"


class SessionLimit:
    """An application that ends the sessions and streams of *app* that are too many."""

    def __init__(
        self, app: App, path: str, most: int = MAX_IDLE, max_streams: int = 0
    ) -> None:
        """Know of no session yet.

        Args:
            app: Answers the requests.
            path: Where; elsewhere there is nothing, and no session is gone.
            most: Sessions that are kept; those that are not idle count, and stay.
            max_streams: Streams that are held open; 0: see ``MAX_STREAMS``.
        """
        self._app = app
        self._path = path
        self._most = most
        self._requests: dict[bytes, int] = {}
        """Session -> its pending requests; the one used longest ago is first."""

        self._max_streams = max_streams or descriptor_share(MAX_STREAMS, 1 / 4)
        self._streams: dict[anyio.CancelScope, None] = {}
        """Those that are held open, the oldest first."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; if it opens a session too many, end another."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        session = header_of(scope, SESSION_HEADER)
        opened = b""

        async def watch(message: Message) -> None:
            nonlocal opened
            if message["type"] == "http.response.start":
                is_done = message["status"] < 400
                if not session and is_done:
                    opened = header_of(message, SESSION_HEADER)
                    self._count(opened, 1)
                elif ends_session(scope, message, self._path):
                    self._requests.pop(session, None)
            await send(message)

        if session in self._requests:
            self._count(session, 1)
        try:
            if scope["method"] == "GET":
                await self._hold_open(scope, receive, watch)
            else:
                await self._app(scope, receive, watch)
        finally:
            if session in self._requests:
                self._count(session, -1)
            if opened in self._requests:
                self._count(opened, -1)
        if opened:
            await self._end_surplus(scope, opened)

    async def _hold_open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a stream, until the client leaves or too many are newer."""
        has_begun = is_over = False

        async def watch(message: Message) -> None:
            nonlocal has_begun, is_over
            has_begun = True
            if message["type"] == "http.response.start":
                # Its connection, and so its descriptor, goes with the stream.
                headers = message.get("headers", ())
                kept = [pair for pair in headers if pair[0].lower() != b"connection"]
                message = {**message, "headers": [*kept, (b"connection", b"close")]}
            else:
                is_over = not message.get("more_body", False)
            await send(message)

        with anyio.CancelScope() as stream:
            self._streams[stream] = None
            try:
                if len(self._streams) > self._max_streams:
                    oldest = next(iter(self._streams))
                    del self._streams[oldest]
                    oldest.cancel()
                await self._app(_from_now_on(scope), receive, watch)
            finally:
                self._streams.pop(stream, None)
        if not has_begun:
            await send({"type": "http.response.start", "status": 503, "headers": []})
        if not is_over:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _count(self, session: bytes, change: int) -> None:
        """Count the requests of a session, which now was used last."""
        if session:
            self._requests[session] = self._requests.pop(session, 0) + change

    async def _end_surplus(self, scope: Scope, opened: bytes) -> None:
        """End what is idle and too many, as the clients would.

        Args:
            scope: Of a request to the same address.
            opened: The session that is one too many; it has just begun, and stays.
        """
        while len(self._requests) > self._most:
            idle = next(
                (
                    session
                    for session, count in self._requests.items()
                    if not count and session != opened
                ),
                b"",
            )
            if not idle:
                return
            del self._requests[idle]
            headers = [(b"host", header_of(scope, b"host")), (SESSION_HEADER, idle)]
            request = {**scope, "method": "DELETE", "headers": headers}
            await self._app(request, _nothing_more, _unsent)


def ends_session(scope: Scope, answer: Message, path: str) -> bool:
    """Return whether the session of a request is gone after its answer.

    Args:
        scope: Of the request.
        answer: The beginning of the answer.
        path: Where sessions are; elsewhere 404 says nothing of one.
    """
    if scope["path"] == path and answer["status"] == 404:
        return True
    return bool(answer["status"] < 400) and scope["method"] == "DELETE"


def header_of(carrier: Scope | Message, name: bytes) -> bytes:
    """Return a header of a request or of an answer; empty: it has none."""
    for key, value in carrier.get("headers", ()):
        if key.lower() == name:
            return bytes(value)
    return b""


def _from_now_on(scope: Scope) -> Scope:
    """Return the request for a stream without the event that it is to go on after.

    We send no ids of events, so the id is another server's. The SDK answers such a
    request with nothing at all.
    """
    headers = [pair for pair in scope["headers"] if pair[0].lower() != _LAST_EVENT]
    return {**scope, "headers": headers}


async def _nothing_more() -> Message:
    """Return the body of a request that has none."""
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unsent(_: Message) -> None:
    """Drop an answer: the client did not ask."""
