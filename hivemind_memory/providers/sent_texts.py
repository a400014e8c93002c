"""Counts what embedding providers get: how many texts, and how many characters."""

from __future__ import annotations

import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.model.ports import Embedder


class SentTexts:
    """What providers got since it was last taken. Threads share it."""

    def __init__(self) -> None:
        """Count from zero."""
        self._lock = threading.Lock()
        self._sent: dict[str, tuple[int, int]] = {}

    def add(self, provider: str, texts: Sequence[str]) -> None:
        """Count texts that a provider has made vectors of."""
        with self._lock:
            count, characters = self._sent.get(provider, (0, 0))
            characters += sum(map(len, texts))
            self._sent[provider] = count + len(texts), characters

    def take(self) -> dict[str, tuple[int, int]]:
        """Return the provider and its model -> (texts, characters); count from zero."""
        if not self._sent:
            return {}
        with self._lock:
            sent, self._sent = self._sent, {}
        return sent


class CountedEmbedder:
    """An embedder whose answered texts are counted."""

    def __init__(self, embedder: Embedder, provider: str, sent: SentTexts) -> None:
        """Take the embedder, the name under which it counts, and where."""
        self._embedder = embedder
        self._provider = provider
        self._sent = sent

    @property
    def fingerprint(self) -> str:
        """Name of its space."""
        return self._embedder.fingerprint

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector for each text; see ``Embedder``."""
        vectors = self._embedder.embed_documents(texts)
        self._sent.add(self._provider, texts)
        return vectors

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        """Return the vector of a question; see ``Embedder``."""
        vector = self._embedder.embed_query(text, timeout_s=timeout_s)
        self._sent.add(self._provider, (text,))
        return vector

    def close(self) -> None:
        """Close the embedder."""
        self._embedder.close()
