"""Keeps compiled patterns beside Python's byte code, for the next process.

Python compiles a pattern in Python: an injection spends a third of its CPU time on some
three hundred of them. The result is a list of numbers, which the engine takes back in
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
_Kept = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]
"""Flags, code, number of groups, and their names both ways."""


class PatternFile:
    """The compiled patterns in one file.

    Two processes that write at once lose what one of them adds, until it is asked for
    again.
    """

    def __init__(self, path: str) -> None:
        """Read nothing yet.

        Args:
            path: The file, in a folder that may be missing; empty: keep nothing.
        """
        self._path = path
        self._kept: dict[_Key, _Kept | None] | None = None
        self._new: dict[_Key, re.Pattern[Any]] = {}

    def compile(self, source: AnyStr, flags: int) -> re.Pattern[AnyStr]:
        """Return what ``re.compile`` does.

        Raises:
            re.error: It is no pattern.
        """
        if self._kept is None:
            self._kept = self._read()
        key = (source, int(flags))
        if key not in self._kept:
            pattern = re.compile(source, flags)
            if self._path:
                self._new[key] = pattern
            return pattern
        kept = self._kept[key]
        if kept is not None:
            try:
                return _from_kept(source, kept)
            except (RuntimeError, TypeError, ValueError):
                pass  # the engine refuses the numbers
        return re.compile(source, flags)

    def write(self) -> None:
        """Add what was compiled here, where Python writes byte code."""
        new, self._new = self._new, {}
        folder = os.path.dirname(self._path)
        if not new or sys.dont_write_bytecode or not os.access(folder, os.W_OK):
            return
        kept = self._read()
        for (source, flags), pattern in new.items():
            kept[source, flags] = _to_keep(source, flags, pattern)
        body = marshal.dumps(kept)
        if len(body) > MAX_BYTES:
            body = marshal.dumps({})
        beside = f"{self._path}.{os.getpid()}"
        try:
            with open(beside, "wb") as file:
                file.write(_head() + zlib.crc32(body).to_bytes(4, "little") + body)
            os.replace(beside, self._path)
        except OSError:  # a full disk, for one: nothing is lost
            with contextlib.suppress(OSError):
                os.unlink(beside)

    def _read(self) -> dict[_Key, _Kept | None]:
        """Return what the file holds; nothing if it is damaged or of another build."""
        head = _head()
        try:
            with open(self._path, "rb") as file:
                data = file.read()
        except (OSError, ValueError):
            return {}
        start = len(head) + 4
        body = data[start:]
        if not data.startswith(head):
            return {}
        if zlib.crc32(body) != int.from_bytes(data[len(head) : start], "little"):
            return {}
        try:
            kept: dict[_Key, _Kept | None] = marshal.loads(body)  # noqa: S302
        except (EOFError, TypeError, ValueError):
            return {}
        return kept


def _head() -> bytes:
    """Return what the numbers depend on: the build of Python."""
    return f"{sys.version} {sys.byteorder} {sys.maxsize}\0".encode()


def _from_kept(source: AnyStr, kept: _Kept) -> re.Pattern[AnyStr]:
    """Return a pattern from its numbers."""
    import _sre  # type: ignore[import-not-found]

    flags, code, groups, names, indexes = kept
    numbers = memoryview(code).cast("I").tolist()
    made: re.Pattern[AnyStr] = _sre.compile(
        source, flags, numbers, groups, names, indexes
    )
    return made


def _to_keep(source: AnyStr, flags: int, pattern: re.Pattern[AnyStr]) -> _Kept | None:
    """Return the numbers of a pattern; None if this Python gives no others back.

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
        kept = (
            pattern.flags,
            array("I", code).tobytes(),
            pattern.groups,
            dict(pattern.groupindex),
            tuple(names),
        )
        is_same = _from_kept(source, kept) == pattern
    except Exception:  # noqa: BLE001 - another Python: it compiles each time
        return None
    return kept if is_same else None


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
