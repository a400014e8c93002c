"""One line from a client, made a message, or the errors with which it is answered.

The SDK's own reader drops what it cannot read, and a client that asked waits for ever.
Here everything with a readable id gets an answer. Pure: bytes in, values out.
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

MAX_BYTES = 32 * 1024 * 1024
"""A longer line is not read; more than any argument of ours may be."""

Id = str | int | float | None

# A string, a bracket, or anything else between two of those. No nested repetition:
# twenty megabytes are read in one go.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)
_SCALAR = re.compile(
    rb'\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*"|-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?)'
    rb"\s*[,}]",
    re.DOTALL,
)
_HALF = re.compile("[\ud800-\udfff]")
# Deeper than any message of the protocol, and far from where Python gives up.
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedLine:
    """A line that is not handed on."""

    error_responses: tuple[dict[str, object], ...]
    """JSON-RPC errors to send; none for what nobody waits for."""


def read_frame(line: bytes) -> JSONRPCMessage | RejectedLine:
    """Return the message on *line*, or what to answer instead.

    Halves of characters, which JSON can hold and no file, become visible escapes.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _second_look(line)
    # With an id that is no text or whole number the SDK takes a request for a note
    # that wants no answer.
    if isinstance(message, JSONRPCNotification) and b'"id"' in line:
        given = readable_id(line)
        if given is not None:
            return _refused(INVALID_REQUEST, given, "the id is no text or whole number")
    return message


def readable_id(line: bytes) -> Id:
    """Return the id of the outermost object of *line*, however broken the rest is."""
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


def _second_look(line: bytes) -> JSONRPCMessage | RejectedLine:
    """Read with a more patient parser, or say what is wrong."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
        seen = _visible(value, 0)
    except ValueError as error:
        return _refused(PARSE_ERROR, readable_id(line), _why_not(error))
    except RecursionError:
        return _refused(PARSE_ERROR, readable_id(line), "it is nested too deeply")
    if isinstance(seen, list):
        return _batch_refused(seen)
    try:
        return jsonrpc_message_adapter.validate_python(seen, by_name=False)
    except ValidationError:
        pass
    if isinstance(seen, dict) and ("result" in seen or "error" in seen):
        return RejectedLine(
            error_responses=()
        )  # an answer of theirs; nobody waits for one to it
    return _refused(INVALID_REQUEST, _given_id(seen), "this is no JSON-RPC 2.0 request")


def _batch_refused(batch: list[object]) -> RejectedLine:
    """Return an error for every request of a batch, for each waits for an answer."""
    wrong = "batches are not part of the protocol; send one message a line"
    asking = [one for one in batch if isinstance(one, dict) and "method" in one]
    ids = [given for one in asking if (given := _given_id(one)) is not None]
    waiting: list[Id] = [*ids] or [None]
    error_responses = (
        error_response(INVALID_REQUEST, given, wrong) for given in waiting
    )
    return RejectedLine(error_responses=tuple(error_responses))


def _given_id(value: object) -> Id:
    """Return the id of a request, or nothing if it has none that can be sent back."""
    given = value.get("id") if isinstance(value, dict) else None
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    return None if isinstance(given, float) and not math.isfinite(given) else given


def _visible(value: object, depth: int) -> object:
    """Return *value* with halves of characters shown as escapes."""
    if depth > _MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", value)
    if isinstance(value, list):
        return [_visible(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {
            _visible(key, depth): _visible(one, depth + 1) for key, one in value.items()
        }
    return value


def _id_of(text: bytes) -> Id:
    """Return the id that *text* writes."""
    try:
        given = json.loads(text.decode("utf-8", "replace"))
    except ValueError:
        return None
    if isinstance(given, str):
        # An id that cannot be sent back is none.
        return None if _HALF.search(given) else given
    return given if isinstance(given, int | float) else None


def _why_not(error: ValueError) -> str:
    """Return why a line is not JSON, without quoting it."""
    if isinstance(error, json.JSONDecodeError):
        return f"this is not JSON: {error.msg} at character {error.pos}"
    return "this is not JSON: it holds a number that is too long"


def _refused(code: int, given: Id, message: str) -> RejectedLine:
    """Return the answer to a line that asked for something."""
    return RejectedLine(error_responses=(error_response(code, given, message),))
