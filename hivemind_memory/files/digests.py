"""Digests of short texts, without OpenSSL: to load it takes longer than a scan does.

A whole note is hashed by ``hashlib``, which is faster there. A search makes one of the
two, so each is loaded when it is used.
"""

from __future__ import annotations

from importlib import import_module

_MODULES = ("_sha2", "_sha256", "hashlib")
"""Where SHA-256 is: from Python 3.12 on, up to 3.11, and in one without its own."""


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes, hexadecimal."""
    for name in _MODULES:
        try:
            sha256 = import_module(name).sha256
        except ImportError:
            continue
        break
    digest: str = sha256(data).hexdigest()
    return digest


def blake2b_hex(data: bytes) -> str:
    """Return a BLAKE2b digest of 20 bytes, hexadecimal."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=20).hexdigest()
