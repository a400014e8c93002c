"""Embeds through OpenAI or a server with its API."""

from __future__ import annotations

from hivemind_memory.errors import EmbeddingRefusedError
from hivemind_memory.model.embedding_providers import provider_named
from hivemind_memory.providers import openai_wire
from hivemind_memory.providers.direct_request import DirectRequest, can_ask_directly
from hivemind_memory.providers.remote import (
    LateRequest,
    RemoteEmbedder,
    RequestLimits,
    require_address,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.providers.fingerprint import VectorSpace
    from hivemind_memory.providers.remote import EmbeddingRequest
    from hivemind_memory.providers.retry_policy import RetryPolicy

_OF_THE_LIBRARY = ("OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
"""Variables that the library turns into headers."""


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

    def open_library() -> EmbeddingRequest:
        from hivemind_memory.providers.openai_request import OpenAIRequest

        return OpenAIRequest(space, api_key)

    is_direct = can_ask_directly(space, settings_of_library=_OF_THE_LIBRARY)
    key = api_key or openai_wire.NO_KEY
    return RemoteEmbedder(
        space,
        LateRequest(open_library),
        query_request=DirectRequest(space, openai_wire, key) if is_direct else None,
        retry_policy=retry_policy,
        limits=limits,
        dims=dims,
    )
