"""Embeds through OpenAI or a server with its API. The only module that imports openai.

Import it only when OpenAI is chosen: the library takes 0.7 s.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import struct

import openai

from hivemind_memory.errors import EmbeddingRefusedError
from hivemind_memory.model.embedding_providers import provider_named
from hivemind_memory.providers.addresses import parse_address
from hivemind_memory.providers.errors import (
    explain_bad_answer,
    explain_no_answer,
    explain_status,
    explain_timeout,
)
from hivemind_memory.providers.remote import (
    RemoteEmbedder,
    RequestLimits,
    require_address,
    transport_of,
)
from hivemind_memory.providers.vectors import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.providers.fingerprint import VectorSpace
    from hivemind_memory.providers.retry import RetryPolicy


_LOGGER = logging.getLogger("openai")
if _LOGGER.level == logging.NOTSET:
    # Version 2 logs whole requests as details, and notes do not belong in a log.
    _LOGGER.setLevel(logging.INFO)

_NO_KEY = "none"  # local servers want no key; the client wants one


def connect(
    space: VectorSpace,
    *,
    api_key: str,
    retry_policy: RetryPolicy,
    limits: RequestLimits | None = None,
    dims: int | None = None,
) -> RemoteEmbedder:
    """Return an embedder for *space*; see ``RemoteEmbedder``.

    Args:
        space: Address, model, dimensions and prefixes.
        api_key: The key; empty for a server that wants none.
        retry_policy: How often and how long to ask again.
        limits: What goes into one request.
        dims: Numbers that a vector of this space has; None: not known yet.

    Raises:
        EmbeddingRefusedError: The address is none, or the key cannot be one.
    """
    require_address(space)
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        message = f"The key for {space.who} contains characters that no key has."
        hint = provider_named(space.provider).key_hint
        raise EmbeddingRefusedError(message, hint=hint)
    request = _OpenAIRequest(space, api_key)
    return RemoteEmbedder(
        space, request, retry_policy=retry_policy, limits=limits, dims=dims
    )


class _OpenAIRequest:
    """Sends one request."""

    def __init__(self, space: VectorSpace, api_key: str) -> None:
        self._space = space
        self._client = openai.OpenAI(
            api_key=api_key or _NO_KEY,
            base_url=space.base_url,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(**transport_of(space)),
        )
        if space.address != parse_address(provider_named(space.provider).default_url):
            # From the environment, by the client: none of other people's business.
            self._client.organization = None
            self._client.project = None

    def __call__(self, texts: Sequence[str], *, timeout_s: float) -> list[bytes]:
        """Return one packed vector for each text, in order."""
        space = self._space
        try:
            # Raw: the client's own parsing passes over what it does not understand.
            answer = self._client.embeddings.with_raw_response.create(
                input=list(texts),
                model=space.model,
                encoding_format="float",
                dimensions=space.dimensions or openai.omit,
                timeout=timeout_s,
            )
            body = answer.content
        # From None, all of them: what the library says may hold the key or the text.
        except openai.APITimeoutError:
            raise explain_timeout(space, timeout_s) from None
        except openai.APIConnectionError:
            raise explain_no_answer(space) from None
        except openai.APIStatusError as error:
            raise explain_status(
                space,
                error.status_code,
                body=error.message,
                code=error.code or "",
                headers=dict(error.response.headers),
            ) from None
        except openai.OpenAIError:
            raise explain_bad_answer(space, "in a form that cannot be read") from None
        return [pack(values) for values in _read_vectors(space, body)]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _read_vectors(space: VectorSpace, body: bytes) -> list[Sequence[float]]:
    """Return the vectors of an answer in the order of the texts."""
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
