"""Embeds through an Ollama server."""

from __future__ import annotations

from hivemind_memory.providers import ollama_wire
from hivemind_memory.providers.addresses import is_of_ollama
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

_OF_THE_LIBRARY = ("OLLAMA_API_KEY",)
"""Variables that the library turns into headers, for Ollama's own service."""


def connect(
    space: VectorSpace,
    *,
    api_key: str = "",  # noqa: ARG001 - Ollama wants none
    retry_policy: RetryPolicy,
    limits: RequestLimits | None = None,
    dims: int | None = None,
) -> RemoteEmbedder:
    """Return an embedder for *space*; see ``RemoteEmbedder``.

    Raises:
        EmbeddingRefusedError: The address is none.
    """
    limits = limits or RequestLimits()
    require_address(space)
    timeout_s = limits.timeout_s

    def open_library() -> EmbeddingRequest:
        from hivemind_memory.providers.ollama_request import OllamaRequest

        return OllamaRequest(space, timeout_s)

    settings = _OF_THE_LIBRARY if is_of_ollama(space.address) else ()
    is_direct = can_ask_directly(space, settings_of_library=settings)
    return RemoteEmbedder(
        space,
        LateRequest(open_library),
        query_request=DirectRequest(space, ollama_wire) if is_direct else None,
        retry_policy=retry_policy,
        limits=limits,
        dims=dims,
    )
