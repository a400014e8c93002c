"""The letters of a text, which are the same however it is quoted, wrapped or written.

The hooks load this file, so it imports only what starts fast.
"""

from __future__ import annotations

from _blake2 import blake2b  # hashlib would load OpenSSL, which takes 5 ms

from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUN = 24
"""Letters of a run, about five words."""

STEP = 4
"""Letters between two runs that are looked up."""

MIN_RUNS = 5
"""Runs in common that make a copy."""

COPY = RUN + MIN_RUNS * STEP - 1
"""Letters in common that are always found, about eight words.

A memory with fewer is not compared: other texts have such a line by chance.
"""

HASH_BYTES = 8
"""Length of a hash."""

_LETTERS = bytes(range(65, 91)) + bytes(range(97, 123)) + bytes(range(128, 256))
_LOWER = bytes(at + 32 if 65 <= at <= 90 else at for at in range(256))
_DELETED = bytes(at for at in range(256) if at not in _LETTERS)
_DELETED_IN_LINES = _DELETED.replace(b"\n", b"")
_ENCODED = lazy_re("[%=][0-9A-F]{2}")
_TAG = lazy_re("<[^<>]{0,300}>")
_CODE_POINT = lazy_re(r"\\u([0-9a-fA-F]{4})")
_ESCAPE = lazy_re(r"\\[A-Za-z]+\{|\\[nrt]")
_ENTITY = lazy_re(r"&#?\w{1,31};")
_COLOR = lazy_re("\x1b\\[[0-9;]*[A-Za-z]")
_NO_LETTERS = lazy_re(r"[\W\d_]+")


def readable(text: str, *, has_tags: bool = False) -> str:
    """Return a text without escapes, encodings and, unless *has_tags*, tags."""
    if "%" in text or "=" in text:
        text = _ENCODED.sub("", text)
    if not has_tags and "<" in text:
        text = _TAG.sub("", text)
    if "\\" in text:
        text = _CODE_POINT.sub(lambda found: chr(int(found[1], 16)), text)
        text = _ESCAPE.sub("", text)
    if "&" in text and _ENTITY.search(text):
        from html import unescape

        text = unescape(text)
    return _COLOR.sub("", text) if "\x1b" in text else text


def letters(text: str) -> bytes:
    """Return the letters of a readable text, in lower case and without accents."""
    if not text.isascii():
        text = _NO_LETTERS.sub("", _with_accents_apart(text))
    return text.encode("utf-8", "ignore").translate(_LOWER, _DELETED)


def letter_lines(text: bytes) -> list[bytes]:
    """Return the letters of each line of a readable text."""
    if text.isascii():
        return text.translate(_LOWER, _DELETED_IN_LINES).split(b"\n")
    lines = text.split(b"\n")
    return [
        letters(line.decode("utf-8", "replace")) if len(line) >= COPY else b""
        for line in lines
    ]


def runs_of(data: bytes, step: int = 1) -> Iterator[bytes]:
    """Yield the runs of some letters."""
    for at in range(0, len(data) - RUN + 1, step):
        yield data[at : at + RUN]


def hasher(key: bytes) -> Callable[[bytes], bytes]:
    """Return what hashes a run with a key."""
    copied = blake2b(key=key, digest_size=HASH_BYTES).copy

    def hash_of(data: bytes) -> bytes:
        state = copied()
        state.update(data)
        return state.digest()

    return hash_of


def _with_accents_apart(text: str) -> str:
    """Return a text in lower case, in which an accent follows its letter."""
    from unicodedata import normalize

    # Apart from their letters, accents are no letters, and go with what is none.
    return normalize("NFKD", text).casefold()
