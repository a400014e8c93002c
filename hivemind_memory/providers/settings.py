"""The settings that the providers need, wherever they come from."""

from __future__ import annotations

from typing import Protocol


class EmbeddingSettings(Protocol):
    """Options of config.json that choose a provider and shape its vectors."""

    @property
    def enabled(self) -> bool:
        """Whether the memory answers at all."""
        ...

    @property
    def embedding_provider(self) -> str:
        """auto, none, or the name of a provider."""
        ...

    @property
    def openai_base_url(self) -> str:
        """Address of a compatible server; empty: OpenAI itself."""
        ...

    @property
    def openai_model(self) -> str:
        """Model that OpenAI is asked for."""
        ...

    @property
    def openai_dimensions(self) -> int:
        """Numbers in one vector; 0: as many as the model gives."""
        ...

    @property
    def ollama_url(self) -> str:
        """Address of the Ollama server."""
        ...

    @property
    def ollama_model(self) -> str:
        """Model that Ollama is asked for."""
        ...

    @property
    def local_model(self) -> str:
        """Name of a local model, or the folder that it is in."""
        ...

    @property
    def document_prefix(self) -> str | None:
        """Text before each note; None: what the model wants."""
        ...

    @property
    def query_prefix(self) -> str | None:
        """Text before each query; None: what the model wants."""
        ...
