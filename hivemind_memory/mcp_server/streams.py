"""Standard input and output, taken for the protocol alone.

While a server runs, whatever else in this process reads standard input finds its end,
and what it prints goes to standard error.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from hivemind_memory.mcp_server.frames import MOST_BYTES

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
        if len(self._rest) > MOST_BYTES:
            self._is_dropping = True
            del self._rest[_HEAD_BYTES:]
