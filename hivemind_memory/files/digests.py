"""Digests, without OpenSSL as long as little is hashed: to load it takes milliseconds.

It hashes faster, and a first index hashes every note. A short command makes one or two
digests, so each function is loaded when it is used.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MODULES = ("_sha2", "_sha256", "hashlib")
"""Where SHA-256 is: from Python 3.12 on, up to 3.11, and in one without its own."""

_LITTLE_BYTES = 1 << 19
"""As much as is hashed without OpenSSL, which takes as long as to load it."""

_hashed = [0]
"""Bytes that this process has hashed."""


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes, hexadecimal."""
    digest: str = _sha256(data).hexdigest()
    return digest


def sha256_digest(data: bytes) -> bytes:
    """Return the SHA-256 of some bytes, 32 of them."""
    digest: bytes = _sha256(data).digest()
    return digest


def blake2b_hex(data: bytes) -> str:
    """Return a BLAKE2b digest of 20 bytes, hexadecimal."""
    return blake2b_digest(data, 20).hex()


def blake2b_digest(data: bytes, size: int, key: bytes = b"") -> bytes:
    """Return a BLAKE2b digest of some bytes, *size* of them; empty: without a key."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=size, key=key).digest()


def _sha256(data: bytes) -> Any:
    """Return the hash of some bytes."""
    _hashed[0] += len(data)
    if _hashed[0] > _LITTLE_BYTES:
        from hashlib import sha256

        return sha256(data)
    for name in _MODULES:
        try:
            made = import_module(name).sha256
        except ImportError:
            continue
        break
    return made(data)
