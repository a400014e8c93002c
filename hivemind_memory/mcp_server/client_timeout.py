"""Closes connections over HTTP whose clients keep the server waiting.

uvicorn closes a connection that is idle after an answer. It waits forever for the first
request, for the rest of one, also of one that was sent with the one before, and until
an answer is read.
"""

from __future__ import annotations

import asyncio
import json
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from hivemind_memory.mcp_server.descriptor_share import descriptor_share

CLIENT_WAIT_S = 10.0
"""How long a request may take to arrive, and an answer to be read; on one machine it
takes milliseconds."""

MAX_WAITING = 256
"""Connections that the server waits for; one more, and the oldest is closed. They take
a quarter of the descriptors at most, for the tools need some too."""


def default_max_waiting() -> int:
    """Return how many connections the server may wait for."""
    return descriptor_share(MAX_WAITING, 1 / 4)


class ClientTimeout(H11Protocol):
    """Closes a connection whose request does not arrive or whose answer is not read.

    A client that opens connections faster than they time out would use up the
    descriptors: then the oldest are closed at once, so that a request which does arrive
    is answered.
    """

    wait_s = CLIENT_WAIT_S
    most = MAX_WAITING
    waiting: ClassVar[dict[ClientTimeout, None]] = {}
    """Those that wait for their clients, the oldest first."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        # So writing is paused whenever the system does not take an answer whole.
        transport.set_write_buffer_limits(high=0)
        self._wait_or_not()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once a request is complete; wait again when another begins."""
        super().data_received(data)
        self._wait_or_not()

    def on_response_complete(self) -> None:
        """Wait for the rest of a request whose beginning came with the one before."""
        super().on_response_complete()
        self._wait_or_not()

    def pause_writing(self) -> None:
        """Wait until the client has read what was sent."""
        super().pause_writing()
        self._wait_or_not()

    def resume_writing(self) -> None:
        """Stop waiting: everything was read."""
        super().resume_writing()
        self._wait_or_not()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        super().connection_lost(exc)
        self._stop_waiting()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, or has too long a head, as all else: in JSON.

        The rest of a request that is answered already is closed without a word.
        """
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()
            return
        body = json.dumps({"error": msg.removesuffix(".")}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        events = (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def give_up(self) -> None:
        """Close the connection at once, whatever is not sent yet."""
        self._stop_waiting()
        self.transport.abort()

    def _wait_or_not(self) -> None:
        """Start or stop the timer, as it is the client's turn or not."""
        if not (self.flow.write_paused or self._is_request_due()):
            self._stop_waiting()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.wait_s, self.give_up)
            self.waiting[self] = None
            if len(self.waiting) > self.most:
                next(iter(self.waiting)).give_up()

    def _is_request_due(self) -> bool:
        """Return whether a request has to arrive, and uvicorn sets no time for it.

        It sets one after an answer, until anything arrives. Who is refused before the
        whole request has arrived is answered, and may still hold the connection.
        """
        if self.conn.their_state is h11.IDLE:
            return self.timeout_keep_alive_task is None
        return self.conn.their_state is h11.SEND_BODY

    def _stop_waiting(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self.waiting.pop(self, None)
