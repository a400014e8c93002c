"""Serves one client over standard input and output, and leaves when it has left.

``initialize`` and ``tools/list`` are answered before the SDK is imported; the SDK then
reads the lines that it has to know of, and everything that follows.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from hivemind_memory.mcp_server.frames import (
    RejectedLine,
    error_response,
    read_frame,
    too_long_line,
)
from hivemind_memory.mcp_server.handshake import Handshake
from hivemind_memory.mcp_server.server import MemoryServer
from hivemind_memory.mcp_server.streams import LineReader, write_all

logger = logging.getLogger(__name__)

GRACE_S = 1.2
"""How long the next answer may take after the client has left: requests may have been
piped in. Each answer that goes out gives the next one as long again, so many requests
and a busy machine lose nothing, and one that hangs ends the wait."""

LAST_ANSWERS_S = 0.4
"""How long the SDK may take to say that the remaining requests are not answered."""

MAX_PENDING = 64
"""With more open requests than this, each further line waits up to a second."""

Item = SessionMessage | dict[str, object]


def serve_stdio(
    server: MemoryServer,
    reader: LineReader,
    sink: int,
    handshake: Handshake,
    on_first_answer: Callable[[], None],
) -> None:
    """Serve until the client leaves or the process is told to end.

    Args:
        server: The server.
        reader: Reads the client's lines.
        sink: Descriptor for the answers.
        handshake: What was read and answered before.
        on_first_answer: Called once, when the first answer has gone out.
    """
    connection = _Connection(server, reader, sink, handshake, on_first_answer)
    anyio.run(connection.run)


class _Connection:
    """One client."""

    def __init__(
        self,
        server: MemoryServer,
        reader: LineReader,
        sink: int,
        handshake: Handshake,
        on_first_answer: Callable[[], None],
    ) -> None:
        self._server = server
        self._reader = reader
        self._sink = sink
        self._early_lines = handshake.lines
        self._answered = set(handshake.answered)
        self._on_first_answer: Callable[[], None] | None = on_first_answer
        self._pending: set[str] = set()

    async def run(self) -> None:
        """Serve until the client leaves, then answer what is still open."""
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
        self._rejections = answered.clone()
        async with anyio.create_task_group() as group:
            group.start_soon(self._heed_signals)
            group.start_soon(self._serve, to_serve, answered)
            group.start_soon(self._send, to_send)
            self._start_reading()
            await self._left.wait()
            await self._answer_the_rest()
            received.close()
            self._rejections.close()
            with anyio.move_on_after(LAST_ANSWERS_S):
                await self._sent.wait()
            group.cancel_scope.cancel()

    async def _answer_the_rest(self) -> None:
        """Wait for the pending requests as long as one after the other is answered."""
        while self._pending:
            with anyio.move_on_after(GRACE_S) as wait:
                await self._fewer.wait()
            if wait.cancelled_caught:
                return

    async def _heed_signals(self) -> None:
        """Leave when the process is told to end."""
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
        """Run the SDK's server."""
        try:
            await self._server.serve(to_serve, answered)
        # The client would wait forever; a new process serves it better.
        except Exception:
            logger.exception("the server ended")
        finally:
            self._left.set()

    async def _send(self, to_send: MemoryObjectReceiveStream[Any]) -> None:
        """Write the answers, except those that the handshake has given."""
        async for item in to_send:
            data, given = _encode(item)
            if not self._is_answered(item):
                try:
                    await anyio.to_thread.run_sync(
                        write_all, self._sink, data, abandon_on_cancel=True
                    )
                except OSError:  # nothing reads our output; drop what still comes
                    self._pending.clear()
                    self._left.set()
            self._settle(given)
            if self._on_first_answer is not None:
                self._on_first_answer()
                self._on_first_answer = None
        self._sent.set()

    def _is_answered(self, item: Item) -> bool:
        """Whether the client already has this answer; true once for each."""
        message = item.message if isinstance(item, SessionMessage) else None
        if not isinstance(message, JSONRPCResponse) or message.id not in self._answered:
            return False
        self._answered.remove(message.id)
        return True

    def _start_reading(self) -> None:
        """Read on a thread of its own, so that no signal waits for a silent client."""
        loop = asyncio.get_running_loop()

        def hand_over(line: bytes, *, is_whole: bool) -> None:
            if line.strip():
                item = read_frame(line) if is_whole else too_long_line(line)
                asyncio.run_coroutine_threadsafe(self._take(item), loop).result()

        def read() -> None:
            try:
                for line, is_whole in self._early_lines:
                    hand_over(line, is_whole=is_whole)
                while (found := self._reader.read()) is not None:
                    hand_over(found[0], is_whole=found[1])
            except EOFError:
                pass
            except OSError:
                logger.info("standard input can no longer be read")
            # Handing over fails when the loop has ended; then nothing is left to do.
            except Exception:
                logger.debug("reading ended", exc_info=True)
            try:
                loop.call_soon_threadsafe(self._left.set)
            except RuntimeError:
                return  # the loop has ended

        threading.Thread(target=read, name="reader", daemon=True).start()

    async def _take(self, item: JSONRPCMessage | RejectedLine) -> None:
        """Give a message to the SDK, or answer a rejected line."""
        try:
            if isinstance(item, RejectedLine):
                for answer in item.error_responses:
                    await self._rejections.send(answer)
                return
            self._count(item)
            if len(self._pending) > MAX_PENDING:
                with anyio.move_on_after(1):
                    await self._fewer.wait()
            await self._received.send(SessionMessage(item))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._left.set()

    def _count(self, message: JSONRPCMessage) -> None:
        """Record a request as pending; a canceled one is no longer."""
        if isinstance(message, JSONRPCRequest):
            self._pending.add(str(message.id))
        elif (
            isinstance(message, JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            self._settle(str((message.params or {}).get("requestId")))

    def _settle(self, given: str) -> None:
        """Record that a request is done, and wake whatever waits for that."""
        self._pending.discard(given)
        self._fewer.set()
        self._fewer = anyio.Event()


def _encode(item: Item) -> tuple[bytes, str]:
    """Return a message as a line, and the id of the request that it answers."""
    if isinstance(item, dict):
        return _encode_own(item), ""
    message = item.message
    reply = message.id if isinstance(message, JSONRPCResponse | JSONRPCError) else None
    given = str(reply)
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        return text.encode() + b"\n", given
    # An answer that can't be encoded is replaced by an error: the client waits for it.
    except Exception:
        logger.exception("a message could not be encoded")
        error = error_response(INTERNAL_ERROR, reply, "the answer could not be encoded")
        return _encode_own(error), given


def _encode_own(value: dict[str, object]) -> bytes:
    """Return one of our own messages as a line; escapes keep any id unchanged."""
    return json.dumps(value).encode() + b"\n"
