"""The wire of OpenAI and of servers with its API: what is sent, and what comes back."""

from __future__ import annotations

import base64
import binascii
import json
import struct

from hivemind_memory.providers.errors import explain_bad_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.providers.fingerprint import VectorSpace

PATH = "/embeddings"
NO_KEY = "none"
"""Sent for an empty key: local servers want none, and OpenAI's client wants one."""


def write_request(space: VectorSpace, texts: Sequence[str]) -> dict[str, object]:
    """Return what is asked, before it becomes JSON.

    Args:
        space: What the vectors are for.
        texts: What to embed.
    """
    request: dict[str, object] = {
        "input": list(texts),
        "model": space.model,
        "encoding_format": "float",
    }
    if space.dimensions:
        request["dimensions"] = space.dimensions
    return request


def read_error(body: bytes) -> tuple[str, str]:
    """Return (message, code) of a refusal; empty where it has none."""
    try:
        error = json.loads(body)["error"]
        code = error.get("code")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return body.decode("utf-8", "replace"), ""
    return str(error.get("message", "")), code if isinstance(code, str) else ""


def read_vectors(space: VectorSpace, body: bytes) -> list[Sequence[float]]:
    """Return the vectors of an answer in the order of the texts.

    Raises:
        EmbeddingInvalidError: It holds something else.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise explain_bad_answer(space, "not with JSON") from None
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise explain_bad_answer(space, "not with a list of vectors")
    indexes = [row.get("index") for row in data]
    if any(index is not None for index in indexes):
        # The order is not promised, the index is.
        if not all(type(index) is int for index in indexes) or sorted(indexes) != list(
            range(len(data))
        ):
            raise explain_bad_answer(space, "with vectors that belong to no text")
        data = sorted(data, key=lambda row: row["index"])
    return [_read_vector(space, row.get("embedding")) for row in data]


def _read_vector(space: VectorSpace, value: object) -> Sequence[float]:
    """Return one vector: a list, or base64 from a server that sends it unasked."""
    if isinstance(value, list):
        return value
    if not isinstance(value, str):
        raise explain_bad_answer(space, "with something other than a vector")
    try:
        data = base64.b64decode(value, validate=True)
        return struct.unpack(f"<{len(data) // 4}f", data)
    except (binascii.Error, ValueError, struct.error):
        raise explain_bad_answer(space, "with a truncated vector") from None
