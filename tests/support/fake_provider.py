"""A provider whose embedder is a test's own, and settings for the real ones."""

from __future__ import annotations

import re
from pathlib import Path

from hivemind_memory.config.resolve import load_settings
from hivemind_memory.environment import system_clocks
from hivemind_memory.model.ports import Reranker
from hivemind_memory.providers.choose import ProviderChoice
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.providers.provider import Provider
from hivemind_memory.providers.reranking import CheckedReranker
from hivemind_memory.testing import FakeEmbedder, FakeReranker


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

    def reranker(self, *_: object) -> None:
        """None is chosen."""

    def close(self) -> None:
        """Nothing is open."""

    def take_sent(self) -> dict[str, tuple[int, int]]:
        """Nothing leaves the test."""
        return {}

    def connect(self, space: VectorSpace, *, dims: int | None = None) -> FakeEmbedder:
        return self.embedder


class RerankingProvider(Provider):
    """The provider of some settings, with a reranker of a test's own."""

    def __init__(self, home: Path, reranker: FakeReranker) -> None:
        settings = load_settings(str(home), {}, {"embedding_provider": "none"})
        clock = system_clocks().stopwatch
        super().__init__(settings, stopwatch=clock, sleep=lambda _: None)
        self._fake = CheckedReranker(reranker, clock)

    def reranker(self, *_: object) -> Reranker:
        return self._fake


def sent(texts: list[str]) -> list[str]:
    """Return texts without the model's prefixes."""
    return [re.sub(r"^(search_document|search_query): ", "", text) for text in texts]
