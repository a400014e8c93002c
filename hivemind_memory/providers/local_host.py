"""Shares loaded models among the processes of a user, over local sockets.

The leader, which lives long, serves the vectors of queries, and reranks; commands and
other servers ask it, so that none of them has to load a model. A socket has a name and
no file: it is gone with its process. Each side checks that the other one is of the same
user.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

CAN_SHARE = hasattr(socket, "SO_PEERCRED")
"""Elsewhere than on Linux each process loads the model for itself."""

VECTORS, RERANKING = "vectors", "reranking"

CONNECT_S = 0.2
"""A process that serves accepts at once."""

_IDLE_S = 5.0
_MAX_BYTES = 1_000_000
_BACKLOG = 32
_SIZE = struct.Struct("<I")
_CREDENTIALS = struct.Struct("3i")


class ModelHost:
    """Serves one model until it is closed."""

    def __init__(
        self, name: str, answer: Callable[[str], bytes], what: str = VECTORS
    ) -> None:
        """Begin to serve.

        Args:
            name: Of all that shapes an answer: of a vector, its space.
            answer: What is asked -> the answer: of a prepared text, its packed vector.
            what: What the model does.

        Raises:
            OSError: Another process serves it.
        """
        self.what = what
        self._ask = answer
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.bind(_address(name))
            self._socket.listen(_BACKLOG)
        except OSError:
            self._socket.close()
            raise
        threading.Thread(target=self._serve, name="model-host", daemon=True).start()

    def close(self) -> None:
        """Serve no longer; what is under way is finished."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept
        self._socket.close()

    def _serve(self) -> None:
        """Answer each connection on a thread of its own."""
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(link,), daemon=True).start()

    def _answer(self, link: socket.socket) -> None:
        """Answer one question; nothing is an answer too: the other side asks itself."""
        from hivemind_memory.errors import HivemindError

        with link, contextlib.suppress(OSError, HivemindError, ValueError):
            link.settimeout(_IDLE_S)
            if _is_ours(link):
                _send(link, self._ask(_receive(link).decode()))


_hosts: dict[str, ModelHost] = {}
"""Those of this process, by name. They end with it."""


def serve(name: str, answer: Callable[[str], bytes], *, what: str = VECTORS) -> None:
    """Serve one model and no other that does the same, unless another process does."""
    for before in [name for name, host in _hosts.items() if host.what == what]:
        _hosts.pop(before).close()
    if not CAN_SHARE:
        return
    with contextlib.suppress(OSError):
        _hosts[name] = ModelHost(name, answer, what)


def is_serving(name: str) -> bool:
    """Return whether this process serves a model."""
    return name in _hosts


def stop_serving() -> None:
    """Serve nothing any longer."""
    while _hosts:
        _hosts.popitem()[1].close()


def ask_host(name: str, text: str, *, timeout_s: float) -> bytes:
    """Return what a served model answers; empty: nothing serves it, or not in time."""
    if not CAN_SHARE:
        return b""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(min(CONNECT_S, timeout_s))
            link.connect(_address(name))
            if not _is_ours(link):
                return b""
            link.settimeout(timeout_s)
            _send(link, text.encode())
            return _receive(link)
    except OSError:
        return b""


def _address(name: str) -> bytes:
    """Return the name of a socket in the abstract namespace of Linux."""
    digest = sha256(name.encode()).hexdigest()[:32]
    return f"\0hivemind-memory/{os.getuid()}/{digest}".encode()


def _is_ours(link: socket.socket) -> bool:
    """Return whether the other side runs as the same user: names are free to take."""
    data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(data)
    return bool(uid == os.getuid())


def _send(link: socket.socket, data: bytes) -> None:
    """Send a message with its size before it."""
    link.sendall(_SIZE.pack(len(data)) + data)


def _receive(link: socket.socket) -> bytes:
    """Return a message.

    Raises:
        OSError: It is cut off or too long.
    """
    [size] = _SIZE.unpack(_read(link, _SIZE.size))
    if size > _MAX_BYTES:
        raise ConnectionError("a message is too long")
    return _read(link, size)


def _read(link: socket.socket, size: int) -> bytes:
    """Return so many bytes."""
    data = b""
    while len(data) < size:
        part = link.recv(size - len(data))
        if not part:
            raise ConnectionError("the other side left")
        data += part
    return data
