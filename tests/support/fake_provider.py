"""A provider whose embedder is a test's own, and settings for the real ones."""

from __future__ import annotations

import re

from hivemind_memory.providers.choose import ProviderChoice
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.testing import FakeEmbedder


class FakeProvider:
    """Chooses one embedder, without a network."""

    is_off = False
    is_certainly_absent = False
    batch_texts = 8

    def __init__(self, embedder: FakeEmbedder, model: str = "fake") -> None:
        self.embedder = embedder
        self._space = VectorSpace(
            provider="ollama", base_url="http://localhost", model=model
        )
        embedder._fingerprint = self._space.fingerprint

    def choice(self) -> ProviderChoice:
        return ProviderChoice("ollama", "a test chose it.")

    def prepare(self) -> str:
        return ""

    def may_use(self, name: str) -> bool:
        return name == self._space.provider

    def why_none_is_named(self) -> str:
        return ""

    def named_space(self) -> VectorSpace:
        return self._space

    def space(self) -> VectorSpace:
        return self._space

    def connect(self, space: VectorSpace, *, dims: int | None = None) -> FakeEmbedder:
        return self.embedder


def sent(texts: list[str]) -> list[str]:
    """Return texts without the model's prefixes."""
    return [re.sub(r"^(search_document|search_query): ", "", text) for text in texts]
