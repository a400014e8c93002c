"""Serves one client over standard input and output, and leaves when it has left.

Standard input and output, taken for the protocol alone.

While a server runs, whatever else in this process reads standard input finds its end,
and what it prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from hivemind_memory.mcp_server.frames import (
    MAX_BYTES,
    RejectedLine,
    error_response,
    read_frame,
    readable_id,
)
from hivemind_memory.mcp_server.server import MemoryServer

logger = logging.getLogger(__name__)

GRACE_S = 1.2
"""So long after the client has left its last requests may still be answered: somebody
may have piped them in. With all that follows it is less than 3 s."""

LAST_S = 0.4
"""So long the SDK may take to say that what is still open is not answered any more."""

MAX_PENDING = 64
"""While more requests are open, the next line is read only after a second."""

Item = SessionMessage | dict[str, object]


def serve_stdio(server: MemoryServer, on_first_answer: Callable[[], None]) -> None:
    """Serve until the client leaves or the process is told to end.

    Args:
        server: The server.
        on_first_answer: Called once, when the first message has gone out.
    """
    with claimed_streams() as (source, sink):
        anyio.run(_Connection(server, source, sink, on_first_answer).run)


class _Connection:
    """One client."""

    def __init__(
        self,
        server: MemoryServer,
        source: int,
        sink: int,
        on_first_answer: Callable[[], None],
    ) -> None:
        self._server = server
        self._source = source
        self._sink = sink
        self._on_first_answer: Callable[[], None] | None = on_first_answer
        self._pending: set[str] = set()

    async def run(self) -> None:
        """Serve."""
        self._left = anyio.Event()
        self._fewer = anyio.Event()
        self._sent = anyio.Event()
        received: MemoryObjectSendStream[SessionMessage | Exception]
        to_serve: MemoryObjectReceiveStream[SessionMessage | Exception]
        answered: MemoryObjectSendStream[Any]
        to_send: MemoryObjectReceiveStream[Any]
        received, to_serve = anyio.create_memory_object_stream(0)
        answered, to_send = anyio.create_memory_object_stream(0)
        self._received = received
        self._refused = answered.clone()
        async with anyio.create_task_group() as group:
            group.start_soon(self._heed_signals)
            group.start_soon(self._serve, to_serve, answered)
            group.start_soon(self._send, to_send)
            self._start_reading()
            await self._left.wait()
            with anyio.move_on_after(GRACE_S):
                while self._pending:
                    await self._fewer.wait()
            received.close()
            self._refused.close()
            with anyio.move_on_after(LAST_S):
                await self._sent.wait()
            group.cancel_scope.cancel()

    async def _heed_signals(self) -> None:
        """Leave when the system says so."""
        ends = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        with anyio.open_signal_receiver(*ends) as signals:
            async for _ in signals:
                self._pending.clear()
                self._settle("")
                self._left.set()

    async def _serve(
        self,
        to_serve: MemoryObjectReceiveStream[SessionMessage | Exception],
        answered: MemoryObjectSendStream[Any],
    ) -> None:
        """Run the SDK's part."""
        try:
            await self._server.serve(to_serve, answered)
        # The client would wait for ever; it is better served by a new process.
        except Exception:
            logger.exception("the server ended")
        finally:
            self._left.set()

    async def _send(self, to_send: MemoryObjectReceiveStream[Any]) -> None:
        """Write what is to go out."""
        async for item in to_send:
            data, given = _encoded(item)
            try:
                await anyio.to_thread.run_sync(
                    write_all, self._sink, data, abandon_on_cancel=True
                )
            except OSError:  # nobody reads; what comes is taken and dropped
                self._pending.clear()
                self._left.set()
            self._settle(given)
            if self._on_first_answer is not None:
                self._on_first_answer()
                self._on_first_answer = None
        self._sent.set()

    def _start_reading(self) -> None:
        """Read on a thread of its own: no signal or loop waits for a silent client."""
        loop = asyncio.get_running_loop()

        def hand_over(item: JSONRPCMessage | RejectedLine) -> None:
            asyncio.run_coroutine_threadsafe(self._take(item), loop).result()

        def read() -> None:
            try:
                read_lines(
                    self._source,
                    self._sink,
                    lambda line: hand_over(read_frame(line)) if line.strip() else None,
                    lambda head: hand_over(_too_long(head)),
                )
            except OSError:
                logger.info("standard input cannot be read any more")
            # Handing over fails when the loop has ended, and then all is said.
            except Exception:
                logger.debug("reading ended", exc_info=True)
            try:
                loop.call_soon_threadsafe(self._left.set)
            except RuntimeError:
                return  # the loop has ended

        threading.Thread(target=read, name="reader", daemon=True).start()

    async def _take(self, item: JSONRPCMessage | RejectedLine) -> None:
        """Give what was read to the SDK, or answer it."""
        try:
            if isinstance(item, RejectedLine):
                for answer in item.error_responses:
                    await self._refused.send(answer)
                return
            self._count(item)
            if len(self._pending) > MAX_PENDING:
                with anyio.move_on_after(1):
                    await self._fewer.wait()
            await self._received.send(SessionMessage(item))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._left.set()

    def _count(self, message: JSONRPCMessage) -> None:
        """Note what waits for an answer, and what no longer does."""
        if isinstance(message, JSONRPCRequest):
            self._pending.add(str(message.id))
        elif (
            isinstance(message, JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            self._settle(str((message.params or {}).get("requestId")))

    def _settle(self, given: str) -> None:
        """Note that a request is done with, and wake who waits for that."""
        self._pending.discard(given)
        self._fewer.set()
        self._fewer = anyio.Event()


def _encoded(item: Item) -> tuple[bytes, str]:
    """Return a message as a line, and the id of the request that it answers."""
    if isinstance(item, dict):
        return _line(item), ""
    message = item.message
    reply = message.id if isinstance(message, JSONRPCResponse | JSONRPCError) else None
    given = str(reply)
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        return text.encode() + b"\n", given
    # What cannot be sent is answered all the same: somebody waits.
    except Exception:
        logger.exception("a message could not be written")
        said = "the answer could not be written"
        return _line(error_response(INTERNAL_ERROR, reply, said)), given


def _line(value: dict[str, object]) -> bytes:
    """Return a value of ours as a line; escapes make any id the same again."""
    return json.dumps(value).encode() + b"\n"


def _too_long(head: bytes) -> RejectedLine:
    """Return the answer to a line that was not read to its end."""
    said = f"a message has at most {MAX_BYTES:,} bytes"
    return RejectedLine(
        error_responses=(error_response(INVALID_REQUEST, readable_id(head), said),)
    )


_CHUNK_BYTES = 1 << 16
_HEAD_BYTES = 1 << 16
_GONE = select.POLLERR | select.POLLNVAL


@contextmanager
def claimed_streams() -> Iterator[tuple[int, int]]:
    """Yield descriptors of the client's end, in and out; give them back afterwards.

    Raises:
        OSError: Standard input or output is closed.
    """
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(nothing, 1)
        yield source, sink
    finally:
        # What somebody printed and Python still holds is not for the client either.
        with suppress(OSError, ValueError):
            if sys.stdout is not None:
                sys.stdout.flush()
        os.close(nothing)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


def read_lines(
    source: int,
    sink: int,
    on_line: Callable[[bytes], None],
    on_long: Callable[[bytes], None],
) -> None:
    """Read lines until the client has left: no more input, or nobody reads our output.

    Args:
        source: Descriptor to read from.
        sink: Descriptor of the output, only looked at: a client that was killed may
            have children that hold our input open.
        on_line: Takes each line without its end.
        on_long: Takes the beginning of each line that is too long to be read.
    """
    ready = select.poll()
    ready.register(source, select.POLLIN)
    ready.register(sink, 0)
    lines = _Lines()
    while True:
        events = dict(ready.poll())
        if events.get(sink, 0) & _GONE:
            return
        if source not in events:
            continue
        data = os.read(source, _CHUNK_BYTES)
        for line, is_whole in lines.take(data):
            (on_line if is_whole else on_long)(line)
        if not data:
            return


def write_all(sink: int, data: bytes) -> None:
    """Write all of *data*.

    Raises:
        OSError: Nobody reads it any more.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(sink, rest) :]
        except BlockingIOError:  # the other end made the pipe non-blocking
            select.select([], [sink], [])


class _Lines:
    """Cuts what arrives into lines; of what is too long it keeps the beginning."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._is_dropping = False

    def take(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield each line that *data* ends, and whether it is whole.

        Without data: what is left, if anything is.
        """
        if not data and self._rest:
            yield bytes(self._rest), not self._is_dropping
            return
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._add(data[start:end])
            yield bytes(self._rest), not self._is_dropping
            self._rest, self._is_dropping = bytearray(), False
            start = end + 1
        self._add(data[start:])

    def _add(self, data: bytes) -> None:
        """Keep a part of the present line."""
        if self._is_dropping:
            return
        self._rest += data
        if len(self._rest) > MAX_BYTES:
            self._is_dropping = True
            del self._rest[_HEAD_BYTES:]
