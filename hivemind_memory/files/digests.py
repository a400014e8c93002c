"""Digests of short texts, without OpenSSL: to load it takes longer than a scan does.

A whole note is hashed by ``hashlib``, which is faster there. A search makes one of the
two, so each is loaded when it is used.
"""

from __future__ import annotations


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes, hexadecimal."""
    try:
        from _sha2 import sha256  # type: ignore[import-not-found]
    except ImportError:
        try:  # Python 3.11
            from _sha256 import sha256  # type: ignore[import-not-found]
        except ImportError:
            from hashlib import sha256
    digest: str = sha256(data).hexdigest()
    return digest


def blake2b_hex(data: bytes) -> str:
    """Return a BLAKE2b digest of 20 bytes, hexadecimal."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=20).hexdigest()
