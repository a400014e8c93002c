"""A real server of a language model on loopback that replies and fails on request.

Speaks OpenAI's ``/v1/chat/completions`` and Ollama's ``/api/chat``. In a test::

    with ChatServer() as server:
        server.reply = lambda request: {"relations": []}
        server.script("429", "", "prose")   # the next three requests; "": reply well

By hand: ``python -m tests.support.chat_server --port 8080 --fault 429``.
"""

from __future__ import annotations

import argparse
import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.embedding_server import (
    DRIP_S,
    ENDLESS_FAULTS,
    SLOW_S,
    STATUS_FAULTS,
    endless_answer,
)
from tests.support.local_server import LocalServer, OwnedServer

WIRE_FAULTS = (
    *("slow", "drip", "cut", "reset", "html", "not-json", "json-list", "deep"),
    "error-within",
    *ENDLESS_FAULTS,
)
REPLY_FAULTS = (
    "invalid-json",
    "truncated-json",
    "truncated-rows",
    "length",
    "filter",
    "a-list",
    "a-number",
    "nan",
    "empty",
    "null-text",
    "no-message",
    "refusal",
    "tool-call",
    "two-objects",
    "other-language",
    "huge",
    "deep-reply",
)
"""None of them is a usable reply."""

HARMLESS = (
    *("fenced", "prose", "braces", "thoughts", "end-of-thoughts", "blank-end"),
    *("tool-noise", "parts"),
)
"""Around a good reply; it is used all the same."""

FORM_FAULTS = ("no-schema", "no-form")
"""The server refuses a reply by schema, or in any form."""

REFUSALS = {
    **STATUS_FAULTS,
    "400-key": (400, "", "API key not valid. Please pass a valid API key.", {}),
    "400-model": (400, "", "Invalid model name passed in model={model}.", {}),
    "500-slow": (500, "", "upstream took too long to respond", {}),
    "400-filter": (400, "content_filter", "It hit our content policy: {text}", {}),
}
"""As ``STATUS_FAULTS``; 400 says many things."""

STATUSES = tuple(name for name in REFUSALS if not name.endswith("-long"))
FAULTS = (*STATUSES, "400-long", *WIRE_FAULTS, *REPLY_FAULTS, *HARMLESS, *FORM_FAULTS)


