"""Runs the routes: reads what they take, calls them on threads, sends what they return.

What is the same for all routes is decided here: paths, methods, sizes, JSON, fields,
who asks, and how a failure is answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qsl

import anyio.to_thread
from pydantic import ValidationError

from hivemind_memory.access.read_only import READ_ONLY
from hivemind_memory.http_api.callers import (
    CallerMemories,
    Client,
    client_of,
)
from hivemind_memory.http_api.compression import (
    MIN_COMPRESSED,
    PACKED,
    VARY,
    compressed,
    takes_gzip,
)
from hivemind_memory.http_api.event_feed import EventFeed
from hivemind_memory.http_api.failures import (
    Envelope,
    Failure,
    NoWorkspaceFailure,
    envelope_at,
    failure_of,
    failure_of_fields,
)
from hivemind_memory.http_api.path_table import PathTable
from hivemind_memory.http_api.request_body import (
    ClientLeftError,
    body_of,
    field_failure,
    fields_in,
    refuse_twice,
)
from hivemind_memory.http_api.routes import Call, Fields, Route, RouteGroup, Stream
from hivemind_memory.mcp_server.call_limits import CallLimits
from hivemind_memory.mcp_server.http_checks import send_json
from hivemind_memory.mcp_server.http_sessions import Receive, Scope, Send

_TOO_LARGE = "the body is larger than 1 MiB"
_LEVEL = 1
"""Of compression: an answer of some kilobytes takes a tenth of a millisecond."""

_LONG = 32 * 1024
"""Bytes of an answer whose compression would keep others waiting: it has a thread."""

_Reply = tuple[int, "bytes | Stream | None", dict[str, str]]
"""Status, JSON or a stream (None: no body), further headers."""


class Frame:
    """The application that answers the routes of some groups."""

    def __init__(
        self,
        groups: Sequence[RouteGroup],
        memories: CallerMemories,
        session: str,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the routes.

        Args:
            groups: Each of their paths occurs once for each method.
            memories: Lends the memory of a caller.
            session: Name of this process, recorded in what is written.
            check: Raises a ``HivemindError`` if nothing may be answered now.
        """
        self._table = PathTable(route for group in groups for route in group.routes)
        self._memories = memories
        self._session = session
        self._check = check
        self._feed = EventFeed(lambda: memories.lend(Client()))
        self._limits: CallLimits[Client] = CallLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        envelope = envelope_at(scope["path"])
        try:
            status, body, headers = await self._answer(scope, receive)
            if body is not None and not isinstance(body, bytes):
                await body(receive, send)
                return
        except ClientLeftError:
            return
        # Whatever happened, the client gets a sentence; the log gets the traceback.
        except Exception as error:  # noqa: BLE001 - ``failure_of`` logs it
            await send_failure(send, failure_of(error), envelope)
            return
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        if "etag" in headers and scope["method"] in {"GET", "HEAD"}:
            pairs.append((b"cache-control", b"private, no-cache"))
            if is_known(scope, headers["etag"]):
                status, body = 304, None
        if body is None:
            start = {"type": "http.response.start", "status": status}
            await send({**start, "headers": pairs})
            await send({"type": "http.response.body", "body": b""})
            return
        if len(body) >= MIN_COMPRESSED:
            pairs.append(VARY)
            if takes_gzip(scope):
                if len(body) < _LONG:
                    body = compressed(body, _LEVEL)
                else:
                    body = await anyio.to_thread.run_sync(compressed, body, _LEVEL)
                pairs.append(PACKED)
        await send_json(send, status, body, tuple(pairs))

    def end_streams(self) -> None:
        """End all streams: the server is about to end."""
        self._feed.close()

    async def _answer(self, scope: Scope, receive: Receive) -> _Reply:
        """Return the answer to a request.

        Raises:
            ClientLeftError: It does not arrive whole.
            Exception: It fails; see ``failure_of``.
        """
        client = client_of(scope)
        route, path = self._table.find(scope["method"], scope["raw_path"])
        if route.is_change and client.is_read_only:
            raise Failure(403, READ_ONLY)
        if route.group.workspace:
            workspace = path[route.group.workspace]
            client = Client(
                token=client.token, is_visitor=client.is_visitor, workspace=workspace
            )
        given: dict[str, Any] = {}
        query = _query_of(scope["query_string"], route.query)
        if query is not None:
            given["query"] = query
        if route.method in {"POST", "PUT", "PATCH", "DELETE"}:
            body = await body_of(scope, receive, _TOO_LARGE)
            if route.body is not None:
                media = _headers_of(scope).get("content-type", "")
                given["body"] = fields_in(body, media, route.body)

        memories = self._memories
        lend = memories.lend if route.is_change else memories.lend_to_read

        def work() -> _Reply:
            self._check()
            with lend(client) as memory:
                call = Call(
                    memory=memory,
                    by=client.name,
                    session=self._session,
                    path=path,
                    headers=_headers_of(scope),
                    feed=self._feed,
                    token=client.token,
                )
                answer = route.work(call, **given)
                if route.media != "application/json":
                    return route.status, answer, call.reply_headers
                return route.status, _json_of(route, answer), call.reply_headers

        try:
            # When the client leaves, the thread is abandoned and not stopped: a write
            # that has begun is finished.
            return await anyio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=self._limits.of(client)
            )
        except NoWorkspaceFailure:
            if route.if_no_workspace is not None:
                return 200, json.dumps(route.if_no_workspace).encode(), {}
            raise


def is_known(scope: Scope, version: str) -> bool:
    """Return whether ``If-None-Match`` names a version: the client has it already."""
    given = [
        each.strip().removeprefix("W/")
        for name, value in scope["headers"]
        if name == b"if-none-match"
        for each in value.decode("latin-1").split(",")
    ]
    return "*" in given or version in given


async def send_failure(send: Send, failure: Failure, envelope: Envelope) -> None:
    """Answer with a failure."""
    text = json.dumps(envelope(failure), ensure_ascii=False, separators=(",", ":"))
    # The name of a file may hold bytes that are no text: an escape of JSON.
    body = text.encode("utf-8", "backslashreplace")
    headers = tuple(
        (name.encode(), value.encode()) for name, value in failure.headers.items()
    )
    await send_json(send, failure.status, body, headers)


def _headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers of a request; of several with one name, the last."""
    return {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in scope["headers"]
    }


def _query_of(text: bytes, fields: type[Fields] | None) -> Fields | None:
    """Return what a query string says; None: the route takes none.

    Raises:
        Failure: It does not have the form.
    """
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict")
    except UnicodeError:
        raise Failure(400, "the query string is not UTF-8") from None
    named = refuse_twice(list(pairs))
    if fields is None:
        if named:
            raise field_failure(next(iter(named)), "unknown field")
        return None
    try:
        return fields.model_validate(named)
    except ValidationError as error:
        raise failure_of_fields(error, fields, "query") from error


def _json_of(route: Route, answer: Any) -> bytes | None:
    """Return the JSON of an answer; None: the route has none."""
    if route.adapter is None:
        return None
    try:
        return route.adapter.dump_json(answer, by_alias=True)
    except ValueError:
        # The name of a file may hold bytes that are no text.
        return json.dumps(route.adapter.dump_python(answer, by_alias=True)).encode()
