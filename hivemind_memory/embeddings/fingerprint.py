"""Names a space of vectors: all that shapes a vector, in one short text.

Two vectors are compared only if their fingerprints are equal. So the same model behind
another spelling of the same address must have the same fingerprint (embedding twice
costs money), and anything that moves a vector another one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from hivemind_memory.embeddings.addresses import Address, parse_address
from hivemind_memory.embeddings.prefixes import choose_prefixes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.embeddings.settings import EmbeddingSettings

OPENAI_URL = "https://api.openai.com/v1"
_OLLAMA_PORT = 11434
_HASH_CHARS = 12  # 48 bits: a person has a handful of spaces
_READABLE_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """All that shapes a vector."""

    provider: str
    """openai or ollama."""

    base_url: str
    model: str
    dimensions: int = 0
    """Numbers asked for; 0: as many as the model gives."""

    document_prefix: str = ""
    query_prefix: str = ""

    @property
    def fingerprint(self) -> str:
        """Name of the space."""
        return fingerprint(
            provider=self.provider,
            base_url=self.base_url,
            model=self.model,
            dimensions=self.dimensions,
            document_prefix=self.document_prefix,
            query_prefix=self.query_prefix,
        )

    @property
    def address(self) -> Address:
        """Where the provider answers."""
        return _address(self.provider, self.base_url)

    @property
    def who(self) -> str:
        """The provider as the subject of a sentence."""
        if self.provider == "ollama":
            return f"Ollama at {self.address.place}"
        if self.address == parse_address(OPENAI_URL):
            return "OpenAI"
        return f"The embedding server at {self.address.place}"


def describe_space(settings: EmbeddingSettings, provider: str) -> Space:
    """Return the space that *settings* describe for *provider*, openai or ollama."""
    is_ollama = provider == "ollama"
    model = settings.ollama_model if is_ollama else settings.openai_model
    url = settings.ollama_url if is_ollama else settings.openai_base_url or OPENAI_URL
    prefixes = choose_prefixes(
        model, document=settings.document_prefix, query=settings.query_prefix
    )
    return Space(
        provider=provider,
        base_url=url,
        model=model,
        dimensions=0 if is_ollama else settings.openai_dimensions,
        document_prefix=prefixes.document,
        query_prefix=prefixes.query,
    )


def fingerprint(
    *,
    provider: str,
    base_url: str,
    model: str,
    dimensions: int,
    document_prefix: str,
    query_prefix: str,
) -> str:
    """Return the name of a space: what a person wants to know of it, and a hash of all.

    Vectors are always scaled to the length 1, so that is in the name as well.

    >>> fingerprint(
    ...     provider="ollama", base_url="http://localhost:11434",
    ...     model="nomic-embed-text", dimensions=0,
    ...     document_prefix="search_document: ", query_prefix="search_query: ",
    ... ).partition("#")[0]
    'ollama/nomic-embed-text@localhost:11434'
    """
    address = _address(provider, base_url)
    host = "localhost" if address.is_loopback else address.host
    if provider == "ollama":
        # Ollama reads a name without a tag as :latest.
        model = model.removesuffix(":latest")
    whole = (
        "l2",
        provider,
        address.scheme,
        host,
        address.port,
        address.path,
        model,
        dimensions,
        document_prefix,
        query_prefix,
    )
    digest = hashlib.sha256(repr(whole).encode("utf-8", "backslashreplace"))
    size = f"/{dimensions}" if dimensions else ""
    readable = f"{provider}/{model}{size}@{address._replace(host=host).place}"
    return f"{readable[:_READABLE_CHARS]}#{digest.hexdigest()[:_HASH_CHARS]}"


def _address(provider: str, base_url: str) -> Address:
    """Return where *provider* answers."""
    port = _OLLAMA_PORT if provider == "ollama" else None
    return parse_address(base_url, default_port=port)
