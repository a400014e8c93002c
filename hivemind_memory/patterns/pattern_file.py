"""Keeps compiled patterns beside Python's byte code, for the next process.

Python compiles a pattern in Python: an injection spends a third of its CPU time on some
three hundred of them. The result is a list of numbers, which the engine loads in
microseconds. Like byte code, it lies in ``__pycache__``, is for one build of Python,
may be missing at any time, and is trusted as much as the program (decision 151).

Only patterns of the program are kept, never one that is made of a setting or a secret.
"""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
import re
import sys
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr

MAX_BYTES = 4_000_000
"""A file that would be larger begins anew: other versions of the program filled it."""

_NAME = "patterns"
_Key = tuple[str | bytes, int]
_Place = tuple[int, int, int]
"""Where the numbers of a pattern lie: offset, size and checksum."""

_SIZE_BYTES = 4


class PatternFile:
    """The compiled patterns in one file.

    A table says where the numbers of each pattern lie, so that a process reads those
    alone that it needs. Two processes that write at once lose what one of them adds,
    until it is asked for again.
    """

    def __init__(self, path: str) -> None:
        """Read nothing yet.

        Args:
            path: The file, in a folder that may be missing; empty: keep nothing.
        """
        self._path = path
        self._places: dict[_Key, _Place] | None = None
        self._body = b""
        self._new: dict[_Key, re.Pattern[Any]] = {}

    def compile(self, source: AnyStr, flags: int) -> re.Pattern[AnyStr]:
        """Return what ``re.compile`` does.

        Raises:
            re.error: It is no pattern.
        """
        if self._places is None:
            self._places, self._body = self._read()
        key = (source, int(flags))
        if key not in self._places:
            pattern = re.compile(source, flags)
            if self._path:
                self._new[key] = pattern
            return pattern
        try:
            numbers = _slice(self._body, self._places[key])
            return _from_numbers(source, numbers)
        except (EOFError, RuntimeError, TypeError, ValueError):
            return re.compile(source, flags)  # damaged, or refused by the engine

    def write(self) -> None:
        """Add what was compiled here, where Python writes byte code."""
        new, self._new = self._new, {}
        folder = os.path.dirname(self._path)
        if not new or sys.dont_write_bytecode or not os.access(folder, os.W_OK):
            return
        places, body = self._read()
        kept = {}
        for key, place in places.items():
            # A damaged one would get a checksum that fits.
            with contextlib.suppress(ValueError):
                kept[key] = _slice(body, place)
        for (source, flags), pattern in new.items():
            kept[source, flags] = _to_numbers(source, flags, pattern)
        if sum(map(len, kept.values())) > MAX_BYTES:
            kept = {}
        beside = f"{self._path}.{os.getpid()}"
        try:
            with open(beside, "wb") as file:
                file.write(_file_of(kept))
            os.replace(beside, self._path)
        except OSError:  # a full disk, for one: nothing is lost
            with contextlib.suppress(OSError):
                os.unlink(beside)

    def _read(self) -> tuple[dict[_Key, _Place], bytes]:
        """Return table and numbers; none if it is damaged or of another build."""
        head = _head()
        try:
            with open(self._path, "rb") as file:
                data = file.read()
        except (OSError, ValueError):
            return {}, b""
        if not data.startswith(head):
            return {}, b""
        start = len(head) + 2 * _SIZE_BYTES
        try:
            size, checksum = memoryview(data[len(head) : start]).cast("I")
            table = data[start : start + size]
            if zlib.crc32(table) != checksum:
                return {}, b""
            places: dict[_Key, _Place] = marshal.loads(table)  # noqa: S302
        except (EOFError, TypeError, ValueError):
            return {}, b""
        return places, data[start + size :]


def _file_of(kept: dict[_Key, bytes]) -> bytes:
    """Return the bytes of a file with the numbers of some patterns."""
    places: dict[_Key, _Place] = {}
    at = 0
    for key, numbers in kept.items():
        places[key] = (at, len(numbers), zlib.crc32(numbers))
        at += len(numbers)
    table = marshal.dumps(places)
    sizes = (len(table), zlib.crc32(table))
    start = b"".join(size.to_bytes(_SIZE_BYTES, sys.byteorder) for size in sizes)
    return b"".join((_head(), start, table, *kept.values()))


def _slice(body: bytes, place: _Place) -> bytes:
    """Return the numbers of a pattern.

    Raises:
        ValueError: They are damaged.
    """
    at, size, checksum = place
    numbers = body[at : at + size]
    if zlib.crc32(numbers) != checksum:
        raise ValueError(checksum)
    return numbers


def _head() -> bytes:
    """Return what the numbers depend on: the build of Python."""
    return f"{sys.version} {sys.byteorder} {sys.maxsize} 2\0".encode()


def _from_numbers(source: AnyStr, numbers: bytes) -> re.Pattern[AnyStr]:
    """Return a pattern from its numbers; empty: they are not kept.

    Raises:
        EOFError: They are not kept.
        RuntimeError: The engine refuses them.
    """
    import _sre  # type: ignore[import-not-found]

    flags, code, groups, names, indexes = marshal.loads(numbers)  # noqa: S302
    codes = memoryview(code).cast("I").tolist()
    made: re.Pattern[AnyStr] = _sre.compile(
        source, flags, codes, groups, names, indexes
    )
    return made


def _to_numbers(source: AnyStr, flags: int, pattern: re.Pattern[AnyStr]) -> bytes:
    """Return the numbers of a pattern; empty if this Python gives no others back.

    How to get at them isn't part of Python's interface, so the pattern that they make
    is compared with the real one.
    """
    try:
        from array import array
        from re import _compiler, _parser  # type: ignore[attr-defined]

        code: Any = _compiler._code(_parser.parse(source, flags), flags)  # noqa: SLF001
        names: list[str | None] = [None] * (pattern.groups + 1)
        for name, group in pattern.groupindex.items():
            names[group] = name
        numbers = marshal.dumps(
            (
                pattern.flags,
                array("I", code).tobytes(),
                pattern.groups,
                dict(pattern.groupindex),
                tuple(names),
            )
        )
        is_same = _from_numbers(source, numbers) == pattern
    except Exception:  # noqa: BLE001 - another Python: it compiles each time
        return b""
    return numbers if is_same else b""


def _path_here() -> str:
    """Return where Python keeps the byte code of this module; empty: nowhere."""
    cached = __spec__.cached if __spec__ else None
    if not cached:
        return ""
    tag = sys.implementation.cache_tag
    return os.path.join(os.path.dirname(cached), f"{_NAME}.{tag}.bin")


PROGRAM = PatternFile(_path_here())
"""The patterns of this program."""

atexit.register(PROGRAM.write)
