"""What the upper floors need from the outside, as shapes that several things fit."""

from __future__ import annotations

from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Embedder(Protocol):
    """Turns texts into vectors: OpenAI, Ollama, or a test's own."""

    @property
    def fingerprint(self) -> str:
        """Name of all that shapes a vector: provider, address, model, asked dimensions,
        prefixes, normalisation. Vectors are compared only within one fingerprint."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector for each text, in order.

        Returns:
            Little-endian float32, L2-normalised, all of the same length.

        Raises:
            EmbeddingRefusedError: The provider said no; asking again is useless.
            EmbeddingInvalidError: A vector was missing, not finite, zero, or of a length
                other than its neighbours'. None of the batch may be stored.
            EmbeddingError: It could not be reached, or not in time.
        """
        ...

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        """Return the vector of a question, as ``embed_documents`` does, within *timeout_s*
        seconds, with no second try."""
        ...


class Clock(Protocol):
    """Tells the time; tests bring their own."""

    def __call__(self) -> float:
        """Return seconds since the epoch, UTC."""
        ...
