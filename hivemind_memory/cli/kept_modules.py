"""Keeps the byte code of the modules that commands load in one file, beside Python's.

A command loads one to three hundred modules. To find, open and check the file of each
takes longer than to load what is in it. Like byte code, this file lies in
``__pycache__``, is for one build of Python, may be missing at any time, and is trusted
as much as the program. A module whose source has another date or size is loaded as ever
(decision 158).
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from contextlib import suppress

from hivemind_memory.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

MAX_BYTES = 16_000_000
"""A file that would be larger begins anew."""

_NAME = "modules"
_SIZE_BYTES = 4
_HEADER_BYTES = 16
"""Of a file with byte code: the build, flags, date and size of the source."""

_STREAMS = 3
"""Descriptors below are standard streams; one that is closed must stay so."""

_Place = tuple[int, int, bytes, bool]
"""Offset and size of a module's byte code; what its header says of the source; whether
it is a package."""


class KeptModules:
    """Finds modules of one package in a file; others are left to Python."""

    def __init__(self, package: str, folder: str, path: str) -> None:
        """Read nothing yet.

        Args:
            package: Name of the package.
            folder: Where it is.
            path: The file.
        """
        self._package = package
        self._folder = folder
        self._path = path
        self._fd = -1
        self._start = 0
        self._places: dict[str, _Place] = {}
        self._opened: object = None
        self._loaded_before: frozenset[str] = frozenset()
        self._outdated: set[str] = set()

    def install(self) -> None:
        """Look for modules here first, from now on."""
        self._loaded_before = frozenset(sys.modules)
        self._read()
        sys.meta_path.insert(0, self)

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - as Python calls it
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return what a module is loaded with; None: it is not here as it is now."""
        place = self._places.get(name)
        if place is None:
            return None
        *_, header, is_package = place
        source = self._source_of(name, is_package=is_package)
        if _header_of(source) != header:
            self._outdated.add(name)
            return None
        loader = _KeptLoader(name, source)
        loader.kept = self
        spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        spec.has_location = True
        return spec

    def code_of(self, name: str) -> CodeType | None:
        """Return the byte code of a module; None: it cannot be read."""
        at, size, _, _ = self._places[name]
        try:
            code: CodeType = marshal.loads(os.pread(self._fd, size, self._start + at))  # noqa: S302
        except (OSError, EOFError, TypeError, ValueError):
            return None
        return code

    def write(self) -> None:
        """Add what was loaded without the file, where Python writes byte code."""
        new = self._outdated | {
            name
            for name in sys.modules.keys() - self._places.keys() - self._loaded_before
            if name.startswith(f"{self._package}.")
        }
        folder = os.path.dirname(self._path)
        if not new or sys.dont_write_bytecode or not os.access(folder, os.W_OK):
            return
        if _identity_of(self._path) != self._opened:
            return  # another process has just written it
        kept = {
            name: (os.pread(self._fd, size, self._start + at), header, is_package)
            for name, (at, size, header, is_package) in self._places.items()
            if name not in new
        }
        added = {name: code for name in sorted(new) if (code := _byte_code_of(name))}
        if not added and not self._outdated:
            return
        kept |= added
        if sum(len(code) for code, _, _ in kept.values()) > MAX_BYTES:
            kept = {}
        from hivemind_memory.files.atomic import write_file

        with suppress(OSError):  # a full disk, for one: nothing is lost
            write_file(self._path, _file_of(kept), mode=0o644)

    def _source_of(self, name: str, *, is_package: bool) -> str:
        """Return the source of a module."""
        inside = name.split(".")[1:]
        path = os.path.join(self._folder, *inside)
        return os.path.join(path, "__init__.py") if is_package else f"{path}.py"

    def _read(self) -> None:
        """Open the file and read its table; neither if it is damaged or of another."""
        head, self._opened = _head(), _identity_of(self._path)
        try:
            fd = os.open(self._path, os.O_RDONLY)
        except OSError:
            return
        start = os.pread(fd, len(head) + 3 * _SIZE_BYTES, 0)
        if fd < _STREAMS or len(start) < len(head) + 3 * _SIZE_BYTES:
            os.close(fd)
            return
        at = len(start)
        size, checksum, total = memoryview(start)[len(head) :].cast("I")
        table = os.pread(fd, size, at) if start.startswith(head) else b""
        status = os.fstat(fd)
        if status.st_size != at + size + total or zlib.crc32(table) != checksum:
            os.close(fd)
            return
        self._places = marshal.loads(table)  # noqa: S302
        self._fd, self._start = fd, at + size


class _KeptLoader(SourceFileLoader):
    """Loads a module from the file, and from its source if that cannot be read."""

    kept: KeptModules

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the byte code."""
        return self.kept.code_of(fullname) or super().get_code(fullname)


def install() -> None:
    """Load modules of this program from the file beside its byte code."""
    cached = __spec__.cached if __spec__ else None
    if not cached:
        return
    import atexit

    folder, name = os.path.split(cached)
    ending = name.partition(".")[2].removesuffix("pyc")
    package = os.path.dirname(os.path.dirname(__file__))
    path = os.path.join(folder, f"{_NAME}.{ending}bin")
    modules = KeptModules(__name__.partition(".")[0], package, path)
    modules.install()
    atexit.register(modules.write)


def _header_of(source: str) -> bytes:
    """Return what the header of byte code says of a source; empty: it is not there."""
    try:
        status = os.stat(source)
    except OSError:
        return b""
    numbers = (int(status.st_mtime), status.st_size)
    return b"".join((number & 0xFFFFFFFF).to_bytes(4, "little") for number in numbers)


def _byte_code_of(name: str) -> tuple[bytes, bytes, bool] | None:
    """Return the byte code of a loaded module, from its own file; None: it has none."""
    spec = sys.modules[name].__spec__ if name in sys.modules else None
    if spec is None or not spec.cached or not spec.origin:
        return None
    try:
        with open(spec.cached, "rb") as file:
            data = file.read()
    except OSError:
        return None
    header = _header_of(spec.origin)
    # Flags of 0: date and size say whether it is up to date.
    if not header or data[:_HEADER_BYTES] != MAGIC_NUMBER + bytes(4) + header:
        return None
    is_package = spec.submodule_search_locations is not None
    return data[_HEADER_BYTES:], header, is_package


def _file_of(kept: dict[str, tuple[bytes, bytes, bool]]) -> bytes:
    """Return the bytes of a file with some modules."""
    places: dict[str, _Place] = {}
    at = 0
    for name, (code, header, is_package) in kept.items():
        places[name] = (at, len(code), header, is_package)
        at += len(code)
    table = marshal.dumps(places)
    sizes = (len(table), zlib.crc32(table), at)
    start = b"".join(size.to_bytes(_SIZE_BYTES, sys.byteorder) for size in sizes)
    codes = (code for code, _, _ in kept.values())
    return b"".join((_head(), start, table, *codes))


def _head() -> bytes:
    """Return what byte code depends on: the build of Python, and this version."""
    build = f"{sys.version} {MAGIC_NUMBER.hex()} {sys.byteorder}"
    return f"{build} {__version__} 1\0".encode()


def _identity_of(path: str) -> object:
    """Return what another file in its place does not have; None: there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns)
