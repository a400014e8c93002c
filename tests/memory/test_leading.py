"""The leader holds a local model for the other processes of the memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hivemind_memory.memory.leading import LeadingMemory
from hivemind_memory.providers import local_host, local_model
from hivemind_memory.providers.local_weights import (
    find_weights,
    read_measured,
    record_measured,
)
from tests.support.sandbox import Sandbox, ask
from tests.support.tiny_model import local_provider, make_tiny_model


@pytest.fixture(autouse=True)
def no_host() -> Iterator[None]:
    """What one test serves, the next one does not find."""
    yield
    local_host.stop_serving()


def go_on() -> bool:
    return False


def forget_model(sandbox: Sandbox, *, load_s: float) -> None:
    """Make this process one that has not loaded the model, which took so long."""
    local_model._models.clear()
    models = sandbox.places.models
    weights = find_weights(str(sandbox.flags["local_model"]), models)
    assert not isinstance(weights, str)
    measured = read_measured(weights, models)
    assert measured is not None
    record_measured(weights, models, measured._replace(load_s=load_s))


def choose_tiny(sandbox: Sandbox) -> None:
    """Choose a tiny model, in a memory with one note."""
    folder = make_tiny_model(sandbox.home / "tiny")
    sandbox.flags = {"embedding_provider": "local", "local_model": str(folder)}
    sandbox.provider = local_provider(sandbox.home, folder)
    sandbox.save("ports.md", "The staging database listens on port 5433.\n")


def test_a_search_uses_the_model_of_the_leader_and_words_without_one(
    sandbox: Sandbox,
) -> None:
    """No search waits for a slow model, and the provider is not blamed for that."""
    choose_tiny(sandbox)
    with sandbox.memory() as leader:
        leader.sync()
        assert LeadingMemory(leader).embed_pending(should_stop=go_on).embedded == 1
    forget_model(sandbox, load_s=30.0)

    with sandbox.memory() as memory:
        assert ask(memory, "staging database").report.mode == "hybrid"
        assert local_model._models == {}
        local_host.stop_serving()
        for question in ("staging", "database", "listens", "port"):
            report = ask(memory, question).report
            assert report.mode == "keyword"
            assert "longer than a search waits" in report.reason
        assert memory.status(should_ask=True).vectors_problem == ""
        # Not even the breaker, which opens after three failures.
        forget_model(sandbox, load_s=0.1)
        assert ask(memory, "staging port").report.mode == "hybrid"


def test_a_leader_without_a_local_model_serves_nothing(sandbox: Sandbox) -> None:
    """Nor does one whose weights hold no model."""
    choose_tiny(sandbox)
    (sandbox.home / "tiny/model.onnx").write_bytes(b"no model")
    with sandbox.memory() as memory:
        memory.sync()
        result = LeadingMemory(memory).embed_pending(should_stop=go_on)
    with sandbox.memory(embedding_provider="none") as memory:
        LeadingMemory(memory).embed_pending(should_stop=go_on)

    assert "cannot be used" in result.problem
    assert local_host._hosts == {}


def test_a_new_model_is_served_instead_of_the_old_one(sandbox: Sandbox) -> None:
    choose_tiny(sandbox)
    with sandbox.memory() as memory:
        memory.sync()
        leading = LeadingMemory(memory)
        leading.embed_pending(should_stop=go_on)
        [before] = local_host._hosts
        make_tiny_model(sandbox.home / "tiny", seed=8)

        assert leading.embed_pending(should_stop=go_on).embedded == 1

        [after] = local_host._hosts
        assert after != before
        assert ask(memory, "staging database").report.mode == "hybrid"
