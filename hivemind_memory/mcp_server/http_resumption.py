"""Begins sessions again that a restart has ended, or others that came later.

A client whose session is unknown gets status 404 and must begin a new one. Gemini CLI
does not: it has no memory until it is restarted. So the id of a session holds what is
needed to begin it again, signed: the client's name, whether it has roots, and the
project that it named. The client notices nothing.

A session that its client has ended stays ended.
"""

from __future__ import annotations

import base64
import hmac
import json
from collections import OrderedDict
from hashlib import sha256
from secrets import token_hex
from typing import Any

import anyio

from hivemind_memory.mcp_server.http_sessions import (
    SESSION_HEADER,
    App,
    Message,
    Receive,
    Scope,
    Send,
    header_of,
)
from hivemind_memory.mcp_server.http_tokens import token_in
from hivemind_memory.model.agents import PROJECT_HEADER
from hivemind_memory.state.tokens import Token

MAX_RESUMED = 1024
"""Sessions that were begun again and are known here; the oldest are forgotten."""

MAX_ENDED = 1024
"""Sessions that are known to have been ended by their clients."""

_MAX_NAME_CHARS = 64
_MAX_PROJECT_BYTES = 1_000
_GONE = (
    "This session is not known here: the server was restarted, or has ended it. Nothing"
    " was saved. Restart the agent to begin a new session."
)
_INVALID_REQUEST = -32600
_PROJECT = PROJECT_HEADER.lower().encode()