class ChatServer(LocalServer):
    """Replies on a port of its own until it is closed."""

    def __init__(self, *, port: int = 0, latency_s: float = 0.0) -> None:
        self.latency_s = latency_s
        self.reply: Callable[[dict[str, Any]], object] = lambda _: {"answer": "yes"}
        """Takes a request and returns the object of the reply, or a text."""

        self.always = ""
        """Fault of every request that has none of its own."""

        self.requests: list[dict[str, Any]] = []
        """What was posted, in order; the key as ``_key``, the path as ``_path``, all
        headers as ``_headers``."""

        self.strays: list[str] = []
        """Requests to paths that nothing should ask for."""

        self._faults: deque[str] = deque()
        self._lock = threading.Lock()
        super().__init__(port)

    @property
    def url(self) -> str:
        """Address for Ollama."""
        return self.origin

    def url_for(self, provider: str) -> str:
        """Return the address as the client of a provider takes it."""
        return f"{self.url}/v1" if provider == "openai" else self.url

    @property
    def said(self) -> list[str]:
        """All that was said so far, one text for each request."""
        return ["\n".join(m["content"] for m in r["messages"]) for r in self.requests]

    def script(self, *faults: str) -> None:
        """Give the next requests these faults, one each; "" for none."""
        if unknown := set(faults) - {"", *FAULTS}:
            raise ValueError(unknown)
        self._faults.extend(faults)

    def take(self, request: dict[str, Any]) -> str:
        """Note one request and return its fault."""
        with self._lock:
            self.requests.append(request)
            return self._faults.popleft() if self._faults else self.always


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: OwnedServer

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        owner = self.server.owner
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.rstrip("/")
        if path not in ("/v1/chat/completions", "/api/chat"):
            owner.strays.append(self.path)
            self._send({"error": "no such path"}, 404)
            return
        request = json.loads(body)
        key = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        request |= {"_key": key, "_path": path, "_headers": dict(self.headers)}
        fault = owner.take(request)
        owner.closing.wait(owner.latency_s)
        self._answer(request, fault)

    def _answer(self, request: dict[str, Any], fault: str) -> None:
        """Answer a request, correctly or with the fault."""
        form = form_of(request)
        if (fault == "no-schema" and form == "schema") or (
            fault == "no-form" and form != "text"
        ):
            message = f"response_format of type {form} is not supported"
            self._refuse(request, 400, "", message, {})
        elif fault in REFUSALS:
            status, code, message, headers = REFUSALS[fault]
            text = request["messages"][-1]["content"]
            said = message.format(
                key=request["_key"], text=text, model=request["model"]
            )
            self._refuse(request, status, code, said, headers)
        elif fault in WIRE_FAULTS:
            self._break(fault)
        else:
            self._send(answer_for(request, fault, self.server.owner.reply(request)))

    def _refuse(
        self,
        request: dict[str, Any],
        status: int,
        code: str,
        message: str,
        headers: dict[str, str],
    ) -> None:
        """Answer with an error of the provider's form."""
        error = {"message": message, "type": code or None, "code": code or None}
        is_openai = request["_path"].startswith("/v1")
        self._send({"error": error if is_openai else message}, status, headers)

    def _break(self, fault: str) -> None:
        """Fail below or beside the protocol."""
        closing = self.server.owner.closing
        self.close_connection = True
        if fault == "slow":
            closing.wait(SLOW_S)
        elif fault == "reset":
            linger = struct.pack("ii", 1, 0)  # close without a farewell
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
        elif fault == "drip":
            self._head(200, "application/json", 100_000)
            for _ in range(int(SLOW_S / DRIP_S)):
                if closing.wait(DRIP_S):
                    return
                self.wfile.write(b" ")
        elif fault in ENDLESS_FAULTS:
            headers, body = endless_answer(fault)
            self._head(200, "application/json", len(body), headers)
            with suppress(OSError):
                self.wfile.write(body)
        elif fault == "cut":
            self._head(200, "application/json", 4_000)
            self.wfile.write(b'{"choices": [{"message": {"content": "{')
        else:
            bodies = {
                "html": ("text/html", "<html><body>Please log in</body></html>"),
                "not-json": ("application/json", '{"choices": [{"mess'),
                "json-list": ("application/json", "[[1]]"),
                "deep": ("application/json", "[" * 100_000),
                "error-within": (
                    "application/json",
                    '{"error": {"code": 502, "message": "Provider returned error"}}',
                ),
            }
            kind, body = bodies[fault]
            self._head(200, kind, len(body))
            self.wfile.write(body.encode())

    def _send(
        self, answer: object, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        """Send *answer* as JSON."""
        body = json.dumps(answer).encode()
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


def form_of(request: dict[str, Any]) -> str:
    """Return the form of reply that a request asks for: schema, json or text."""
    if request["_path"] == "/api/chat":
        asked = request.get("format")
        return "schema" if isinstance(asked, dict) else asked or "text"
    kind = request.get("response_format", {}).get("type", "text")
    return {"json_schema": "schema", "json_object": "json"}.get(kind, kind)


def answer_for(request: dict[str, Any], fault: str, reply: object) -> object:
    """Return the whole answer to a request, as its wire has it."""
    text = reply if isinstance(reply, str) else json.dumps(reply)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    spoilt = {
        "invalid-json": "{'relations': [}",
        "truncated-json": text[: len(text) // 2],
        "truncated-rows": f'{{"rows": [{text}, {{"ans',
        "length": text[: len(text) // 2],
        "filter": "",
        "a-list": f"[{text}]",
        "a-number": "42",
        "nan": '{"answer": NaN}',
        "empty": "  ",
        "null-text": None,
        "two-objects": f"{text} or rather {text}",
        "other-language": "我不能这样做。申し訳ありません。Ich kann das nicht.",
        "huge": "x" * 10_000_000,
        "deep-reply": '{"a":' * 50_000,
        "fenced": f"Here you are:\n```json\n{text}\n```\nAnything else?",
        "prose": f"The answer is {text}, I think.",
        "thoughts": f'<think>Perhaps {{"answer": "no"}}?</think>\n{text}',
        "end-of-thoughts": f'Perhaps {{"answer": …}} or {text}?\n</think>\n{text}',
        "braces": f"As {{you}} wish: {text}",
        "blank-end": f"{text}{' ' * 500}",
        "refusal": None,
        "tool-call": None,
    }
    if fault in spoilt:
        message["content"] = spoilt[fault]
    if fault == "refusal":
        message["refusal"] = "I cannot help with that."
    stopped = {"length": "length", "blank-end": "length", "filter": "content_filter"}
    reason = stopped.get(fault, "stop")
    if fault in ("tool-call", "tool-noise"):
        call: dict[str, Any] = {"name": "delete_all", "arguments": {"sure": True}}
        if request["_path"] != "/api/chat":
            call["arguments"] = '{"sure": true}'
        message["tool_calls"] = [{"id": "1", "type": "function", "function": call}]
    if request["_path"] == "/api/chat":
        if fault == "no-message":
            return {"model": request["model"], "done": True}
        return {
            "model": request["model"],
            "message": message,
            "done": True,
            "done_reason": reason,
        }
    if fault == "parts":
        message["content"] = [{"type": "text", "text": text}]
    choices = [{"index": 0, "finish_reason": reason, "message": message}]
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [] if fault == "no-message" else choices,
    }


ChatServer.handler = _Handler


def main() -> None:
    """Serve until it is interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--fault", default="", choices=("", *FAULTS))
    args = parser.parse_args()
    with ChatServer(port=args.port, latency_s=args.latency_ms / 1000) as server:
        server.always = args.fault
        server.reply = lambda _: {"relations": []}
        print(f"{server.url} (Ollama), {server.url}/v1 (OpenAI)", flush=True)
        try:
            server.closing.wait()
        except KeyboardInterrupt:
            print(len(server.requests), "requests")


if __name__ == "__main__":
    main()
