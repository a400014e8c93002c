"""Parses one line from a client into a message, or into error responses.

The SDK's own reader drops what it cannot parse, and the client waits forever. Here
every line with a readable id gets an answer. Pure: bytes in, values out.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from hivemind_memory.mcp_server.streams import MAX_LINE_BYTES

Id = str | int | float | None

# A string, whole or cut off, or a bracket. Twenty megabytes take one pass.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_SCALAR = re.compile(
    rb'\s*+:\s*+("[^"\\]*+(?:\\.[^"\\]*+)*+"|-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?)'
    rb"\s*[,}]",
    re.DOTALL,
)
_HALF = re.compile("[\ud800-\udfff]")
# Deeper than any message of the protocol, and far below Python's recursion limit.
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedLine:
    """A line that the SDK does not get to see."""

    error_responses: tuple[dict[str, object], ...]
    """JSON-RPC errors to send; none when the client expects no answer."""


def read_frame(line: bytes) -> JSONRPCMessage | RejectedLine:
    """Return the message on *line*, or the errors to answer instead.

    Lone surrogates, which JSON can hold and a file can't, become visible escapes.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _read_leniently(line)
    # The SDK takes a request whose id is neither a string nor an integer for a
    # notification, which would never be answered.
    if isinstance(message, JSONRPCNotification) and b'"id"' in line:
        given = readable_id(line)
        if given is not None:
            return _refused(
                INVALID_REQUEST, given, "the id must be a string or an integer"
            )
    return message


def readable_id(line: bytes) -> Id:
    """Return the id of the outermost object on *line*, however broken the rest is."""
    depth = 0
    for token in _TOKEN.finditer(line):
        text = token[0]
        if text in b"{[":
            depth += 1
        elif text in b"}]":
            depth -= 1
        elif depth == 1 and text == b'"id"' and line[:1] != b"[":
            scalar = _SCALAR.match(line, token.end())
            if scalar is not None:
                return _id_of(scalar[1])
    return None


def error_response(code: int, given: Id, message: str) -> dict[str, object]:
    """Return a JSON-RPC error."""
    error = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": given, "error": error}


def too_long_line(head: bytes) -> RejectedLine:
    """Return the answer to a line of which only the beginning was read."""
    message = f"a message can have at most {MAX_LINE_BYTES:,} bytes"
    return _refused(INVALID_REQUEST, readable_id(head), message)


def _read_leniently(line: bytes) -> JSONRPCMessage | RejectedLine:
    """Read with a more lenient parser, or say what is wrong."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
        seen = _visible(value, 0)
    except ValueError as error:
        return _refused(PARSE_ERROR, readable_id(line), _why_not(error))
    except RecursionError:
        return _refused(
            PARSE_ERROR, readable_id(line), "the message is nested too deeply"
        )
    if isinstance(seen, list):
        return _batch_refused(seen)
    try:
        return jsonrpc_message_adapter.validate_python(seen, by_name=False)
    except ValidationError:
        pass
    if isinstance(seen, dict) and ("result" in seen or "error" in seen):
        return RejectedLine(error_responses=())  # the client's answer to a request
    return _refused(INVALID_REQUEST, _given_id(seen), "not a JSON-RPC 2.0 request")


def _batch_refused(batch: list[object]) -> RejectedLine:
    """Return an error for every request in a batch, since each waits for an answer."""
    message = "batches are not part of the protocol; send one message per line"
    requests = [
        message
        for message in batch
        if isinstance(message, dict) and "method" in message
    ]
    ids = [given for request in requests if (given := _given_id(request)) is not None]
    open_ids: list[Id] = [*ids] or [None]
    errors = (error_response(INVALID_REQUEST, given, message) for given in open_ids)
    return RejectedLine(error_responses=tuple(errors))


def _given_id(value: object) -> Id:
    """Return the id of a request; None if it has none that can be sent back."""
    given = value.get("id") if isinstance(value, dict) else None
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    return None if isinstance(given, float) and not math.isfinite(given) else given


def _visible(value: object, depth: int) -> object:
    """Return *value* with lone surrogates shown as escapes."""
    if depth > _MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", value)
    if isinstance(value, list):
        return [_visible(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {
            _visible(key, depth): _visible(item, depth + 1)
            for key, item in value.items()
        }
    return value


def _id_of(text: bytes) -> Id:
    """Return the id that *text* encodes."""
    try:
        given = json.loads(text.decode("utf-8", "replace"))
    except ValueError:
        return None
    if isinstance(given, str):
        # A lone surrogate can't be sent back.
        return None if _HALF.search(given) else given
    return given if isinstance(given, int | float) else None


def _why_not(error: ValueError) -> str:
    """Return why a line is not JSON, without quoting it."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at character {error.pos}"
    return "not JSON: a number is too long"


def _refused(code: int, given: Id, message: str) -> RejectedLine:
    """Return a line's rejection with one error."""
    return RejectedLine(error_responses=(error_response(code, given, message),))
