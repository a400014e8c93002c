"""The queue that catches up: nothing paid twice, nothing bad stored, nothing stuck."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivemind_memory.errors import (
    EmbeddingError,
    EmbeddingInvalidError,
    EmbeddingRefusedError,
)
from hivemind_memory.model.ports import Embedder, VectorStore
from hivemind_memory.providers.breaker import Breaker
from hivemind_memory.providers.queue import POISON_IN_A_ROW, EmbedQueue
from hivemind_memory.providers.vectors import count_dims, pack
from hivemind_memory.testing import FakeEmbedder
from tests.providers.conftest import Connect, Hours
from tests.support.embedding_server import EmbeddingServer

SPACE = FakeEmbedder().fingerprint


def name_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Store:
    """A ``VectorStore`` in a dictionary; knows whether a transaction is open."""

    def __init__(self, *texts: str) -> None:
        self.texts = {name_of(text): text for text in texts}
        self.cache: dict[tuple[str, str], bytes] = {}
        self.linked: set[tuple[str, str]] = set()
        self.batches: list[int] = []

    def pending_texts(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        waiting = [
            (name, text)
            for name, text in self.texts.items()
            if (fingerprint, name) not in self.linked
        ]
        return waiting[:limit]

    def count_pending(self, fingerprint: str) -> int:
        return len(self.pending_texts(fingerprint, len(self.texts)))

    def count_pending_chunks(self, fingerprint: str) -> int:
        return self.count_pending(fingerprint)

    def cached(self, fingerprint: str, hashes: Collection[str]) -> dict[str, bytes]:
        keys = [(fingerprint, name) for name in hashes]
        return {key[1]: self.cache[key] for key in keys if key in self.cache}

    def dims(self, fingerprint: str) -> int | None:
        sizes = {
            count_dims(v)
            for (space, _), v in self.cache.items()
            if space == fingerprint
        }
        assert len(sizes) <= 1
        return next(iter(sizes), None)

    def store(self, fingerprint: str, dims: int, vectors: Mapping[str, bytes]) -> None:
        assert {count_dims(vector) for vector in vectors.values()} <= {dims}
        self.batches.append(len(vectors))
        for name, vector in vectors.items():
            self.cache[fingerprint, name] = vector
            self.linked.add((fingerprint, name))


def notes(count: int) -> list[str]:
    return [f"note number {number}" for number in range(count)]


@pytest.fixture
def breaker() -> Breaker:
    return Breaker()


def queue(
    store: VectorStore, embedder: Embedder, breaker: Breaker, *, now_s: float = 0.0
) -> EmbedQueue:
    return EmbedQueue(
        store, embedder, breaker=breaker, clock=lambda: now_s, batch_texts=4
    )


class Picky(FakeEmbedder):
    """Gives no usable vector for a batch that holds a bad text."""

    def __init__(self, *bad: str) -> None:
        super().__init__()
        self.bad = bad
        self.batches: list[int] = []

    def embed_documents(self, texts: Sequence[str]) -> list[bytes]:
        self.batches.append(len(texts))
        vectors = super().embed_documents(texts)
        if any(text in self.bad for text in texts):
            message = "A vector holds a number that is not finite."
            raise EmbeddingInvalidError(message)
        return vectors


def test_every_text_gets_a_vector_in_batches(breaker: Breaker) -> None:
    """The plain case: ten texts, four at a time."""
    store, embedder = Store(*notes(10)), FakeEmbedder()

    result = queue(store, embedder, breaker).drain()

    assert (result.embedded, result.pending, result.problem) == (10, 0, "")
    assert store.batches == [4, 4, 2]
    assert len(store.cache) == 10


def test_what_was_paid_for_is_not_asked_again(breaker: Breaker) -> None:
    """A rebuild empties the index, not the cache."""
    store, embedder = Store(*notes(10)), FakeEmbedder()
    queue(store, embedder, breaker).drain()
    store.linked.clear()
    embedder.documents.clear()

    result = queue(store, embedder, breaker).drain()

    assert (result.embedded, result.from_cache, result.pending) == (0, 10, 0)
    assert embedder.documents == []


def test_the_cache_answers_while_the_provider_is_gone(breaker: Breaker) -> None:
    """No provider is needed for what is known."""
    store, embedder = Store(*notes(10)), FakeEmbedder()
    queue(store, embedder, breaker).drain()
    store.linked.clear()
    breaker.fail(0, "gone", is_refusal=True)

    result = queue(store, embedder, breaker).drain()

    assert (result.from_cache, result.pending, result.problem) == (10, 0, "")


def test_one_bad_text_does_not_keep_the_others(breaker: Breaker) -> None:
    """It is found by halving, set aside, and named."""
    store, embedder = Store(*notes(10)), Picky("note number 5")

    drained = queue(store, embedder, breaker)
    result = drained.drain()

    assert (result.embedded, result.pending) == (9, 1)
    assert result.problem == (
        "1 text has no vector and can be found by words only:"
        " A vector holds a number that is not finite."
    )
    assert list(drained.poisons) == [name_of("note number 5")]
    assert embedder.batches == [4, 4, 2, 1, 1, 2, 2]


def test_a_bad_text_is_not_asked_again_by_the_same_queue(breaker: Breaker) -> None:
    """The leader drains after every change; each try of a bad text costs."""
    store, embedder = Store(*notes(10)), Picky("note number 5")
    drained = queue(store, embedder, breaker)
    drained.drain()
    embedder.documents.clear()
    store.texts[name_of("a new note")] = "a new note"

    result = drained.drain()

    assert embedder.documents == ["a new note"]
    assert (result.embedded, result.pending) == (1, 1)


def test_a_provider_that_gives_nothing_usable_is_left_alone(breaker: Breaker) -> None:
    """Not a hundred bad texts, but one bad provider; and they are tried again later."""
    texts = notes(100)
    store, embedder = Store(*texts), Picky(*texts)

    drained = queue(store, embedder, breaker)
    result = drained.drain()

    assert (result.embedded, result.pending) == (0, 100)
    assert "not finite" in result.problem
    assert embedder.batches.count(1) == POISON_IN_A_ROW
    assert drained.poisons == {}
    assert breaker.state.failures == 1


def test_a_refusal_ends_the_run_at_once(breaker: Breaker) -> None:
    """A wrong key is wrong for all texts."""
    store, embedder = Store(*notes(10)), FakeEmbedder()
    embedder.failure = EmbeddingRefusedError("The key is wrong.", hint="Check it.")

    result = queue(store, embedder, breaker).drain()

    assert (result.embedded, result.pending) == (0, 10)
    assert result.problem == "The key is wrong. Check it."
    assert not breaker.may_ask(0)


def test_three_failures_in_a_row_end_the_run(breaker: Breaker) -> None:
    """Each has been tried again for a minute and a half already."""
    store, embedder = Store(*notes(10)), FakeEmbedder()
    embedder.failure = EmbeddingError("Ollama cannot be reached.")

    result = queue(store, embedder, breaker).drain()

    assert len(embedder.documents) == 12
    assert result.problem == "Ollama cannot be reached."
    assert not breaker.may_ask(0)


def test_an_open_breaker_is_the_reason(breaker: Breaker) -> None:
    """Nobody is asked, and the person is told until when."""
    store, embedder = Store(*notes(3)), FakeEmbedder()
    breaker.fail(0, "Ollama cannot be reached.", is_refusal=True)

    result = queue(store, embedder, breaker, now_s=10).drain()

    assert embedder.documents == []
    assert result.problem == "Ollama cannot be reached; it is tried again in 50 s."


def test_an_answer_closes_the_breaker(breaker: Breaker) -> None:
    """The first run after the minute finds out for everybody."""
    breaker.fail(0, "gone", is_refusal=True)

    queue(Store(*notes(3)), FakeEmbedder(), breaker, now_s=60).drain()

    assert breaker.may_ask(60)
    assert breaker.state.failures == 0


def test_vectors_of_another_length_than_the_space_are_not_stored(
    breaker: Breaker,
) -> None:
    """Somebody put another model behind the same name."""
    store = Store(*notes(10))
    queue(store, FakeEmbedder(dims=64), breaker).drain()
    store.texts[name_of("new")] = "new"
    before = dict(store.cache)

    result = queue(store, FakeEmbedder(dims=32), breaker).drain()

    assert store.cache == before
    assert result.pending == 1
    assert "vectors of 32 numbers; before it was 64" in result.problem


def test_a_cached_vector_of_another_length_is_asked_anew(breaker: Breaker) -> None:
    """A damaged row of the cache costs one request, not the run."""
    store, embedder = Store(*notes(3)), FakeEmbedder(dims=64)
    queue(store, embedder, breaker).drain()
    store.linked.clear()
    kept = store.cached
    store.cached = lambda space, names: (
        kept(space, names)
        | {  # type: ignore[method-assign]
            name_of("note number 1"): pack([1.0, 2.0])
        }
    )

    result = queue(store, embedder, breaker).drain()

    assert (result.embedded, result.from_cache, result.pending) == (1, 2, 0)


def test_progress_counts_up_to_the_total(breaker: Breaker) -> None:
    """What a person watches has to arrive."""
    seen: list[tuple[int, int]] = []
    store = Store(*notes(10))

    queue(store, Picky("note number 5"), breaker).drain(
        progress=lambda done, total: seen.append((done, total))
    )

    assert seen == sorted(seen)
    assert seen[-1] == (10, 10)


def test_progress_is_told_before_the_first_answer(breaker: Breaker) -> None:
    """Until the provider answers, "indexing 1/1, 0 s left" is not true."""
    seen: list[tuple[int, int]] = []
    embedder = FakeEmbedder()
    embed = embedder.embed_documents

    def embed_late(texts: Sequence[str]) -> list[bytes]:
        assert seen == [(0, 4)]
        return embed(texts)

    embedder.embed_documents = embed_late  # type: ignore[method-assign]

    queue(Store(*notes(4)), embedder, breaker).drain(
        progress=lambda done, total: seen.append((done, total))
    )

    assert seen == [(0, 4), (4, 4)]


def test_it_stops_between_batches_when_asked(breaker: Breaker) -> None:
    """A process that ends, or is no longer the leader."""
    store = Store(*notes(10))

    result = queue(store, FakeEmbedder(), breaker).drain(
        should_stop=lambda: len(store.cache) >= 4
    )

    assert (result.embedded, result.pending) == (4, 6)


def test_a_store_that_forgets_does_not_make_it_run_forever(breaker: Breaker) -> None:
    """A note that vanished while its text was embedded, or a defect."""
    store, embedder = Store(*notes(3)), FakeEmbedder()
    store.store = lambda *_: None  # type: ignore[method-assign,assignment]

    result = queue(store, embedder, breaker).drain()

    assert len(embedder.documents) == 3
    assert result.pending == 3


@given(
    count=st.integers(0, 30),
    bad=st.sets(st.integers(0, 29), max_size=6),
    crashes=st.lists(st.integers(1, 20), max_size=4),
)
def test_crashes_cost_nothing_twice(
    count: int, bad: set[int], crashes: list[int]
) -> None:
    """After any number of crashes every good text has a vector, each paid once."""
    texts = notes(count)
    store = Store(*texts)
    paid: list[str] = []
    for steps in [*crashes, 10_000]:
        embedder = Picky(*(f"note number {number}" for number in bad))
        left = iter(range(steps))
        queue(store, embedder, Breaker()).drain(
            should_stop=lambda left=left: next(left, None) is None
        )
        paid += [text for text in embedder.documents if text not in embedder.bad]

    expected = {name_of(text) for n, text in enumerate(texts) if n not in bad}
    assert {name for _, name in store.cache} == expected
    if not bad:
        assert sorted(paid) == sorted(texts)


@pytest.mark.parametrize("fault", ["429", "500", "cut", "reset", "503"])
def test_a_provider_with_bad_moments_costs_time_only(
    fault: str, provider: str, server: EmbeddingServer, connect: Connect, hours: Hours
) -> None:
    """With the real clients: every text arrives, none is stored twice."""
    store = Store(*notes(20))
    server.script("", fault, "", fault, fault)
    drained = EmbedQueue(
        store, connect(provider), breaker=Breaker(), clock=hours.now, batch_texts=4
    )

    result = drained.drain()

    assert (result.embedded, result.pending, result.problem) == (20, 0, "")
    assert len(hours.slept) == 3
    assert server.stats() == {"requests": 8, "texts": 32, "distinct_texts": 20}


def test_a_text_that_a_real_server_spoils_is_set_aside(
    provider: str, server: EmbeddingServer, connect: Connect, hours: Hours
) -> None:
    """NaN for one text of a batch is a known defect of several servers."""
    server.poison = "number 7"
    store = Store(*notes(20))
    drained = EmbedQueue(
        store, connect(provider), breaker=Breaker(), clock=hours.now, batch_texts=8
    )

    result = drained.drain()

    assert (result.embedded, result.pending) == (19, 1)
    assert list(drained.poisons) == [name_of("note number 7")]


def test_texts_too_long_for_a_real_server_are_shortened_alone(
    provider: str, server: EmbeddingServer, connect: Connect, hours: Hours
) -> None:
    """The short ones of the batch keep their whole text, the long one half of it."""
    server.longest_chars = 1_000
    store = Store(*notes(3), "long " * 300)
    drained = EmbedQueue(
        store, connect(provider), breaker=Breaker(), clock=hours.now, batch_texts=8
    )

    result = drained.drain()

    assert (result.embedded, result.pending, result.problem) == (4, 0, "")
    assert server.texts[-1] == "long " * 150
