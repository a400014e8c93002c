"""Passes HTTP on to the server with its token added, for a client that cannot send one.

Bytes are passed as they come. Only the first line's end is looked for: the header goes
right behind it, and each connection is closed after one request.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_CHUNK_BYTES = 1 << 16


@contextmanager
def forwarding(url: str, token: str) -> Iterator[str]:
    """Yield an address under which the server at *url* answers without a token."""
    target = urlsplit(url)
    assert target.port is not None
    extra = f"Authorization: Bearer {token}\r\nConnection: close\r\n".encode()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        own = listening.getsockname()[1]

        def serve() -> None:
            with suppress(OSError):  # closed: it is over
                while True:
                    client, _ = listening.accept()
                    there = (client, target.port or 0, extra, own)
                    threading.Thread(target=_pass_on, args=there, daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{own}{target.path}"
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def _pass_on(client: socket.socket, port: int, extra: bytes, own: int) -> None:
    """Pass one connection on, both ways."""
    with suppress(OSError), client, socket.create_connection(("127.0.0.1", port)) as to:
        to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = _head(client)
        line, _, rest = head.partition(b"\r\n")
        headers, _, body = rest.partition(b"\r\n\r\n")
        kept = [one for one in headers.split(b"\r\n") if not _is_connection(one)]
        # The server's own name stands for this one, or it would refuse the Host; any
        # other name is passed on, and it must refuse that itself.
        named = b"\r\n".join(kept).replace(b":%d" % own, b":%d" % port)
        to.sendall(line + b"\r\n" + extra + named + b"\r\n\r\n" + body)
        threading.Thread(target=_copy, args=(client, to), daemon=True).start()
        _copy(to, client)


def _head(client: socket.socket) -> bytes:
    """Read up to the empty line, and what came with it."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(_CHUNK_BYTES)
        if not data:
            raise OSError("it left within the headers")
        head += data
    return head


def _is_connection(header: bytes) -> bool:
    """Whether a header speaks of the connection alone."""
    return header.lower().startswith(b"connection:")


def _copy(source: socket.socket, sink: socket.socket) -> None:
    """Pass bytes on until one side ends."""
    with suppress(OSError):
        while data := source.recv(_CHUNK_BYTES):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
