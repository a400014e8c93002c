"""A provider that moves to another address keeps its vectors, if it is the same one.

Real servers in processes of their own, on two ports.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from benchmarks.embedding_server import DIMENSIONS, running_server, texts_sent
from hivemind_memory.memory.moved_spaces import MOVED
from hivemind_memory.model.results import EmbedResult
from tests.support.embedding_server import EmbeddingServer
from tests.support.sandbox import Sandbox, ask

Flags = dict[str, object]
PROBES = 3


def openai(address: str, **more: object) -> Flags:
    return {
        "embedding_provider": "openai",
        "openai_api_key": "k",
        "openai_base_url": f"{address}/v1",
        **more,
    }


def ollama(address: str, **more: object) -> Flags:
    return {"embedding_provider": "ollama", "ollama_url": address, **more}


@pytest.fixture(params=[openai, ollama], ids=["openai", "ollama"])
def provider(request: pytest.FixtureRequest) -> Callable[..., Flags]:
    """The two ways to speak to a server."""
    chosen: Callable[..., Flags] = request.param
    return chosen


@pytest.fixture
def servers() -> Iterator[tuple[str, str]]:
    """The addresses of two servers with the same model."""
    with running_server() as first, running_server() as second:
        yield first, second


def embed(sandbox: Sandbox, flags: Flags) -> EmbedResult:
    """Update the index and its vectors, as ``hm sync`` does."""
    with sandbox.memory(**flags) as memory:
        memory.sync()
        return memory.embed_pending()


@pytest.fixture
def notes(sandbox: Sandbox) -> Sandbox:
    """Forty notes."""
    for number in range(40):
        sandbox.save(f"{number}.md", f"# Note {number}\n\nA fact about {number}.\n")
    sandbox.save("ports.md", "The staging database listens on port 5433.\n")
    return sandbox


def test_a_server_that_moved_keeps_its_vectors(
    notes: Sandbox, servers: tuple[str, str], provider: Callable[..., Flags]
) -> None:
    """Each one was paid for, and the move says nothing about the model."""
    old, new = servers
    paid = embed(notes, provider(old))
    assert (paid.pending, paid.problem) == (0, "")
    before = texts_sent(old)

    with notes.memory(**provider(new)) as memory:
        untold = ask(memory, "staging databases").report.reason
        moved = memory.embed_pending()
        sent = texts_sent(new)
        answer = ask(memory, "staging databases")
        status = memory.status()
        memory.rebuild()
        rebuilt = ask(memory, "staging databases")

    assert untold == MOVED
    assert (moved.embedded, moved.pending, moved.problem) == (0, 0, "")
    assert 0 < sent <= PROBES
    assert texts_sent(old) == before
    assert (status.vectors, status.pending_vectors) == (41, 0)
    for report in (answer.report, rebuilt.report):
        assert (report.mode, report.pending_vectors) == ("hybrid", 0)


def test_new_notes_of_a_moved_server_join_the_old_vectors(
    notes: Sandbox, servers: tuple[str, str]
) -> None:
    """And whoever moves back finds all of them."""
    old, new = servers
    embed(notes, ollama(old))
    embed(notes, ollama(new))
    notes.save("new.md", "The wombat is new.\n")

    added = embed(notes, ollama(new))
    back = embed(notes, ollama(old))

    assert (added.embedded, added.pending) == (1, 0)
    assert (back.embedded, back.pending) == (0, 0)
    with notes.memory(**ollama(old)) as memory:
        assert ask(memory, "wombat").report.mode == "hybrid"


@pytest.mark.parametrize("dims", [24, DIMENSIONS])
def test_another_model_under_the_same_name_is_a_space_of_its_own(
    notes: Sandbox, servers: tuple[str, str], dims: int
) -> None:
    """Its vectors would be compared with what they have nothing to do with."""
    embed(notes, ollama(servers[0]))
    with EmbeddingServer(dims=dims) as other:
        embedded = embed(notes, ollama(other.url))
        with notes.memory(**ollama(other.url)) as memory:
            report = ask(memory, "staging database").report

    assert (embedded.embedded, embedded.pending) == (41, 0)
    assert (report.mode, report.pending_vectors) == ("hybrid", 0)


@pytest.mark.parametrize(
    "more", [{"openai_model": "other"}, {"document_prefix": "passage: "}]
)
def test_what_shapes_a_vector_still_makes_a_space(
    notes: Sandbox, servers: tuple[str, str], more: Flags
) -> None:
    """The address alone may differ."""
    old, new = servers
    embed(notes, openai(old))

    embedded = embed(notes, openai(new, **more))

    assert embedded.embedded == 41


def test_a_server_that_moved_away_is_named_as_the_reason(
    notes: Sandbox, servers: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`no vectors yet` was said of a memory with all of them."""
    embed(notes, ollama(servers[0]))
    nobody = "http://127.0.0.1:9"
    # It is asked again at once.
    monkeypatch.setattr(time, "sleep", lambda _: None)

    failed = embed(notes, ollama(nobody))
    with notes.memory(**ollama(nobody)) as memory:
        report = ask(memory, "staging database").report

    assert "127.0.0.1:9" in failed.problem
    assert report.mode == "keyword"
    assert failed.problem in report.reason
    with notes.memory(**ollama(servers[1])) as memory:
        assert ask(memory, "staging database").report.reason == MOVED