class SessionResumption:
    """An application that begins sessions of an earlier process in *app* again."""

    def __init__(self, app: App, path: str, secret: str) -> None:
        """Know of no session yet.

        Args:
            app: Answers the requests.
            path: Where; elsewhere there are no sessions.
            secret: Signs what an id holds; the same after a restart.
        """
        self._app = app
        self._path = path
        self._secret = secret.encode()
        self._process = token_hex(4)
        self._resumed: OrderedDict[bytes, bytes] = OrderedDict()
        """Id that a client has, from an earlier process or of a session that made room
        for others -> the session's id now."""

        self._ended: OrderedDict[bytes, None] = OrderedDict()
        """Ids of sessions that their clients have ended."""

        self._lock = anyio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in the session that its id stands for."""
        if scope["type"] != "http" or scope["path"] != self._path:
            await self._app(scope, receive, send)
            return
        given = header_of(scope, SESSION_HEADER)
        if not given:
            await self._open(scope, receive, send)
            return
        kept: list[Message] = []
        is_gone = not (inner := await self._inner_of(scope, given))

        async def read() -> Message:
            kept.append(await receive())
            return kept[-1]

        async def read_again() -> Message:
            return kept.pop(0) if kept else await receive()

        async def watch(message: Message) -> None:
            nonlocal is_gone
            if message["type"] == "http.response.start":
                is_gone = message["status"] == 404
                self._note_end(scope, given, message)
                message = _with_session(message, given)
            if not is_gone:
                await send(message)

        if inner:
            await self._app(_with_session(scope, inner), read, watch)
        if (
            is_gone
            and inner
            and (inner := await self._begun_again(scope, given, inner))
        ):
            is_gone = False
            await self._app(_with_session(scope, inner), read_again, watch)
        if is_gone:
            await _refuse(send)

    def _note_end(self, scope: Scope, given: bytes, answer: Message) -> None:
        """Remember that a client has ended its session, if this answer says so."""
        if scope["method"] == "DELETE" and answer["status"] < 400:
            self._ended[given] = None
            while len(self._ended) > MAX_ENDED:
                self._ended.popitem(last=False)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request without a session; sign the id of one that it opens."""
        kept: list[Message] = []

        async def watched() -> Message:
            message = await receive()
            kept.append(message)
            return message

        async def sign(message: Message) -> None:
            if message["type"] == "http.response.start":
                opened = header_of(message, SESSION_HEADER)
                if opened and message["status"] >= 400:
                    # A refused request has the id of a session that is dropped.
                    message = _without_session(message)
                elif opened:
                    body = b"".join(part.get("body", b"") for part in kept)
                    held = _held(body, header_of(scope, _PROJECT))
                    signed = self._signed(opened, held, token_in(scope))
                    message = _with_session(message, signed)
            await send(message)

        await self._app(scope, watched, sign)

    async def _inner_of(self, scope: Scope, given: bytes) -> bytes:
        """Return the session that an id stands for; empty: none, or it is not ours."""
        parts = given.split(b".")
        if len(parts) != 4 or not self._is_signed(given, token_in(scope)):
            return b""
        inner, process, _, _ = parts
        if process == self._process.encode():
            return self._resumed.get(given, inner)
        return await self._begun_again(scope, given, b"")

    async def _begun_again(self, scope: Scope, given: bytes, gone: bytes) -> bytes:
        """Return the session that now stands for an id; empty: its client ended it.

        Args:
            scope: Of a request of its client.
            given: An id that was given to it.
            gone: The session that is no longer there; empty: one of another process.
        """
        if given in self._ended or (gone and scope["method"] == "DELETE"):
            return b""
        async with self._lock:
            # Another request of the client may have been here first.
            if self._resumed.get(given, gone) == gone:
                held = given.split(b".")[2]
                opened = await self._begin(scope, json.loads(_decoded(held)))
                if not opened:
                    return b""
                self._resumed[given] = opened
                while len(self._resumed) > MAX_RESUMED:
                    self._resumed.popitem(last=False)
            return self._resumed[given]

    async def _begin(self, scope: Scope, held: dict[str, Any]) -> bytes:
        """Begin a session as its client did; return its id, or nothing."""
        version = header_of(scope, b"mcp-protocol-version").decode("latin-1")
        params = {
            "protocolVersion": version or "2025-03-26",
            "capabilities": {"roots": {}} if held["roots"] else {},
            "clientInfo": {"name": held["name"], "version": "0"},
        }
        opened = await self._post(scope, held, b"", "initialize", params)
        if opened:
            await self._post(scope, held, opened, "notifications/initialized", {})
        return opened

    async def _post(
        self,
        scope: Scope,
        held: dict[str, Any],
        session: bytes,
        method: str,
        params: dict[str, Any],
    ) -> bytes:
        """Send a message in the name of a client; return the session it opened."""
        asked = {} if session else {"id": 0}
        body = json.dumps(
            {"jsonrpc": "2.0", **asked, "method": method, "params": params}
        )
        headers = [
            (b"host", header_of(scope, b"host")),
            (b"content-type", b"application/json"),
            (b"accept", b"application/json, text/event-stream"),
        ]
        if held["project"]:
            headers.append((_PROJECT, held["project"].encode("latin-1")))
        if session:
            headers.append((SESSION_HEADER, session))
        opened = b""
        parts = [{"type": "http.request", "body": body.encode(), "more_body": False}]

        async def read() -> Message:
            if parts:
                return parts.pop()
            await anyio.sleep_forever()
            raise AssertionError

        async def watch(message: Message) -> None:
            nonlocal opened
            if message["type"] == "http.response.start" and message["status"] < 400:
                opened = header_of(message, SESSION_HEADER)

        await self._app({**scope, "method": "POST", "headers": headers}, read, watch)
        return opened

    def _signed(
        self, session: bytes, held: dict[str, Any], token: Token | None
    ) -> bytes:
        """Return the id that a client gets for a session."""
        text = json.dumps(held, separators=(",", ":")).encode()
        encoded = base64.urlsafe_b64encode(text).rstrip(b"=")
        plain = b".".join((session, self._process.encode(), encoded))
        return plain + b"." + self._signature(plain, token)

    def _is_signed(self, given: bytes, token: Token | None) -> bool:
        """Whether an id is one that a server with this secret has given to a token."""
        plain, _, signature = given.rpartition(b".")
        return hmac.compare_digest(self._signature(plain, token), signature)

    def _signature(self, plain: bytes, token: Token | None) -> bytes:
        """Return the signature of an id, which no other token can use."""
        whose = b"" if token is None else f"\n{token.name}\n{token.created_at}".encode()
        signed = hmac.new(self._secret, plain + whose, sha256)
        return signed.hexdigest()[:32].encode()


def _held(body: bytes, project: bytes) -> dict[str, Any]:
    """Return what the id of a session holds, from the request that opened it."""
    params = json.loads(body).get("params") or {}
    name = str((params.get("clientInfo") or {}).get("name", ""))[:_MAX_NAME_CHARS]
    is_short = len(project) <= _MAX_PROJECT_BYTES
    return {
        "name": name,
        "roots": "roots" in (params.get("capabilities") or {}),
        "project": project.decode("latin-1") if is_short else "",
    }


def _decoded(encoded: bytes) -> bytes:
    """Return what was encoded without the signs that fill it up."""
    return base64.urlsafe_b64decode(encoded + b"=" * (-len(encoded) % 4))


def _with_session(carrier: Message, session: bytes) -> Message:
    """Return a request or an answer with another session, if it has one."""
    headers = [
        (key, session if key.lower() == SESSION_HEADER else value)
        for key, value in carrier.get("headers", ())
    ]
    return {**carrier, "headers": headers}


def _without_session(answer: Message) -> Message:
    """Return an answer that names no session."""
    headers = [
        (key, value)
        for key, value in answer.get("headers", ())
        if key.lower() != SESSION_HEADER
    ]
    return {**answer, "headers": headers}


async def _refuse(send: Send) -> None:
    """Answer that a session is gone, and what helps."""
    error = {"code": _INVALID_REQUEST, "message": _GONE}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": body})
