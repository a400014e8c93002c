"""The route that streams what changes, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import random

from hivemind_memory.http_api.event_feed import EventFeed, Listener
from hivemind_memory.http_api.routes import Call, RouteGroup, Stream
from hivemind_memory.mcp_server.http_sessions import Receive, Send
from hivemind_memory.model.events import RESET, MemoryEvent
from hivemind_memory.model.scope import scope_text

PING_S = 20.0
"""Between two comments on a quiet stream, so that a client that is gone is noticed."""

MAX_STREAM_S = 300.0
"""A stream ends after so long, and its client connects again, with its token: one that
was revoked meanwhile is refused."""

_MAX_ID = 64
"""Letters of an id that is looked up; those that are given are shorter."""

routes = RouteGroup("/api/v1", tag="events")


class EventStream(Stream):
    """One client's stream."""

    def __init__(self, feed: EventFeed, listener: Listener, after: str) -> None:
        """Send nothing yet.

        Args:
            feed: Where the events come from.
            listener: What the client may read.
            after: Id of the last event that it knows; empty: it knows none.
        """
        self._feed = feed
        self._listener = listener
        self._after = after

    async def __call__(self, receive: Receive, send: Send) -> None:
        """Send events until the client leaves, or the stream has lasted long enough."""
        first, is_reset = await self._feed.add(self._listener, self._after)
        loop = asyncio.get_running_loop()
        leaving = loop.create_task(_disconnect(receive))
        try:
            headers = [
                (b"content-type", b"text/event-stream"),
                (b"cache-control", b"no-store"),
            ]
            start = {"type": "http.response.start", "status": 200}
            await send({**start, "headers": headers})
            # With an id from the start: who is cut off before the first event names it.
            await _send_text(send, f"retry: 2000\nid: {first}\n\n")
            if is_reset:
                await _send_text(send, f"event: {RESET}\ndata: {{}}\n\n")
            # Not all at once: streams that were opened together end one by one.
            ends_s = loop.time() + MAX_STREAM_S * random.uniform(0.8, 1)  # noqa: S311
            while not leaving.done() and loop.time() < ends_s:
                await _wait(self._listener, leaving)
                if events := self._listener.take():
                    await _send_text(send, "".join(map(self._text_of, events)))
                elif self._listener.is_over:
                    break
                else:
                    await _send_text(send, ":\n\n")
            await send({"type": "http.response.body", "body": b""})
        finally:
            leaving.cancel()
            self._feed.remove(self._listener)

    def _text_of(self, item: MemoryEvent) -> str:
        """Return an event as the stream has it."""
        fields = {
            "at": item.at,
            "id": item.id,
            "path": item.path,
            "scope": scope_text(item.scope),
            "byId": item.by_id,
        }
        data = json.dumps({name: value for name, value in fields.items() if value})
        return (
            f"id: {self._feed.id_of(item.place)}\nevent: {item.kind}\ndata: {data}\n\n"
        )


def known_id(given: str) -> str:
    """Return the id of the last event that a client has, cut if it is too long."""
    return given[:_MAX_ID]


@routes.get(
    "/events",
    media="text/event-stream",
    takes_headers={"Last-Event-ID": "id of the last event that was received"},
    example="id: 0d1f6a52c8b94e7390a7be1525c11f5e62d8c90774b3a1ee\nevent: saved\n"
    'data: {"at":"2026-11-21T09:30:00+01:00","id":"01KAJ7Q0XW5T3M8Z2V9C4D6E1F",'
    '"path":"projects/shop/deploy-day.md","scope":"projects/shop"}\n\n',
)
def events(call: Call) -> Stream:
    """Stream changes as server-sent events.

    ``saved`` and ``forgotten`` name a memory or an entry, ``superseded`` the version
    that was replaced, ``indexed`` a note that was added to the index or dropped from
    it. Events carry ids and paths, never text, and only for what the caller may read.
    The stream begins with an id, and ends after some minutes; reconnect with
    ``Last-Event-ID`` to miss nothing. If it is not known, or too old, or from before
    the server was restarted, the first event is ``reset``: read everything anew.
    """
    after = known_id(call.headers.get("last-event-id", ""))
    return EventStream(call.feed, Listener(call.memory.caller, call.token), after)


async def _wait(listener: Listener, leaving: asyncio.Task[None]) -> None:
    """Wait for events, for the client to leave, or until a comment is due."""
    woken = asyncio.get_running_loop().create_task(listener.woken.wait())
    try:
        await asyncio.wait(
            (woken, leaving), timeout=PING_S, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        woken.cancel()


async def _disconnect(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_text(send: Send, text: str) -> None:
    """Send a part of the stream."""
    body = text.encode("utf-8", "replace")
    await send({"type": "http.response.body", "body": body, "more_body": True})
