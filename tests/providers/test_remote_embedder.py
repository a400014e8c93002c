"""What both real clients send, and how much of it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from hivemind_memory.errors import EmbeddingRefusedError, EmbeddingTooLongError
from hivemind_memory.providers.fingerprint import VectorSpace
from hivemind_memory.providers.ollama_embedder import connect as connect_ollama
from hivemind_memory.providers.openai_embedder import connect as connect_openai
from hivemind_memory.providers.retry_policy import RetryPolicy
from tests.providers.conftest import KEY, Connect, Hours
from tests.support.embedding_server import EmbeddingServer


@pytest.fixture
def retry_policy(hours: Hours) -> RetryPolicy:
    return RetryPolicy(now=hours.now, sleep=hours.sleep)


def test_batches_are_bounded_by_count_and_by_characters(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """Providers refuse what is too much, and a lost request should not cost much."""
    embedder = connect(provider, batch_texts=4, batch_chars=100)
    texts = [f"note {number}" for number in range(9)] + ["x" * 80, "y" * 80]

    vectors = embedder.embed_documents(texts)

    assert [len(request["input"]) for request in server.requests] == [4, 4, 2, 1]
    assert server.texts == texts
    assert len(vectors) == 11


def test_no_key_of_the_environment_goes_to_a_server_that_it_is_not_for(
    server: EmbeddingServer, retry_policy: RetryPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ollama's client sends that of ollama.com to any server."""
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    space = VectorSpace(provider="ollama", model="m", base_url=server.url)
    embedder = connect_ollama(space, retry_policy=retry_policy)

    embedder.embed_documents(["a note"])
    embedder.embed_query("a query", timeout_s=5)
    embedder.close()

    assert [request["_key"] for request in server.requests] == ["", ""]


def test_a_failed_batch_does_not_send_the_ones_before_again(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """They were paid for."""
    embedder = connect(provider, batch_texts=2)
    server.script("", "500", "")

    embedder.embed_documents(["one", "two", "three"])

    assert server.texts == ["one", "two", "three", "three"]


def test_an_overlong_text_is_cut_to_the_stated_limit(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """8,000 bytes are within the 8,191 tokens of OpenAI in any script."""
    embedder = connect(provider)

    embedder.embed_documents(["é" * 20_000])

    [sent] = server.texts
    assert sent == "é" * 4_000


def test_a_text_that_is_still_too_long_is_shortened_until_it_fits(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """Ollama was told to cut by itself; some versions refuse (ollama/ollama#14186)."""
    server.longest_chars = 1_100

    connect(provider).embed_documents(["word " * 800])

    assert [len(text) for text in server.texts] == [4000, 2000, 1000]


def test_a_text_that_never_fits_ends_as_too_long(
    provider: str, server: EmbeddingServer, connect: Connect
) -> None:
    """A bound on the halving: some servers refuse everything in these words."""
    server.always = "400-long"

    with pytest.raises(EmbeddingTooLongError):
        connect(provider).embed_documents(["word " * 800])

    assert len(server.requests) == 5


def test_prefixes_are_sent_before_notes_and_questions(
    server: EmbeddingServer, retry_policy: RetryPolicy
) -> None:
    """Models that were trained with them find less without."""
    space = VectorSpace(
        provider="ollama",
        base_url=server.url,
        model="nomic-embed-text",
        document_prefix="search_document: ",
        query_prefix="search_query: ",
    )
    embedder = connect_ollama(space, retry_policy=retry_policy)

    embedder.embed_documents(["note"])
    embedder.embed_query("question", timeout_s=5)
    embedder.close()

    assert server.texts == ["search_document: note", "search_query: question"]


def test_openai_is_asked_for_floats_and_dimensions_only_if_wanted(
    server: EmbeddingServer, retry_policy: RetryPolicy
) -> None:
    """Compatible servers refuse what they do not know."""
    space = VectorSpace(provider="openai", base_url=server.openai_url, model="m")
    for asked in (space, replace(space, dimensions=16)):
        embedder = connect_openai(asked, api_key=KEY, retry_policy=retry_policy)
        embedder.embed_documents(["note"])
        embedder.close()

    plain, small = server.requests
    assert plain == {
        "input": ["note"],
        "model": "m",
        "encoding_format": "float",
        "_key": KEY,
        "_path": "/v1/embeddings",
    }
    assert small["dimensions"] == 16


def test_base64_is_understood_though_nobody_asked_for_it(
    server: EmbeddingServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some servers know nothing else."""
    embedder = connect("openai")
    plain = embedder.embed_documents(["one", "two"])
    take = server.take
    monkeypatch.setattr(
        server,
        "take",
        lambda request: take(request) or request.update(encoding_format="base64") or "",
    )

    encoded = embedder.embed_documents(["one", "two"])

    assert encoded == plain


def test_ollama_is_asked_to_cut_what_is_too_long(
    server: EmbeddingServer, connect: Connect
) -> None:
    """Its own default; older versions had another."""
    connect("ollama").embed_documents(["note"])

    assert server.requests[0]["truncate"] is True


def test_a_proxy_never_sees_what_stays_on_this_machine(
    provider: str,
    server: EmbeddingServer,
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """http_proxy is set in many offices; the notes must not take that way."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)

    vectors = connect(provider).embed_documents(["note"])

    assert len(vectors) == 1


@pytest.mark.parametrize("key", ["sk-\nx", "sk-é", "sk x"])
def test_a_key_that_cannot_be_sent_is_refused_without_repeating_it(
    key: str, retry_policy: RetryPolicy
) -> None:
    """A newline at the end of a pasted key; the library would print the header."""
    space = VectorSpace(
        provider="openai", base_url="https://api.openai.com/v1", model="m"
    )

    with pytest.raises(EmbeddingRefusedError) as caught:
        connect_openai(space, api_key=key, retry_policy=retry_policy)

    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["", "http://", "localhost", "http://a b", "http://[::1", "http://x:99999"]
)
def test_an_address_that_is_none_is_refused_before_asking(
    url: str, retry_policy: RetryPolicy
) -> None:
    """A typing error in config.json must end in a sentence, not in a traceback."""
    openai = VectorSpace(provider="openai", base_url=url, model="m")
    ollama = VectorSpace(provider="ollama", base_url=url, model="m")

    with pytest.raises(EmbeddingRefusedError, match="openai_base_url is not a usable"):
        connect_openai(openai, api_key=KEY, retry_policy=retry_policy)
    with pytest.raises(EmbeddingRefusedError, match="ollama_url is not a usable"):
        connect_ollama(ollama, retry_policy=retry_policy)


@pytest.mark.parametrize(
    "module",
    ["choose", "breaker", "fingerprint", "queue", "writing_systems", "vectors"],
)
def test_only_the_homes_import_the_slow_libraries(module: str) -> None:
    """openai takes 0.7 s, numpy 0.1 s; a cold search pays for what is imported."""
    slow = {"openai", "ollama", "httpx", "numpy", "tenacity", "pydantic"}
    code = f"import sys, hivemind_memory.providers.{module}; print(*sys.modules)"

    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert not slow & set(result.stdout.split())
