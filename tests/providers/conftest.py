"""A server, a clock that only sleeping moves, and the two real clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.providers.ollama_embedder import connect as connect_ollama
from hivemind_memory.providers.openai_embedder import connect as connect_openai
from hivemind_memory.providers.remote import RemoteEmbedder, RequestLimits
from hivemind_memory.providers.retry_policy import RetryPolicy
from tests.support.embedding_server import EmbeddingServer

KEY = "sk-test-3f9a77c0ffee"
SECRET_TEXT = "Zanzibar vault combination"

Connect = Callable[..., RemoteEmbedder]


class Hours:
    """A clock that stands still until somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


@pytest.fixture
def hours() -> Hours:
    return Hours()


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture(params=["openai", "ollama"])
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def connect(server: EmbeddingServer, hours: Hours) -> Iterator[Connect]:
    """Yield a function that makes a real client for the server."""
    made: list[RemoteEmbedder] = []

    def make(
        provider: str,
        *,
        url: str = "",
        attempts: int = 3,
        dims: int | None = None,
        **limits: float,
    ) -> RemoteEmbedder:
        is_openai = provider == "openai"
        space = VectorSpace(
            provider=provider,
            base_url=(url or server.url) + ("/v1" if is_openai else ""),
            model="text-embedding-3-small" if is_openai else "nomic-embed-text",
        )
        bounds = RequestLimits(**{"timeout_s": 5.0, **limits})  # type: ignore[arg-type]
        retry_policy = RetryPolicy(now=hours.now, sleep=hours.sleep, attempts=attempts)
        if is_openai:
            one = connect_openai(
                space, api_key=KEY, retry_policy=retry_policy, limits=bounds, dims=dims
            )
        else:
            one = connect_ollama(
                space, retry_policy=retry_policy, limits=bounds, dims=dims
            )
        made.append(one)
        return one

    yield make
    for embedder in made:
        embedder.close()


@pytest.fixture
def embedder(provider: str, connect: Connect) -> RemoteEmbedder:
    return connect(provider)
