"""Reads text that is encoded, packed or compressed: what a section is copied as.

What the bytes are is told by themselves, never by the name of the file: UTF-16 and
UTF-32, gzip, bzip2, xz, zlib, zip and tar; in a text also base64, base32, hexadecimal
dumps, uuencode, quoted-printable, and the escapes of URLs, HTML and JSON. One may be in
the other. What is read is bounded, so that a bomb is as cheap as any other file.

The hooks load this file, so it imports only what starts fast.
"""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    class _Unpacker(Protocol):
        """What decompresses a stream, at most so much at a time."""

        def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


MAX_BYTES = 32 << 20
"""What is unpacked for one command of git, in all."""

MAX_PARTS = 20_000
"""Members of archives and encoded runs that are read for one command."""

MAX_DEPTH = 4
"""A base64 of a gzip of a tar of a file in UTF-16."""

_MAX_MEMBER_BYTES = 8 << 20
_MAX_WIDE_BYTES = 1 << 20
_MIN_RUN = 32
_MIN_INK = 56
_MIN_DECODED = 24
_SAMPLE = 64
_MANY = 8
_HEAD = 512
_WIDE_HEAD = 256

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_HEX = b"0123456789abcdefABCDEF"
_ALL = bytes(range(256))
_NO_BASE64 = _ALL.translate(None, _BASE64)
_NO_HEX = _ALL.translate(None, _HEX)
_AS_RUN = bytes.maketrans(
    _BASE64 + _NO_BASE64.replace(b"\n", b""),
    b"a" * len(_BASE64) + b" " * (len(_NO_BASE64) - 1),
)
_AS_HEX = _ALL.translate(bytes.maketrans(b"h" + _HEX, b"." + b"h" * len(_HEX)))
_AS_INK = bytes.maketrans(_ALL, bytes(32) + b" " + b"a" * 94 + bytes(129))
_NARROW = b"a" * 16 + b"\n" + b"a" * 16
_STANDARD = bytes.maketrans(b"-_", b"+/")
_CONTROL = _ALL[:32].translate(None, b"\t\n\r\f\x1b") + b"\x7f"
_BREAK = rb"(?:[ \t\"'`,;>#*|/+]{0,8}(?:\\r)?(?:\\n|\r?\n)[ \t\"'`,;>#*|]{0,8})"
_RUN = lazy_re(
    rb"[A-Za-z0-9+/_-]{32,}={0,6}(?:" + _BREAK + rb"[A-Za-z0-9+/_-]{2,}={0,6}){0,20000}"
)
_SHORT_RUN = lazy_re(
    rb"[A-Za-z0-9+/_-]{16,}={0,6}(?:" + _BREAK + rb"[A-Za-z0-9+/_-]{2,}={0,6}){2,20000}"
)
_INK = lazy_re(rb"[!-~]{56,}(?:\r?\n[!-~]{56,}){0,1000}(?:\r?\n[!-~]+)?")
_BINARY_PATCH = lazy_re(rb"(?m)^(?:literal|delta) [0-9]+\n((?:[A-Za-z][!-~]+\n)+)")
_BASE32 = lazy_re(rb"[A-Z2-7]+")
_HEX_RUN = lazy_re(rb"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s:,;\"']{0,4}){24,}")
_DUMP = lazy_re(
    rb"(?m)^[ \t]*[0-9a-fA-F]{6,8}:?[ \t]+((?:[0-9a-fA-F]{2,4} {1,2}){1,16})"
)
_UU = lazy_re(rb"(?ms)^begin(?:-base64)? [0-7]{3,4} [^\n]*\n(.*?)^(?:end|====)")
_PATCH = lazy_re(rb"(?m)^[+ -]")
_WIDE = lazy_re(rb"(?:[\t\n\r -~]\0{1,3}){32,}")
_ESCAPED = lazy_re(
    rb"%([0-9A-Fa-f]{2})|=([0-9A-F]{2})|=\r?\n|\\x([0-9A-Fa-f]{2})"
    rb"|\\u([0-9A-Fa-f]{4})|&#([0-9]{1,7});|&#[xX]([0-9A-Fa-f]{1,6});"
)
_HARD = (b"%20", b"%0A", b"=\n", b"=\r\n", b"=3D", b"\\x", b"\\u00", b"&#")
"""What one of some escapes always has; counting them is fast."""

_BOMS = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_STREAM = lazy_re(rb"\x78[\x01\x5e\x9c\xda]")
_MAX_STREAM_BYTES = 1 << 20
_ZIP_END = b"PK\x05\x06"
_ZIP_END_BYTES = 66_000
_TAR = slice(257, 262)


class Budget:
    """How much may still be unpacked."""

    def __init__(self, left: int = MAX_BYTES, parts: int = MAX_PARTS) -> None:
        self.left = left
        self.parts = parts

    def take(self, part: bytes) -> bool:
        """Return whether a part may be read; it is counted."""
        self.left -= len(part)
        self.parts -= 1
        return self.left >= 0 and self.parts >= 0

    @property
    def most(self) -> int:
        """The most that the next part may have; 0: nothing more is read."""
        return min(max(self.left, 0), _MAX_MEMBER_BYTES) if self.parts > 0 else 0


