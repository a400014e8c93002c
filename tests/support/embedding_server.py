"""A real embedding server on loopback that fails on request.

Speaks OpenAI's ``/v1/embeddings`` (float and base64) and Ollama's ``/api/embed``,
``/api/tags``, ``/api/version``, ``/api/show``. In a test::

    with EmbeddingServer() as server:
        server.script("nan", "", "slow")   # the next three requests; "": answer well

By hand: ``python -m tests.support.embedding_server --port 8080 --fault 429``; GET
``/stats`` tells what it was asked.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import random
import socket
import ssl
import struct
import threading
from collections import deque
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from hivemind_memory.testing import hash_text

MODELS = ("nomic-embed-text:latest", "bge-m3:latest")
SLOW_S = 120.0  # longer than any timeout of a test; ended when the server closes
DRIP_S = 0.05

# Fault -> status, error code, message, more headers. The messages are what real servers
# say; some repeat the key or the text.
STATUS_FAULTS: dict[str, tuple[int, str, str, dict[str, str]]] = {
    "400": (400, "invalid_request_error", "'$.input' is invalid: {text}", {}),
    "400-long": (400, "", "the input length exceeds the context length", {}),
    "401": (401, "invalid_api_key", "Incorrect API key provided: {key}.", {}),
    "403": (403, "unsupported_country", "You may not use this.", {}),
    "404": (404, "model_not_found", 'model "{model}" not found', {}),
    "413": (413, "", "input must have less than 512 tokens", {}),
    "429": (429, "rate_limit_exceeded", "Rate limit reached.", {}),
    "429-2s": (429, "rate_limit_exceeded", "Rate limit.", {"Retry-After": "2"}),
    "429-1h": (429, "rate_limit_exceeded", "Rate limit.", {"Retry-After": "3600"}),
    "429-quota": (429, "insufficient_quota", "You exceeded your quota.", {}),
    "500": (500, "", "internal error while embedding {text}", {}),
    "500-long": (500, "", "input is too large to process", {}),
    "503": (503, "", "model is loading", {"Retry-After": "1"}),
    "redirect": (307, "", "go away", {"Location": "/elsewhere"}),
}
VECTOR_FAULTS = (
    "nan",
    "infinite",
    "overflow",
    "null",
    "null-vector",
    "words",
    "nested",
    "zero",
    "empty-vector",
    "empty-list",
    "one-too-few",
    "one-too-many",
    "one-short",
    "other-dims",
    "reordered",
    "doubled-index",
    "no-index",
    "huge",
    "tiny",
)
ENDLESS_FAULTS = ("endless", "compressed")
"""More than any client is to read, as it comes or once it is unpacked."""

WIRE_FAULTS = (
    *("slow", "drip", "cut", "reset", "html", "not-json", "json-list", "deep"),
    *ENDLESS_FAULTS,
)
FAULTS = (*STATUS_FAULTS, *VECTOR_FAULTS, *WIRE_FAULTS)


def endless_answer(fault: str) -> tuple[dict[str, str], bytes]:
    """Return headers and body of an answer that is too long; its beginning, if ever."""
    body = b" " * 30_000_000
    if fault == "compressed":
        return {"Content-Encoding": "gzip"}, gzip.compress(body, 1)
    return {}, body


class EmbeddingServer:
    """Answers on a port of its own until it is closed."""

    def __init__(
        self, *, port: int = 0, dims: int = 24, latency_s: float = 0.0
    ) -> None:
        self.dims = dims
        self.latency_s = latency_s
        self.models: tuple[str, ...] = MODELS
        self.poison = ""
        """A text that holds this word gets NaN; empty: none does."""

        self.longest_chars = 0
        """A longer text is refused as Ollama does; 0: none is."""

        self.always = ""
        """Fault of every request that has none of its own."""

        self.requests: list[dict[str, Any]] = []
        """What was posted to embed, in order; the key as ``_key``."""

        self.headers: list[dict[str, str]] = []
        """Headers of each of them, names in lower case."""

        self.links: list[socket.socket] = []
        self.connections = 0
        """Connections that were opened."""

        self.strays: list[str] = []
        """Requests to paths that nobody should ask for."""

        self.outwaited = 0
        """Requests that were kept waiting to the end; whoever asked is too patient."""

        self._faults: deque[str] = deque()
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
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
    def url(self) -> str:
        """Address for Ollama."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """Address for OpenAI clients."""
        return f"{self.url}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts asked for so far."""
        return [text for request in self.requests for text in request["input"]]

    def use_tls(self, certificate: str, key: str) -> None:
        """Speak TLS from now on, with a certificate and its key from files."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )

    def drop_connections(self) -> None:
        """Close every connection that a client keeps open."""
        for link in list(self.links):
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def script(self, *faults: str) -> None:
        """Give the next requests these faults, one each; "" for none."""
        unknown = set(faults) - {"", *FAULTS}
        if unknown:
            raise ValueError(unknown)
        self._faults.extend(faults)

    def stats(self) -> dict[str, int]:
        """Return how many requests and texts arrived."""
        texts = self.texts
        counts = {"requests": len(self.requests), "texts": len(texts)}
        return counts | {"distinct_texts": len(set(texts))}

    def take(self, request: dict[str, Any]) -> str:
        """Note one request and return its fault."""
        with self._lock:
            self.requests.append(request)
            return self._faults.popleft() if self._faults else self.always


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Requests that nobody waits for any more must not hold up the end of a test.
    block_on_close = False
    request_queue_size = 64
    owner: EmbeddingServer

    def handle_error(self, *_: object) -> None:
        """A client that went away is what is tested here; no traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # it holds every second write back for 40 ms
    server: _Server

    @property
    def owner(self) -> EmbeddingServer:
        return self.server.owner

    def setup(self) -> None:
        super().setup()
        self.owner.connections += 1
        self.owner.links.append(self.connection)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = self.path.rstrip("/")
        if path == "/api/tags":
            rows = [{"name": name, "model": name} for name in self.owner.models]
            self._send({"models": rows})
        elif path == "/api/version":
            self._send({"version": "0.20.0"})
        elif path == "/v1/models":
            rows = [{"id": name, "object": "model"} for name in self.owner.models]
            self._send({"object": "list", "data": rows})
        elif path == "/stats":
            self._send(self.owner.stats())
        else:
            self.owner.strays.append(self.path)
            self._send({"error": "no such path"}, 404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.rstrip("/")
        if path == "/api/show":
            info = {"general.architecture": "bert", "bert.embedding_length": 24}
            self._send({"model_info": info, "capabilities": ["embedding"]})
        elif path in ("/v1/embeddings", "/api/embed"):
            request = json.loads(body)
            if isinstance(request["input"], str):
                request["input"] = [request["input"]]
            key = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            request |= {"_key": key, "_path": path}
            headers = {name.lower(): text for name, text in self.headers.items()}
            self.owner.headers.append(headers)
            fault = self.owner.take(request)
            self.owner.closing.wait(self.owner.latency_s)
            self._answer(request, fault)
        else:
            self.owner.strays.append(self.path)
            self._send({"error": "no such path"}, 404)

    def _answer(self, request: dict[str, Any], fault: str) -> None:
        """Answer a request to embed, correctly or with the fault."""
        is_openai = request["_path"].startswith("/v1")
        limit = self.owner.longest_chars
        if limit and any(len(text) > limit for text in request["input"]):
            fault = "400-long"
        if fault in STATUS_FAULTS:
            return self._refuse(request, *STATUS_FAULTS[fault], is_openai=is_openai)
        if fault in WIRE_FAULTS:
            return self._break(request, fault)
        vectors = make_vectors(request, fault, self.owner.dims, self.owner.poison)
        order = list(range(len(vectors)))
        if fault == "reordered":
            # Ollama promises the order of the texts; only OpenAI has an index.
            order.reverse() if is_openai else None
        if not is_openai:
            return self._send({"model": request["model"], "embeddings": vectors})
        rows = [
            {"object": "embedding", "index": index, "embedding": vectors[index]}
            for index in order
        ]
        if request.get("encoding_format") == "base64":
            for row in rows:
                data = struct.pack(f"<{len(row['embedding'])}f", *row["embedding"])
                row["embedding"] = base64.b64encode(data).decode()
        for row in rows:
            if fault == "no-index":
                del row["index"]
            elif fault == "doubled-index":
                row["index"] = 0
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "model": request["model"], "usage": usage}
        return self._send(answer | {"data": rows})

    def _refuse(
        self,
        request: dict[str, Any],
        status: int,
        code: str,
        message: str,
        headers: dict[str, str],
        *,
        is_openai: bool,
    ) -> None:
        """Answer with an error of the provider's form."""
        text = message.format(
            key=request["_key"], text=request["input"][0], model=request["model"]
        )
        error = {"message": text, "type": code or None, "code": code or None}
        self._send({"error": error if is_openai else text}, status, headers)

    def _break(self, request: dict[str, Any], fault: str) -> None:
        """Fail below or beside the protocol."""
        self.close_connection = True
        if fault == "slow":
            if not self.owner.closing.wait(SLOW_S):
                self.owner.outwaited += 1
        elif fault == "reset":
            linger = struct.pack("ii", 1, 0)  # close without a farewell
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
        elif fault == "drip":
            self._head(200, "application/json", 100_000)
            for _ in range(int(SLOW_S / DRIP_S)):
                if self.owner.closing.wait(DRIP_S):
                    return
                self.wfile.write(b" ")
            self.owner.outwaited += 1
        elif fault in ENDLESS_FAULTS:
            headers, body = endless_answer(fault)
            self._head(200, "application/json", len(body), headers)
            with suppress(OSError):
                self.wfile.write(body)
        elif fault == "cut":
            data = json.dumps({"data": [[0.5] * 100], "embeddings": [[0.5] * 100]})
            self._head(200, "application/json", len(data) * 2)
            self.wfile.write(data.encode())
        else:
            bodies = {
                "html": ("text/html", "<html><body>Please log in</body></html>"),
                "not-json": ("application/json", '{"data": [[0.1, 0.2'),
                "json-list": ("application/json", "[[0.1, 0.2]]"),
                "deep": ("application/json", "[" * 100_000),
            }
            kind, body = bodies[fault]
            self._head(200, kind, len(body))
            self.wfile.write(body.encode())

    def _send(
        self, answer: object, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        """Send *answer* as JSON."""
        body = json.dumps(answer).replace("Infinity", "1e999").encode()
        self._head(status, "application/json", len(body), headers)
        self.wfile.write(body)

    def _head(
        self,
        status: int,
        kind: str,
        length: int,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Send status and headers."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()


def make_vectors(
    request: dict[str, Any], fault: str, dims: int, poison: str = ""
) -> list[Any]:
    """Return the vectors of a request, spoilt by *fault*. None of them has length 1."""
    texts = request["input"]
    dims = request.get("dimensions") or dims
    if fault == "other-dims":
        dims += 8
    vectors: list[Any] = [
        [number * 3.7 for number in hash_text(text, dims)] for text in texts
    ]
    for number, text in enumerate(texts):
        if poison and poison in text:
            vectors[number] = [float("nan")] * dims
    last = len(vectors) - 1
    single = {
        "nan": float("nan"),
        "infinite": float("inf"),
        "overflow": float("-inf"),
        "null": None,
        "words": "one",
        "nested": [0.5],
    }
    whole: dict[str, Any] = {
        "null-vector": None,
        "zero": [0.0] * dims,
        "empty-vector": [],
        "one-short": vectors[last][:-1],
    }
    factors = {"huge": 1e305, "tiny": 1e-305}
    if fault in single:
        vectors[last][dims // 2] = single[fault]
    elif fault in whole:
        vectors[last] = whole[fault]
    elif fault in factors:
        vectors = [[x * factors[fault] for x in vector] for vector in vectors]
    elif fault == "one-too-few":
        vectors.pop()
    elif fault == "one-too-many":
        vectors.append(vectors[0])
    elif fault == "empty-list":
        vectors.clear()
    return vectors


def main() -> None:
    """Serve until it is interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--model", action="append", help="a model that Ollama has")
    parser.add_argument("--fault", default="", choices=("", *FAULTS))
    parser.add_argument(
        "--share", type=float, default=1.0, help="of requests that fail"
    )
    args = parser.parse_args()
    server = EmbeddingServer(
        port=args.port, dims=args.dims, latency_s=args.latency_ms / 1000
    )
    server.models = tuple(args.model or MODELS)
    with server:
        print(f"{server.url} (Ollama), {server.openai_url} (OpenAI)", flush=True)
        try:
            while not server.closing.wait(0.2):
                is_faulty = random.random() < args.share
                server.always = args.fault if is_faulty else ""
        except KeyboardInterrupt:
            print(json.dumps(server.stats()))


if __name__ == "__main__":
    main()
