"""What the servers that stand in for providers have in common: a port and a thread."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class OwnedServer(ThreadingHTTPServer):
    """Listens for the test server that owns it."""

    daemon_threads = True
    # Requests that nothing waits for any more must not hold up the end of a test.
    block_on_close = False
    request_queue_size = 64
    owner: Any

    def handle_error(self, *_: object) -> None:
        """A client that went away is what is tested here; no traceback."""


class LocalServer:
    """Answers on a port of its own until it is closed."""

    handler: type[BaseHTTPRequestHandler]

    def __init__(self, port: int = 0) -> None:
        self.closing = threading.Event()
        self._server = OwnedServer(("127.0.0.1", port), self.handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.004,), daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def origin(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"
