"""Reads a growing file of lines from where the last reading ended.

A file is the one that was read before if its inode is, and if its beginning and the
bytes before the place where reading ended are as they were. A shorter file, or one with
other bytes there, was rewritten, and is read from its first line. The last line waits
until its line end is there.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

HEAD_BYTES = 4_096
_TAIL_BYTES = 256
MAX_LINE_BYTES = 8 * 1024 * 1024
"""A longer line is passed over: it holds pictures, or files."""

_PIECE_BYTES = 64 * 1024


class ReadPlace(NamedTuple):
    """How far a file was read."""

    inode: int = 0
    offset: int = 0
    """Bytes that were read."""

    line: int = 0
    """Lines that were read."""

    head_bytes: int = 0
    """How much of the beginning ``head`` is of."""

    head: bytes = b""
    tail: bytes = b""
    """Of the bytes before ``offset``."""


class Line(NamedTuple):
    """One whole line."""

    number: int
    """From 1."""

    offset: int
    """Where it begins, in bytes."""

    end: int
    """Where the next one begins."""

    data: bytes
    """Empty if it is longer than ``MAX_LINE_BYTES``."""


def place_to_go_on(file: BinaryIO, known: ReadPlace, inode: int) -> ReadPlace:
    """Return where to go on reading: where the last reading ended, or the beginning."""
    if (
        known.inode == inode
        and _digest(file, 0, known.head_bytes) == known.head
        and _digest(file, *_tail_of(known.offset)) == known.tail
    ):
        return known
    return ReadPlace(inode=inode)


def place_after(file: BinaryIO, start: ReadPlace, last: Line) -> ReadPlace:
    """Return how far a file was read once *last* is read."""
    head_bytes = min(HEAD_BYTES, last.end)
    is_known = head_bytes == start.head_bytes
    return ReadPlace(
        inode=start.inode,
        offset=last.end,
        line=last.number,
        head_bytes=head_bytes,
        head=start.head if is_known else _digest(file, 0, head_bytes),
        tail=_digest(file, *_tail_of(last.end)),
    )


def lines_after(file: BinaryIO, start: ReadPlace) -> Iterator[Line]:
    """Yield the whole lines after a place. A line is read when it is asked for."""
    number, offset = start.line, start.offset
    file.seek(offset)
    while data := file.readline(MAX_LINE_BYTES):
        end = offset + len(data)
        if not data.endswith(b"\n"):
            end = _end_of_long_line(file, end) if len(data) == MAX_LINE_BYTES else 0
            if not end:
                return  # it is still being written
            data = b""
        number += 1
        yield Line(number, offset, end, data)
        offset = end


def _end_of_long_line(file: BinaryIO, end: int) -> int:
    """Return where a line ends of which the beginning was read; 0: nowhere yet."""
    while piece := file.readline(_PIECE_BYTES):
        end += len(piece)
        if piece.endswith(b"\n"):
            return end
    return 0


def _tail_of(offset: int) -> tuple[int, int]:
    """Return where the bytes before an offset begin, and how many count."""
    start = max(0, offset - _TAIL_BYTES)
    return start, offset - start


def _digest(file: BinaryIO, start: int, size: int) -> bytes:
    """Return a hash of some bytes of a file."""
    data = os.pread(file.fileno(), size, start)
    return blake2b(data, digest_size=16).digest() if data else b""
