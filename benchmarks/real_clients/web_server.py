"""A web server on loopback, for as long as it is wanted, that answers every request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[str, bytes], tuple[str, bytes] | None]
"""From path and body of a POST to content type and bytes; nothing: not found."""

_JSON = "application/json"


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Serve on a free port; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            reply = answer(self.path, raw)
            self._send(200 if reply else 404, *(reply or (_JSON, b"{}")))

        def do_GET(self) -> None:
            self._send(200, _JSON, b'{"data": [], "models": []}')

        def do_HEAD(self) -> None:
            self._send(200, _JSON, b"")

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Keep quiet: what counts is recorded by whoever answers."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
