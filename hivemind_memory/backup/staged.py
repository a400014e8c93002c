"""What a backup or a restore reads, kept in a file without a name instead of memory.

No other process can open the file, and the system removes it when the process ends,
however it ends.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from dataclasses import dataclass
from typing import BinaryIO

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.descriptors import read_at, signature_of, write_all
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.paths import PARTIAL_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from hivemind_memory.model.snapshot import FileSignature

PIECE_BYTES = 1 << 18
"""So much is in memory at once."""

_TRIES = 3


class StageError(HivemindError):
    """The file could not be written."""


@dataclass(frozen=True, slots=True)
class Staged:
    """Bytes in a ``Stage``."""

    stage: Stage
    parts: tuple[tuple[int, int], ...]
    """Offset and size of each part."""

    @property
    def size(self) -> int:
        """How many bytes these are."""
        return sum(size for _, size in self.parts)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes, a little at a time."""
        for offset, size in self.parts:
            end = offset + size
            for start in range(offset, end, PIECE_BYTES):
                yield self.stage.read(start, min(PIECE_BYTES, end - start))

    def read(self) -> bytes:
        """Return all bytes at once: for what is never large."""
        return b"".join(self.pieces())

    def reader(self) -> StagedReader:
        """Return what reads them."""
        return StagedReader(self)

    def digest(self) -> str:
        """Return their SHA-256, in hexadecimal."""
        found = hashlib.sha256()
        for piece in self.pieces():
            found.update(piece)
        return found.hexdigest()

    def is_in(self, file: BinaryIO) -> bool:
        """Return whether an open file holds exactly these bytes."""
        same = all(file.read(len(piece)) == piece for piece in self.pieces())
        return same and not file.read(1)

    def plus(self, data: bytes) -> Staged:
        """Return these bytes with others after them."""
        return Staged(self.stage, (*self.parts, *self.stage.add(data).parts))


class StagedReader:
    """Reads staged bytes, as a file does."""

    def __init__(self, staged: Staged) -> None:
        self._pieces = staged.pieces()
        self._piece = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return the next *size* bytes, or what is left."""
        parts = []
        while size > 0:
            self._piece = self._piece or memoryview(next(self._pieces, b""))
            if not self._piece:
                break
            parts.append(self._piece[:size])
            self._piece = self._piece[size:]
            size -= len(parts[-1])
        return b"".join(parts)


class Stage:
    """A file without a name. Close it."""

    def __init__(self, folder: str, *, effect: str) -> None:
        """Make the file in a folder, whose disk has room for it.

        Args:
            folder: Where.
            effect: What is said if the disk refuses.

        Raises:
            StageError: The disk refused.
        """
        self._effect = effect
        try:
            self._file = tempfile.TemporaryFile(  # noqa: SIM115
                dir=folder, prefix=PARTIAL_PREFIX, buffering=0
            )
        except OSError as error:
            raise _refused(effect, error, f"{folder}: ") from error
        self.size = 0

    def add(self, data: bytes) -> Staged:
        """Add bytes that are in memory."""
        return self.copy(iter((data, b"")).__next__)

    def copy(self, read: Callable[[], bytes]) -> Staged:
        """Add what *read* returns until that is nothing.

        Raises:
            StageError: The disk refused.
        """
        start = self.size
        os.lseek(self._file.fileno(), start, os.SEEK_SET)
        while piece := read():
            try:
                write_all(self._file.fileno(), piece)
            except OSError as error:
                raise _refused(self._effect, error) from error
            self.size += len(piece)
        return Staged(self, ((start, self.size - start),))

    def hold_file(
        self, fd: int, *, max_bytes: int = sys.maxsize
    ) -> tuple[Staged, FileSignature]:
        """Hold an open file, if possible as it is at one moment, and nothing else.

        Args:
            fd: The file.
            max_bytes: Stop at most one piece after this many bytes.

        Returns:
            Its bytes and signature. If the file keeps changing, the signature is the
            older of the two.

        Raises:
            OSError: It cannot be read.
            StageError: The disk refused.
        """

        def read() -> bytes:
            return os.read(fd, PIECE_BYTES) if self.size <= max_bytes else b""

        signature = signature_of(os.fstat(fd))
        for _ in range(_TRIES):
            self._clear()
            os.lseek(fd, 0, os.SEEK_SET)
            staged = self.copy(read)
            before, signature = signature, signature_of(os.fstat(fd))
            if signature == before:
                break
        return staged, before

    def _clear(self) -> None:
        """Forget what was added, and give its room back."""
        self.size = 0
        os.ftruncate(self._file.fileno(), 0)

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes that were added."""
        return read_at(self._file.fileno(), offset, size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _refused(effect: str, error: OSError, place: str = "") -> StageError:
    """Return the error to raise when the disk refuses."""
    cause, hint = cause_of(error)
    return StageError(f"{place}{cause}.", hint=hint, effect=effect)


def folder_above(path: str) -> str:
    """Return the folder that is there, nearest above a path, or the path itself."""
    path = os.path.abspath(path)
    while not os.path.isdir(path) and path != (above := os.path.dirname(path)):
        path = above
    return path
