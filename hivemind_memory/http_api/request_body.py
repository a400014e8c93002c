"""Reads the body of a request, and makes of its JSON what a route takes."""

from __future__ import annotations

import json

from pydantic import ValidationError

from hivemind_memory.http_api.failures import Failure, failure_of_fields
from hivemind_memory.http_api.routes import Fields
from hivemind_memory.mcp_server.http_sessions import Receive, Scope
from hivemind_memory.redaction import mask_short

MAX_BODY_BYTES = 1024 * 1024

_FORM = "application/x-www-form-urlencoded"
_JSON_TYPES = frozenset({"", "application/json", _FORM})
"""Empty: the client says none. Of a form: curl and urllib say it of any body."""

_PLAIN = frozenset({b"", b"identity"})


class ClientLeftError(Exception):
    """The client left before its request was whole: no client is left to answer."""


async def body_of(scope: Scope, receive: Receive, error: str) -> bytes:
    """Return the body of a request; *error* says that it is too large.

    Raises:
        ClientLeftError: It does not arrive whole.
        Failure: It is too large, or compressed. ``WholeRequests`` reads the rest, and
            then the connection is closed.
    """
    too_large = Failure(413, error, headers={"connection": "close"})
    for name, value in scope["headers"]:
        if name == b"content-length" and int(value) > MAX_BODY_BYTES:
            raise too_large
        if name == b"content-encoding" and value.strip().lower() not in _PLAIN:
            headers = {"accept-encoding": "identity", "connection": "close"}
            raise Failure(415, "compressed bodies are not read", headers=headers)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeftError
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise too_large
        if not message.get("more_body", False):
            return bytes(body)


def fields_in(body: bytes, media: str, fields: type[Fields]) -> Fields:
    """Return what a body says.

    Args:
        body: Of the request.
        media: The type that the request says it has.
        fields: What the route takes.

    Raises:
        Failure: It is not JSON, or does not have the form.
    """
    kind = media.partition(";")[0].strip().lower()
    if kind not in _JSON_TYPES and not kind.endswith("+json"):
        raise Failure(415, "the body must be JSON: send Content-Type: application/json")
    try:
        found = fields.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise failure_of_fields(error, fields, "body") from error
    # Only now, for it is known to be JSON, and not too deep.
    text = body.decode("utf-8", "replace")
    json.loads(text, object_pairs_hook=refuse_twice, parse_int=str, parse_float=str)
    return found


def field_failure(name: str, problem: str) -> Failure:
    """Return the failure of one field."""
    name = mask_short(name, 60)
    details = [{"field": name, "problem": problem}]
    return Failure(400, f"{name}: {problem}", details=details)


def refuse_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return named values.

    Raises:
        Failure: Two have the same name, so that two readers may take different ones.
    """
    named: dict[str, object] = {}
    for name, value in pairs:
        if name in named:
            raise field_failure(name, "is given more than once")
        named[name] = value
    return named