def is_packed(head: bytes) -> bool:
    """Return whether a file that begins so is an archive, compressed, or wide text."""
    if head.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x5d\0\0", *_ZLIB)):
        return True
    if head.startswith((b"PACK", b"# v", b"%PDF")):
        return True
    if head.startswith((b"PK", b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return True
    return head[_TAR] == b"ustar" or any(map(is_text, _narrowed(head[:_WIDE_HEAD])))


def is_text(head: bytes) -> bool:
    """Return whether bytes begin as text does, without control characters."""
    return len(head) == len(head.translate(None, _CONTROL))


def decoded_in(data: bytes, budget: Budget, depth: int = 0) -> Iterator[bytes]:
    """Yield the texts that are hidden in some bytes, without the bytes themselves."""
    if depth == MAX_DEPTH:
        return
    for part in _parts(data, budget):
        if len(part) < _MIN_DECODED:
            continue
        if not budget.take(part):
            return
        yield part
        yield from decoded_in(part, budget, depth + 1)


def _parts(data: bytes, budget: Budget) -> Iterator[bytes]:
    """Yield what is right below some bytes."""
    is_opened = False
    for part in _open(data, budget) or ():
        is_opened = True
        yield part
    if is_opened:
        return
    if b"\0" in data:
        yield from _narrowed(data)
    else:
        yield from _unescaped(data)
        if b"\n@@ " in data or data.startswith(b"@@ "):
            yield _PATCH.sub(b"", data)
        yield from _runs(data)
        yield from _of_85(data)


def _open(data: bytes, budget: Budget) -> Iterator[bytes] | None:
    """Return what yields the members of an archive; None: it is none."""
    if data.startswith(b"\x1f\x8b") or data[:2] in _ZLIB:
        return _inflated(data, budget)
    if data.startswith(b"BZh"):
        from bz2 import BZ2Decompressor

        return _decompressed(data, BZ2Decompressor, budget)
    if data.startswith((b"\xfd7zXZ", b"\x5d\0\0")):
        from lzma import LZMADecompressor

        return _decompressed(data, LZMADecompressor, budget)
    if data.startswith((b"PACK", b"# v2 git bundle", b"# v3 git bundle", b"%PDF")):
        return _streams(data, budget)
    if _ZIP_END in data[-_ZIP_END_BYTES:]:
        return _zipped(data, budget)
    return _archived(data, budget) if data[_TAR] == b"ustar" else None


def _inflated(data: bytes, budget: Budget) -> Iterator[bytes]:
    """Yield what gzip or zlib compressed; there may be several streams in a row."""
    from zlib import decompressobj, error

    while data and budget.most:
        unpacker = decompressobj(wbits=47)  # either of the two
        try:
            yield unpacker.decompress(data, budget.most)
        except error:
            return
        data = unpacker.unused_data


def _decompressed(
    data: bytes, kind: Callable[[], _Unpacker], budget: Budget
) -> Iterator[bytes]:
    """Yield what was compressed in another way."""
    with suppress(OSError, EOFError, ValueError, RuntimeError, *_lzma_error(data)):
        yield kind().decompress(data, budget.most)


def _lzma_error(data: bytes) -> tuple[type[Exception], ...]:
    """Return what is raised for a damaged stream of xz, an error of its own."""
    if data.startswith(b"BZh"):
        return ()
    from lzma import LZMAError

    return (LZMAError,)


def _zipped(data: bytes, budget: Budget) -> Iterator[bytes]:
    """Yield the members of a zip; documents of offices and packages are such, too."""
    from io import BytesIO
    from zipfile import ZipFile

    try:
        with ZipFile(BytesIO(data)) as archive:
            for member in archive.infolist()[: max(budget.parts, 0)]:
                if not budget.most:
                    return
                with archive.open(member) as file:
                    yield file.read(budget.most)
    except Exception:  # noqa: BLE001 (a damaged or encrypted one raises anything)
        return


def _archived(data: bytes, budget: Budget) -> Iterator[bytes]:
    """Yield the files of a tar."""
    at = 0
    while data[at + 257 : at + 262] == b"ustar" and budget.most:
        try:
            size = int(data[at + 124 : at + 136].strip(b"\0 ") or b"0", 8)
        except ValueError:
            return
        yield data[at + 512 : at + 512 + size]
        at += 512 + (size + 511) // 512 * 512


def _narrowed(data: bytes) -> Iterator[bytes]:
    """Yield text of two or four bytes for each sign."""
    name = next((name for bom, name in _BOMS if data.startswith(bom)), "")
    if name:
        yield data.decode(name, "replace").encode("utf-8", "replace")
        return
    if b"\0" not in data:
        return
    runs = [run.replace(b"\0", b"") for run in _WIDE.findall(data)]
    if runs:
        yield b"\n".join(runs)
    if len(data) > _MAX_WIDE_BYTES:
        return
    for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        if text.isprintable() or "\n" in text:
            yield text.encode("utf-8", "replace")


def _unescaped(data: bytes) -> Iterator[bytes]:
    """Yield a text without escapes, if it has many."""
    if sum(map(data.count, _HARD)) >= _MANY:
        yield _ESCAPED.sub(_sign_of, data)


def _sign_of(found: object) -> bytes:
    """Return the sign for which an escape stands."""
    percent, quoted, byte, unit, number, hexadecimal = found.groups()  # type: ignore[attr-defined]
    if percent or quoted or byte:
        return bytes.fromhex((percent or quoted or byte).decode())
    if not (unit or number or hexadecimal):
        return b""
    code = int(number) if number else int(unit or hexadecimal, 16)
    return chr(code).encode("utf-8", "replace") if code < 0x110000 else b""


def _streams(data: bytes, budget: Budget) -> Iterator[bytes]:
    """Yield what is compressed somewhere in a pack of git or a document."""
    from zlib import decompressobj, error

    for found in _STREAM.finditer(data):
        if not budget.most:
            return
        part = memoryview(data)[found.start() : found.start() + _MAX_STREAM_BYTES]
        with suppress(error):
            yield decompressobj().decompress(part, budget.most)


def _runs(data: bytes) -> Iterator[bytes]:
    """Yield what stands in base64, in base32, as numbers, or in uuencode."""
    shape = data.translate(_AS_RUN)
    if b"a" * _MIN_RUN in shape:
        for found in _RUN.finditer(data):
            yield from _of_run(found[0])
    elif _NARROW in shape:
        for found in _SHORT_RUN.finditer(data):
            yield from _of_run(found[0])
    hexes = data.translate(_AS_HEX)
    if b"hh hh hh hh hh" in hexes or b": hhhh hhhh hhhh" in hexes:
        dumped = b"".join(found[1] for found in _DUMP.finditer(data))
        yield from _if_text(_of_hex(dumped))
        for found in _HEX_RUN.finditer(data):
            yield from _if_text(_of_hex(found[0]))
    elif data.count(b"0x") >= _MIN_DECODED:
        for found in _HEX_RUN.finditer(data):
            yield from _if_text(_of_hex(found[0]))
    if data.startswith(b"begin") or b"\nbegin" in data:
        for found in _UU.finditer(data):
            yield from _if_text(_of_uu(found[1]))


def _of_run(run: bytes) -> Iterator[bytes]:
    """Yield what one run may stand for."""
    from binascii import Error, a2b_base64

    body, *_ = run.partition(b"=")
    signs = body.replace(b"\\n", b"").replace(b"\\r", b"")
    signs = signs.translate(_STANDARD, _NO_BASE64)
    with suppress(Error):
        yield from _if_text(a2b_base64(signs[: len(signs) // 4 * 4] + _tail(signs)))
    if not signs.strip(_HEX):
        yield from _if_text(_of_hex(signs))
    if _BASE32.fullmatch(signs):
        from base64 import b32decode

        yield from _if_text(b32decode(signs[: len(signs) // 8 * 8]))


def _tail(signs: bytes) -> bytes:
    """Return the last incomplete group of a base64, completed."""
    rest = signs[len(signs) // 4 * 4 :]
    return rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""


def _of_patch(text: bytes) -> bytes:
    """Return the bytes in a binary patch; each line begins with their number."""
    from base64 import b85decode

    lines = []
    for line in text.split():
        count = line[0] - (64 if line[0] < 97 else 70)
        with suppress(ValueError):
            lines.append(b85decode(line[1:])[:count])
    return b"".join(lines)


def _of_85(data: bytes) -> Iterator[bytes]:
    """Yield what words without blanks stand for in base85 and Ascii85."""
    if b"a" * _MIN_INK not in data.translate(_AS_INK):
        return
    from base64 import a85decode, b85decode

    for found in _BINARY_PATCH.finditer(data):
        yield _of_patch(found[1])
    for found in _INK.finditer(data):
        word = found[0].translate(None, b"\r\n")
        for decode in (b85decode, a85decode):
            with suppress(ValueError):
                yield from _if_text(decode(word[: len(word) // 5 * 5]))


def _of_hex(text: bytes) -> bytes:
    """Return the bytes for which numbers stand."""
    signs = text.replace(b"0x", b"").translate(None, _NO_HEX)
    return bytes.fromhex(signs[: len(signs) // 2 * 2].decode())


def _of_uu(text: bytes) -> bytes:
    """Return what uuencode wrote, as far as it can be read."""
    from binascii import Error, a2b_uu

    lines = []
    for line in text.split(b"\n"):
        try:
            lines.append(a2b_uu(line))
        except Error:
            break
    return b"".join(lines)


def _if_text(data: bytes) -> Iterator[bytes]:
    """Yield bytes that are text or packed; a hash in base64 is neither."""
    if is_text(data[:_SAMPLE]) or is_packed(data[:_HEAD]):
        yield data
