"""Sends pages, and the files that they load: styles and a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files

from hivemind_memory.http_api.compression import (
    MIN_COMPRESSED,
    PACKED,
    compressed,
    takes_gzip,
)
from hivemind_memory.mcp_server.http_sessions import Scope, Send

HTML = "text/html; charset=utf-8"
_STATIC = {
    "dashboard.css": "text/css; charset=utf-8",
    "dashboard.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""What pages load -> its type."""

# Nothing from elsewhere, nothing inline, no page around ours: a browser enforces it.
_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
    b" connect-src 'self'; form-action 'self'; frame-ancestors 'none';"
    b" base-uri 'none'"
)
_SAFE_HEADERS = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    # Not no-referrer: a form would then be sent with ``Origin: null``, and refused.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_LEVEL = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer, before it is compressed."""

    status: int
    body: bytes
    media: str = HTML
    headers: Sequence[tuple[bytes, bytes]] = field(default=())
    is_lasting: bool = False
    """It never changes under its address, so a browser may keep it."""


async def send_reply(scope: Scope, send: Send, reply: Reply) -> None:
    """Send an answer; of a ``HEAD`` its headers only."""
    kept = b"public, max-age=31536000, immutable" if reply.is_lasting else b"no-store"
    headers = [
        (b"content-type", reply.media.encode()),
        (b"cache-control", kept),
        (b"vary", b"accept-encoding, cookie"),
        *_SAFE_HEADERS,
        *reply.headers,
    ]
    body = reply.body
    if len(body) >= MIN_COMPRESSED and takes_gzip(scope):
        body = compressed(body, _LEVEL)
        headers.append(PACKED)
    headers.append((b"content-length", str(len(body)).encode()))
    start = {"type": "http.response.start", "status": reply.status}
    await send({**start, "headers": headers})
    is_head = scope["method"] == "HEAD"
    await send({"type": "http.response.body", "body": b"" if is_head else body})


def static_reply(name: str, query: bytes) -> Reply:
    """Return a file that pages load; kept only under the address that pages have."""
    if name not in _STATIC:
        return Reply(status=404, body=b"", media="text/plain")
    return Reply(
        status=200,
        body=_read(name),
        media=_STATIC[name],
        is_lasting=static_address(name).encode().endswith(b"?" + query),
    )


@cache
def static_address(name: str) -> str:
    """Return the address of a file that pages load: another one after any change."""
    return f"/memory/static/{name}?v={sha256(_read(name)).hexdigest()[:12]}"


@cache
def _read(name: str) -> bytes:
    """Return the bytes of a file."""
    return (files("hivemind_memory.dashboard") / "static" / name).read_bytes()
