"""Reserves standard input and output for the protocol, and reads and writes lines.

While they are claimed, anything else in this process that reads standard input finds
its end, and what it prints goes to standard error. Imports nothing slow, because the
first lines are read before the SDK is loaded.
"""

from __future__ import annotations

import os
import select
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE_BYTES = 32 * 1024 * 1024
"""A longer line, or request over HTTP, is not read; no argument is nearly as long."""

_CHUNK_BYTES = 1 << 16
_HEAD_BYTES = 1 << 16
_CLOSED = select.POLLERR | select.POLLNVAL


@contextmanager
def claimed_streams() -> Iterator[tuple[int, int]]:
    """Yield descriptors for the client's input and output; give them back afterward.

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
        # What was printed and is still in Python's buffer is not for the client either.
        with suppress(OSError, ValueError):
            if sys.stdout is not None:
                sys.stdout.flush()
        os.close(nothing)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


class LineReader:
    """Reads a client's lines until the client has left."""

    def __init__(self, source: int, sink: int) -> None:
        """Take the client's two descriptors.

        Args:
            source: Read from.
            sink: Only polled: the children of a killed client may hold our input open,
                but then nothing reads our output any more.
        """
        self._source = source
        self._sink = sink
        self._ready = select.poll()
        self._ready.register(source, select.POLLIN)
        self._ready.register(sink, 0)
        self._rest = bytearray()
        self._is_dropping = False
        self._whole: list[tuple[bytes, bool]] = []
        self._has_ended = False

    def read(self, timeout_s: float | None = None) -> tuple[bytes, bool] | None:
        """Return the next line without its end, and whether it is whole.

        Of a line that is too long, only the beginning is kept.

        Args:
            timeout_s: Longest wait for more input; None: as long as it takes.

        Raises:
            EOFError: The client has left.
            OSError: The input cannot be read.
        """
        while not self._whole:
            if self._has_ended:
                raise EOFError
            wait_ms = None if timeout_s is None else max(0, int(timeout_s * 1000))
            events = dict(self._ready.poll(wait_ms))
            if events.get(self._sink, 0) & _CLOSED:
                raise EOFError
            if self._source in events:
                self._take(os.read(self._source, _CHUNK_BYTES))
            elif timeout_s is not None:
                return None
        return self._whole.pop(0)

    def _take(self, data: bytes) -> None:
        """Cut what was read into lines; without data the input has ended."""
        if not data:
            self._has_ended = True
            if self._rest:
                self._end_line()
            return
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._extend(data[start:end])
            self._end_line()
            start = end + 1
        self._extend(data[start:])

    def _end_line(self) -> None:
        """The present line is complete."""
        self._whole.append((bytes(self._rest), not self._is_dropping))
        self._rest, self._is_dropping = bytearray(), False

    def _extend(self, data: bytes) -> None:
        """Add to the present line."""
        if self._is_dropping:
            return
        self._rest += data
        if len(self._rest) > MAX_LINE_BYTES:
            self._is_dropping = True
            del self._rest[_HEAD_BYTES:]


def write_all(sink: int, data: bytes) -> None:
    """Write all of *data*.

    Raises:
        OSError: Nothing reads it any more.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(sink, rest) :]
        except BlockingIOError:  # the other end made the pipe non-blocking
            select.select([], [sink], [])
