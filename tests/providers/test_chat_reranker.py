"""The language model as a reranker: both wires, every fault, counted and bounded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from hivemind_memory.config.resolve import load_settings
from hivemind_memory.environment import system_clocks
from hivemind_memory.errors import (
    RerankError,
    RerankNotReadyError,
    StateUnusableError,
)
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import Query
from hivemind_memory.providers import chat_reranker
from hivemind_memory.providers.chat_reranker import ChatReranker
from hivemind_memory.state.open import COUNT_WAIT_MS
from hivemind_memory.state.state_file import StateFile
from tests.support.chat_server import (
    HARMLESS,
    REPLY_FAULTS,
    STATUSES,
    WIRE_FAULTS,
    ChatServer,
)
from tests.support.rerank_server import RerankServer
from tests.support.sandbox import Sandbox, ask

TEXTS = ["lunch is at noon", "the backup runs at night", "a backup"]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        running.reply = by_length
        yield running


def by_length(request: dict[str, Any]) -> dict[str, object]:
    """Score a text by how long it is, the last text first."""
    texts = json.loads(request["messages"][-1]["content"])["texts"]
    rows = [{"index": row["index"], "score": len(row["text"])} for row in texts]
    return {"results": rows[::-1]}


def options(server: ChatServer, provider: str = "openai") -> dict[str, object]:
    return {
        "rerank_provider": "chat",
        "llm_provider": provider,
        "llm_model": "m",
        "llm_base_url": server.url_for(provider),
        "rerank_timeout_s": 0.8,
    }


def connect(tmp_path: Path, chosen: dict[str, object], left: int = 9) -> ChatReranker:
    counted = iter([0.0] * left)
    return chat_reranker.connect(
        load_settings(str(tmp_path), {}, chosen),
        stopwatch=system_clocks().stopwatch,
        take_request=lambda: next(counted, 3_600.0),
    )


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_scores_come_in_the_order_of_the_texts(
    tmp_path: Path, server: ChatServer, provider: str
) -> None:
    one = connect(tmp_path, options(server, provider))

    assert one.rerank("backup", TEXTS, timeout_s=1.8) == list(map(len, TEXTS))

    assert not server.strays
    one.close()


@pytest.mark.parametrize("fault", HARMLESS)
def test_what_is_only_around_the_scores_is_passed_over(
    tmp_path: Path, server: ChatServer, fault: str
) -> None:
    """As in a job: a text in parts was no text for the reranker alone."""
    server.always = fault
    reranker = connect(tmp_path, options(server))

    assert reranker.rerank("backup", TEXTS, timeout_s=1.8) == list(map(len, TEXTS))

    reranker.close()


def test_a_model_of_ollama_has_room_for_all_texts_and_does_not_think_first(
    tmp_path: Path, server: ChatServer
) -> None:
    """It cut the first texts off, and thought for longer than a search waits."""
    texts = [f"{number} {'x' * 1_000}" for number in range(20)]
    reranker = connect(tmp_path, options(server, "ollama"))

    reranker.rerank("backup", texts, timeout_s=1.8)

    [request] = server.requests
    assert request["options"]["num_ctx"] == 12_288
    assert request["think"] is False
    reranker.close()


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@pytest.mark.parametrize(
    "fault", [*STATUSES, *(f for f in WIRE_FAULTS if f != "drip"), *REPLY_FAULTS]
)
def test_a_fault_is_an_error_that_tells_no_text(
    tmp_path: Path, server: ChatServer, fault: str, provider: str
) -> None:
    one = connect(tmp_path, {**options(server, provider), "rerank_timeout_s": 0.2})
    server.script(fault)

    with pytest.raises(RerankError) as caught:
        one.rerank("a secret query", TEXTS, timeout_s=1.8)

    assert str(caught.value).startswith("the language model at 127.0.0.1")
    assert "secret" not in str(caught.value)
    one.close()


@pytest.mark.parametrize(
    "rows",
    [
        [{"index": 0, "score": 1}, {"index": 0, "score": 1}, {"index": 1, "score": 1}],
        [{"index": 0, "score": 1}, {"index": 1, "score": 1}],
        [{"index": at, "score": 1} for at in (0, 1, 2, 3)],
        [{"index": at, "score": "high"} for at in (0, 1, 2)],
        "none",
    ],
)
def test_a_reply_without_one_score_for_each_text_counts_for_nothing(
    tmp_path: Path, server: ChatServer, rows: object
) -> None:
    one = connect(tmp_path, options(server))
    server.reply = lambda _: {"results": rows}

    with pytest.raises(RerankError, match="one score for each text"):
        one.rerank("backup", TEXTS, timeout_s=1.8)
    one.close()


def test_no_request_is_sent_when_those_of_the_day_are_used(
    tmp_path: Path, server: ChatServer
) -> None:
    one = connect(tmp_path, options(server), left=1)
    one.rerank("backup", TEXTS, timeout_s=1.8)

    with pytest.raises(RerankNotReadyError, match="llm_calls_per_day"):
        one.rerank("backup", TEXTS, timeout_s=1.8)

    assert len(server.requests) == 1
    one.close()


def test_without_a_language_model_it_is_not_ready(tmp_path: Path) -> None:
    one = connect(tmp_path, {"rerank_provider": "chat"})

    with pytest.raises(RerankNotReadyError, match="llm_provider"):
        one.rerank("backup", TEXTS, timeout_s=1.8)


def test_a_search_is_reranked_and_explained(tmp_path: Path, server: ChatServer) -> None:
    sandbox = Sandbox(tmp_path / "home", flags=options(server))
    sandbox.save("a.md", "The backup runs.\n")
    sandbox.save("b.md", "The backup runs, " + "slowly " * 20 + "and at night.\n")
    with sandbox.memory() as memory:
        answer = memory.search(Query(text="backup runs", should_explain=True))

    [longer] = [hit for hit in answer.hits if hit.path == "b.md"]
    [part] = [part for part in longer.parts if part.name == "reranker"]
    assert part.value > 0
    with sandbox.memory() as memory:
        server.always = "slow"
        answer = memory.search(Query(text="backup runs"))
    assert any("not reranked" in warning for warning in answer.report.warnings)


@pytest.mark.parametrize("wire", ["chat", "http"])
def test_a_search_does_not_wait_for_a_state_that_is_locked(
    tmp_path: Path, server: ChatServer, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took five seconds, and with the language model it failed."""
    waits_ms: list[int] = []
    run = StateFile.run

    def counted(
        state: StateFile, work: Callable[..., object], wait_ms: int = COUNT_WAIT_MS
    ) -> object:
        try:
            return run(state, work, wait_ms)
        except StateUnusableError:
            waits_ms.append(wait_ms)
            raise

    monkeypatch.setattr(StateFile, "run", counted)
    with RerankServer() as other:
        other.fault = "500"  # which is to be remembered
        chosen = options(server) | {"rerank_provider": wire, "rerank_url": other.url}
        sandbox = Sandbox(tmp_path / "home", flags=chosen)
        sandbox.save("a.md", "The backup runs.\n")
        sandbox.save("b.md", "The backup runs at night.\n")
        with sandbox.memory() as memory:
            ask(memory, "backup")
            lock = apsw.Connection(memory.state().path)
            lock.execute("BEGIN IMMEDIATE")
            answer = ask(memory, "backup runs")
            lock.close()

    assert len(answer.hits) == 2
    assert "not reranked" in str(answer.report.warnings)
    assert waits_ms
    assert sum(waits_ms) < 1_000


def test_what_failed_in_other_processes_rests_in_this_one(tmp_path: Path) -> None:
    """Each separate search waited 0.8 s for a server that hangs."""
    with RerankServer() as server:
        server.fault = "slow"
        chosen = {
            "rerank_provider": "http",
            "rerank_url": server.url,
            "rerank_timeout_s": 0.1,
        }
        sandbox = Sandbox(tmp_path / "home", flags=chosen)
        sandbox.save("a.md", "The backup runs.\n")
        sandbox.save("b.md", "The backup runs at night.\n")
        for _ in range(5):
            with sandbox.memory() as memory:
                answer = ask(memory, "backup")
            assert len(answer.hits) == 2
        asked = len(server.requests)
        assert asked == 3
        assert "tried again in" in str(answer.report.warnings)
        sandbox.ahead_s += 61
        server.fault = ""
        with sandbox.memory() as memory:
            assert not reasons(memory)
        sandbox.flags["rerank_model"] = "another"
        with sandbox.memory() as memory:
            assert not reasons(memory)


def reasons(memory: Memory) -> list[str]:
    """Return why a search is not reranked."""
    warnings = ask(memory, "backup").report.warnings
    return [warning for warning in warnings if "not reranked" in warning]
