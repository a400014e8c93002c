"""What every embedder does: the real clients, the local model, the tests' fake."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.errors import EmbeddingError, EmbeddingInvalidError
from hivemind_memory.model.ports import Embedder
from hivemind_memory.providers.vectors import count_dims, unpack
from hivemind_memory.testing import FakeEmbedder
from tests.providers.conftest import Connect
from tests.support.embedding_server import EmbeddingServer
from tests.support.tiny_model import local_provider, make_tiny_model, ready_space

TEXTS = [
    "the backup runs at night",
    "größer, Größe; 東京の天気; привет",
    "a\ud800lone surrogate and a \0",
    "🙂",
    "the backup runs at night",
]


@pytest.fixture(params=["openai", "ollama", "local", "fake"])
def any_embedder(
    request: pytest.FixtureRequest, connect: Connect, tmp_path: Path
) -> Embedder:
    if request.param == "fake":
        return FakeEmbedder(dims=24)
    if request.param == "local":
        local = local_provider(tmp_path, make_tiny_model(tmp_path / "tiny"))
        return local.connect(ready_space(local))
    return connect(request.param)


def test_each_text_gets_a_vector_of_length_1(any_embedder: Embedder) -> None:
    """The search multiplies; it neither divides nor asks again."""
    vectors = any_embedder.embed_documents(TEXTS)

    assert [count_dims(vector) for vector in vectors] == [24] * len(TEXTS)
    for vector in vectors:
        assert sum(x * x for x in unpack(vector)) == pytest.approx(1, abs=1e-5)


def test_vectors_come_in_the_order_of_the_texts(any_embedder: Embedder) -> None:
    """A vector at the wrong text is worse than none."""
    together = any_embedder.embed_documents(TEXTS)

    alone = [any_embedder.embed_documents([text])[0] for text in TEXTS]

    assert together == alone


def test_the_same_text_has_the_same_vector(any_embedder: Embedder) -> None:
    """Else the cache would change answers."""
    vectors = any_embedder.embed_documents(TEXTS)

    assert vectors[0] == vectors[-1]
    assert vectors[0] != vectors[1]


def test_a_question_has_as_many_numbers_as_a_note(any_embedder: Embedder) -> None:
    """They are multiplied with each other."""
    [note] = any_embedder.embed_documents(["the backup runs at night"])

    question = any_embedder.embed_query("when does the backup run", timeout_s=5)

    assert count_dims(question) == count_dims(note)


def test_no_texts_give_no_vectors(any_embedder: Embedder) -> None:
    """Nothing is asked for nothing."""
    assert any_embedder.embed_documents([]) == []


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_empty_text_is_refused_at_once(any_embedder: Embedder, text: str) -> None:
    """Providers answer it with an error, no vector, or a vector of nothing."""
    with pytest.raises(EmbeddingInvalidError):
        any_embedder.embed_documents(["good", text])


def test_a_question_without_time_is_not_sent(
    any_embedder: Embedder, server: EmbeddingServer
) -> None:
    """No time left is no answer, not an endless wait."""
    with pytest.raises(EmbeddingError):
        any_embedder.embed_query("when", timeout_s=0)

    assert server.requests == []


def test_the_fingerprint_is_short_and_stays(any_embedder: Embedder) -> None:
    """It is a key of the cache and is shown to people."""
    before = any_embedder.fingerprint
    any_embedder.embed_documents(["text"])

    assert any_embedder.fingerprint == before
    assert 0 < len(before) <= 80
    assert before.isprintable()
