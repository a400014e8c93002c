"""Bounds how many requests one client has open, so that the others keep their service.

The server has so many connections in all; see ``http_listen``. Streams of events stay
open for minutes, and a client may hold as many as it likes: those of one token, and of
all visitors together, take only a part. The server's own token has no bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hivemind_memory.mcp_server.descriptor_share import descriptor_share
from hivemind_memory.mcp_server.http_checks import Refuse, refuse_plainly
from hivemind_memory.mcp_server.http_sessions import App, Receive, Scope, Send
from hivemind_memory.mcp_server.http_tokens import is_visitor, token_in

MAX_OPEN = 100
"""Requests of one client at once; at most an eighth of the descriptors."""

STREAM_SHARE = 0.5
"""Of these, for streams of events: a client with all of them can still ask."""

VISITORS = ""
"""Stands for all who have no token: nothing tells them apart."""

TOO_MANY = 429


class OpenRequests:
    """Counts the requests that each client has open. Runs on the event loop only."""

    def __init__(self, most: int = 0) -> None:
        """Count none yet.

        Args:
            most: Requests of one client at once; 0: see ``MAX_OPEN``.
        """
        self._most = most or max(4, descriptor_share(MAX_OPEN, 1 / 8))
        self._open: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()

    @contextmanager
    def counted(self, name: str | None, *, is_stream: bool) -> Iterator[str]:
        """Count a request while it is open.

        Args:
            name: Name of the client's token, or ``VISITORS``; None: it has no bound.
            is_stream: Whether it is a stream of events.

        Yields:
            Why it is refused; empty: it is not.
        """
        most_streams = max(1, int(self._most * STREAM_SHARE))
        if name is None:
            yield ""
        elif is_stream and self._streams[name] >= most_streams:
            yield _refusal(name, f"{most_streams} streams of events")
        elif self._open[name] >= self._most:
            yield _refusal(name, f"{self._most} requests")
        else:
            self._open[name] += 1
            self._streams[name] += is_stream
            try:
                yield ""
            finally:
                self._open[name] -= 1
                self._streams[name] -= is_stream


def _refusal(name: str, what: str) -> str:
    """Return the sentence for a client that has as much open as it may."""
    if name == VISITORS:
        return f"visitors have {what} open; try again later, or use a token"
    return f"this token has {what} open; close some, or try again later"


def is_mcp_stream(scope: Scope, path: str) -> bool:
    """Return whether a request holds open the stream of an MCP session.

    Args:
        scope: The request.
        path: Where MCP is served.
    """
    is_mcp = f"{scope['path']}/".startswith(f"{path}/")
    return is_mcp and scope["method"] == "GET"


class BoundedClients:
    """An application that refuses what a client has open beyond its share."""

    def __init__(
        self,
        app: App,
        refuse: Refuse = refuse_plainly,
        *,
        is_stream: Callable[[Scope], bool] = lambda _: False,
        is_free: Callable[[Scope], bool] = lambda _: False,
    ) -> None:
        """Take what answers; ``KnownClients`` has found out who asks.

        Args:
            app: Answers the requests.
            refuse: Answers those that are not passed on.
            is_stream: Whether a request is a stream of events.
            is_free: Whether a request is not counted here.
        """
        self._app = app
        self._refuse = refuse
        self._is_stream = is_stream
        self._is_free = is_free
        self._open = OpenRequests()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or refuse it."""
        if scope["type"] == "lifespan" or self._is_free(scope):
            await self._app(scope, receive, send)
            return
        token = token_in(scope)
        name = token.name if token else VISITORS if is_visitor(scope) else None
        stream = self._is_stream(scope)
        with self._open.counted(name, is_stream=stream) as problem:
            if problem:
                await self._refuse(scope, send, TOO_MANY, problem)
            else:
                await self._app(scope, receive, send)
