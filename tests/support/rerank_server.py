"""A real reranking server on loopback: it scores by common words, and fails on request.

Shapes: ``jina`` (Cohere, llama.cpp and vLLM have the same), and ``tei``, which calls
the documents texts and answers with a bare list.
"""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.local_server import LocalServer, OwnedServer

SLOW_S = 120.0
STATUSES = {"401": 401, "404": 404, "429": 429, "500": 500, "redirect": 307}
BAD_SCORES = (
    *("missing", "doubled", "too-many", "negative-index", "text-index"),
    *("nan", "null", "words", "true", "huge-number", "no-results", "not-json"),
)
FAULTS = (*STATUSES, *BAD_SCORES, "slow", "cut")
_WORD = re.compile(r"\w+")


class RerankServer(LocalServer):
    """Answers on a port of its own until it is closed."""

    def __init__(self, shape: str = "jina") -> None:
        self.shape = shape
        self.fault = ""
        self.liked = ""
        """A text that contains this answers better than any other."""

        self.requests: list[dict[str, Any]] = []
        """What was posted, in order; the key as ``_key``, the path as ``_path``."""

        super().__init__()

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self.origin}/v1"

    def score(self, query: str, text: str) -> float:
        """Return how well a text answers."""
        words = set(_WORD.findall(query.casefold()))
        common = len(words & set(_WORD.findall(text.casefold())))
        return common + 100.0 * bool(self.liked and self.liked in text)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: OwnedServer

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        owner = self.server.owner
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        owner.requests.append(request | {"_key": key, "_path": self.path})
        field = "texts" if owner.shape == "tei" else "documents"
        if owner.fault in STATUSES:
            said = f"no: {key} {request}"
            self._send({"error": said}, STATUSES[owner.fault])
        elif owner.fault == "slow":
            owner.closing.wait(SLOW_S)
        elif owner.fault == "cut":
            self.close_connection = True
            self._head(200, 1_000)
            self.wfile.write(b'{"results": [')
        elif field not in request:
            self._send({"error": f"missing field `{field}`"}, 422)
        else:
            rows = [
                {"index": at, "score": owner.score(request["query"], text)}
                for at, text in enumerate(request[field])
            ]
            self._answer(rows)

    def _answer(self, rows: list[dict[str, Any]]) -> None:
        """Send the scores, best first, correctly or with the fault."""
        owner = self.server.owner
        rows.sort(key=lambda row: -row["score"])
        changes: dict[str, Any] = {
            "nan": float("nan"),
            "null": None,
            "words": "good",
            "true": True,
            "huge-number": 10**400,
        }
        if owner.fault in changes:
            rows[-1]["score"] = changes[owner.fault]
        elif owner.fault == "missing":
            rows.pop()
        elif owner.fault == "doubled":
            rows[-1]["index"] = rows[0]["index"]
        elif owner.fault == "too-many":
            rows.append({"index": len(rows), "score": 1.0})
        elif owner.fault == "negative-index":
            rows[-1]["index"] = -1
        elif owner.fault == "text-index":
            rows[-1]["index"] = str(rows[-1]["index"])
        if owner.fault == "not-json":
            self._head(200, 3)
            self.wfile.write(b"{no")
        elif owner.shape == "tei":
            self._send(rows)
        else:
            named = [
                {"index": row["index"], "relevance_score": row["score"]} for row in rows
            ]
            self._send({} if owner.fault == "no-results" else {"results": named})

    def _send(self, answer: object, status: int = 200) -> None:
        """Send *answer* as JSON."""
        body = json.dumps(answer).encode()
        self._head(status, len(body))
        self.wfile.write(body)

    def _head(self, status: int, length: int) -> None:
        """Send status and headers."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        self.end_headers()


RerankServer.handler = _Handler
