"""Compresses answers for clients that take it."""

from __future__ import annotations

import gzip

from hivemind_memory.mcp_server.http_sessions import Scope

MIN_COMPRESSED = 1_000
"""Bytes of the shortest answer that is worth it."""

VARY = (b"vary", b"accept-encoding")
PACKED = (b"content-encoding", b"gzip")

_REFUSED = frozenset({b"q=0", b"q=0.0", b"q=0.00", b"q=0.000"})


def takes_gzip(scope: Scope) -> bool:
    """Return whether a client takes compressed answers."""
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            for each in value.lower().split(b","):
                coding, _, weight = each.replace(b" ", b"").partition(b";")
                if coding in {b"gzip", b"*"}:
                    return weight not in _REFUSED
    return False


def compressed(body: bytes, level: int) -> bytes:
    """Return an answer compressed, always in the same way."""
    return gzip.compress(body, compresslevel=level, mtime=0)
