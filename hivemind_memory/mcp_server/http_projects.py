"""Finds the project of each request over HTTP, and keeps a session in its project.

A request names a project by a header or in its address. One that names none belongs to
the project that its session named first, usually in the request that began it.
"""

from __future__ import annotations

import json
import os
import re
from urllib.parse import parse_qsl, unquote

from hivemind_memory.errors import UsageError
from hivemind_memory.mcp_server.http_sessions import (
    SESSION_HEADER,
    App,
    Message,
    Receive,
    Scope,
    Send,
    ends_session,
    header_of,
)
from hivemind_memory.mcp_server.http_tokens import token_of
from hivemind_memory.model.agents import PROJECT_HEADER

PARAMETER = "project"
"""What ``PROJECT_HEADER`` says, in the query of the address."""

NO_PROJECT = "none"

REFUSED_STATUS = 400
"""Of the answer to a request that seems to name a project and names none."""

_PROJECT = "hivemind.project"
_IS_BLANK = "hivemind.is_blank_project"
_HEADER = PROJECT_HEADER.lower().encode()
_OWN_FOLDER = "auto"
_INVALID_REQUEST = -32600
_VARIABLE = re.compile(r"[${}]")
_ENCODED = re.compile(r"[${}%]")


class SessionProjects:
    """An application that tells *app* the project of each request."""

    def __init__(self, app: App, path: str) -> None:
        """Know of no session yet.

        Args:
            app: Answers the requests, and ends all sessions that it does not keep.
            path: Where; elsewhere there is nothing, and no session is gone.
        """
        self._app = app
        self._path = path
        self._projects: dict[bytes, str] = {}
        """Session -> the project that it named first; empty: none so far."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse one whose project is ``auto``."""
        if scope["type"] != "http" or scope["path"] != self._path:
            await self._app(scope, receive, send)
            return
        try:
            named, is_blank = project_named_in(scope)
        except UsageError as error:
            await _refuse(send, f"{error} {error.hint}")
            return
        session = header_of(scope, SESSION_HEADER)
        if named and self._projects.get(session) == "":
            self._projects[session] = named
        named = named or self._projects.get(session, "")

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                if ends_session(scope, message, self._path):
                    self._projects.pop(session, None)
                elif not session and message["status"] < 400:
                    opened = header_of(message, SESSION_HEADER)
                    if opened:
                        self._projects[opened] = named
            await send(message)

        await self._app({**scope, _PROJECT: named, _IS_BLANK: is_blank}, receive, watch)


def project_of(request: object) -> str:
    """Return the project of a request; empty: neither it nor its session names one.

    A token with a project of its own has no other.

    Args:
        request: As the SDK passes it to a tool.
    """
    token = token_of(request)
    if token is not None and token.project:
        return token.project
    named: str = getattr(request, "scope", {}).get(_PROJECT, "")
    return named


def is_blank_project(request: object) -> bool:
    """Return whether a request has the header, or the parameter, without a value.

    It is empty, or a variable that was not set where the client was started.
    """
    return bool(getattr(request, "scope", {}).get(_IS_BLANK, False))


def project_named_in(scope: Scope) -> tuple[str, bool]:
    """Return the project that a request names, or none, and whether it seems to.

    Raises:
        UsageError: It says ``auto``, and there is nothing to go by.
    """
    headers = [value for name, value in scope["headers"] if name.lower() == _HEADER]
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    parameters = [value for name, value in query if name == PARAMETER]
    named = ""
    for what, given in (
        (f"header {PROJECT_HEADER}", [value.decode("latin-1") for value in headers]),
        (f"parameter {PARAMETER}", parameters),
    ):
        if given:
            named = named or _checked(what, given[0])
    return named, bool(headers or parameters) and not named


def _checked(what: str, given: str) -> str:
    """Return the project that a header or a parameter names; empty: it names none.

    Raises:
        UsageError: It is ``auto``: the server's own folder is no client's.
    """
    named = read_project(given)
    if named == _OWN_FOLDER:
        raise UsageError(
            f"The {what} is auto, but over HTTP the server has no folder of yours.",
            hint="Give the name of a project, the absolute path of a folder, or none.",
        )
    return named


def read_project(given: str) -> str:
    """Return the project that a text names; empty: it is blank, or names a variable.

    Clients send a path as UTF-8 or percent-encoded; HTTP reads bytes as Latin-1.
    """
    try:
        text = given.encode("latin-1").decode("utf-8")
    except UnicodeError:
        text = given
    text = text.strip()
    # Asked only if it matters: a drive that hangs would stop all other clients.
    if _ENCODED.search(text) and not os.path.exists(text):
        # A client that does not expand variables sends their names, as in ${PWD}.
        text = "" if _VARIABLE.search(text) else unquote(text).strip()
    word = text.lower()
    return word if word in {_OWN_FOLDER, NO_PROJECT} else text


async def _refuse(send: Send, message: str) -> None:
    """Answer with a message that clients show: an error in the form of the protocol."""
    error = {"code": _INVALID_REQUEST, "message": message}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    start = {"type": "http.response.start", "status": REFUSED_STATUS}
    await send({**start, "headers": headers})
    await send({"type": "http.response.body", "body": body})
