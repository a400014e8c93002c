"""A reranker behind a server: both shapes, every fault, and what a search does then."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hivemind_memory.config.resolve import load_settings
from hivemind_memory.environment import system_clocks
from hivemind_memory.errors import RerankError, RerankNotReadyError
from hivemind_memory.files import places
from hivemind_memory.providers import http_reranker
from hivemind_memory.providers.http_reranker import HttpReranker
from hivemind_memory.vault.vault import Vault
from tests.support.rerank_server import FAULTS, RerankServer
from tests.support.sandbox import Sandbox, ask, hits, paths

KEY = "jina_0123456789abcdef"
TEXTS = ["the backup runs at night", "lunch", "a backup at night helps at night"]


@pytest.fixture(params=["jina", "tei"])
def server(request: pytest.FixtureRequest) -> Iterator[RerankServer]:
    with RerankServer(request.param) as running:
        yield running


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Callable[..., HttpReranker]]:
    """Yield a function that makes a reranker of some options."""
    made: list[HttpReranker] = []

    def make(**options: object) -> HttpReranker:
        chosen = {"rerank_provider": "http", "rerank_model": "m", **options}
        settings = load_settings(str(tmp_path), {}, chosen)
        stopwatch = system_clocks().stopwatch
        made.append(http_reranker.connect(settings, stopwatch=stopwatch))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_scores_come_in_the_order_of_the_texts(
    server: RerankServer, connect: Callable[..., HttpReranker]
) -> None:
    """Servers send the best first."""
    one = connect(rerank_url=server.url, rerank_api_key=KEY)

    scores = one.rerank("backup at night", TEXTS, timeout_s=1.8)

    assert scores == [server.score("backup at night", text) for text in TEXTS]
    request = server.requests[-1]
    assert (request["_path"], request["_key"]) == ("/v1/rerank", KEY)
    assert (request["model"], request["query"]) == ("m", "backup at night")
    assert request["texts" if server.shape == "tei" else "documents"] == TEXTS


def test_no_secret_of_a_question_or_of_the_vault_is_sent(
    server: RerankServer,
    connect: Callable[..., HttpReranker],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A question is masked nowhere before; a text was when it was indexed."""
    one = connect(rerank_url=server.url)
    monkeypatch.setattr(places, "_vaults", {})
    places.remember_vault(str(tmp_path), "")
    Vault(str(tmp_path)).set("A", "plover-saddle", now_s=1, is_secret=True)

    one.rerank(
        "why is password=hunter2-Xq9zz refused",
        ["the plover-saddle is refused", *TEXTS],
        timeout_s=1.8,
    )

    sent = repr(server.requests[-1])
    assert "is refused" in sent
    assert "hunter2-Xq9zz" not in sent
    assert "plover-saddle" not in sent


def test_how_a_server_calls_the_texts_is_found_out_once(
    connect: Callable[..., HttpReranker],
) -> None:
    with RerankServer("tei") as server:
        one = connect(rerank_url=f"{server.url}/rerank")
        for _ in range(3):
            assert one.rerank("backup", TEXTS, timeout_s=1.8)

    assert ["texts" in request for request in server.requests] == [False, *[True] * 3]
    assert {request["_path"] for request in server.requests} == {"/v1/rerank"}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_gives_scores_or_tells_key_or_text(
    server: RerankServer, connect: Callable[..., HttpReranker], fault: str
) -> None:
    server.fault = fault
    timeout = {"rerank_timeout_s": 0.1} if fault == "slow" else {}
    if fault == "no-results" and server.shape == "tei":
        pytest.skip("a bare list has no name")
    one = connect(rerank_url=server.url, rerank_api_key=KEY, **timeout)

    with pytest.raises(RerankError) as caught:
        one.rerank("backup at night", TEXTS, timeout_s=1.8)

    told = "".join(traceback.format_exception(caught.value))
    assert KEY not in told
    assert "runs at night" not in told
    assert str(caught.value).startswith("the reranker at 127.0.0.1:")
    assert caught.value.is_failure


@pytest.mark.parametrize(
    "options", [{}, {"rerank_url": "http://h:1/v1", "rerank_api_key": "größe"}]
)
def test_without_an_address_nothing_is_asked_and_no_server_is_blamed(
    connect: Callable[..., HttpReranker], options: dict[str, object]
) -> None:
    with pytest.raises(RerankNotReadyError, match="rerank_url"):
        connect(**options).rerank("q", TEXTS, timeout_s=1.8)


FIRST = "# Ports\n\nThe staging database listens on port 5433.\n"
SECOND = "# Network\n\n## Zones\n\nThe database is in zone zz, and the port is open.\n"


@pytest.fixture
def sandbox(tmp_path: Path, server: RerankServer) -> Sandbox:
    sandbox = Sandbox(tmp_path)
    sandbox.save("first.md", FIRST)
    sandbox.save("second.md", SECOND)
    sandbox.flags = {
        "rerank_provider": "http",
        "rerank_url": server.url,
        "rerank_timeout_s": 1.8,
    }
    server.liked = "zone"
    return sandbox


def test_a_search_is_reranked_and_explains_it(
    sandbox: Sandbox, server: RerankServer
) -> None:
    with sandbox.memory(rerank_model="m") as memory:
        found = ask(memory, "database port", should_explain=True)

    assert paths(found) == ["second.md", "first.md"]
    assert found.report.warnings == ()
    [part] = [part for part in found.hits[0].parts if part.name == "reranker"]
    assert part.note == f"http m at {server.url[7:-3]}"


@pytest.mark.parametrize("fault", ["500", "missing", "slow", "cut"])
def test_a_search_keeps_its_order_when_the_server_fails(
    sandbox: Sandbox, server: RerankServer, fault: str
) -> None:
    """And says why; no longer than the server may take."""
    with sandbox.memory(rerank_provider="none") as memory:
        expected = ask(memory, "database port")
    server.fault = fault

    with sandbox.memory(rerank_timeout_s=0.1 if fault == "slow" else 1.0) as memory:
        found = ask(memory, "database port")

    assert hits(found) == hits(expected)
    [warning] = found.report.warnings
    assert warning.startswith("not reranked: the reranker at 127.0.0.1:")


def test_a_server_that_fails_is_left_alone(
    sandbox: Sandbox, server: RerankServer
) -> None:
    """After three failures no search waits for it."""
    server.fault = "500"
    with sandbox.memory() as memory:
        for _ in range(6):
            found = ask(memory, "database port")

    assert len(server.requests) == 3
    assert "it is tried again in" in found.report.warnings[0]


def test_no_secret_is_sent_to_a_server(sandbox: Sandbox, server: RerankServer) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    sandbox.save("third.md", f"The database port needs {secret} for now.\n")
    with sandbox.memory() as memory:
        ask(memory, "database port needs")

    assert server.requests
    assert secret not in repr(server.requests)
