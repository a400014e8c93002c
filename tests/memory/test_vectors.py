"""The vector side of a memory, against a real server with scripted faults."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from math import isfinite, sqrt

import apsw
import pytest

from hivemind_memory import opening
from hivemind_memory.memory import embed
from hivemind_memory.memory.embed import (
    MIN_QUERY_TIMEOUT_S,
    embed_query,
)
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import ANSWER_TIMEOUT_S, Query
from hivemind_memory.providers.vectors import unpack
from hivemind_memory.testing import FakeEmbedder
from tests.support.embedding_server import VECTOR_FAULTS, EmbeddingServer
from tests.support.fake_provider import FakeProvider
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths
from tests.support.tiers import mostly_thorough
from tests.support.waiting import HANG_S, wait_until

KEY = "sk-test-5f1c0de5ecret"
MODEL = "text-embedding-3-small"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A provider is asked again at once; after which pauses it would be, is kept."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def openai(server: EmbeddingServer, **flags: object) -> dict[str, object]:
    return {
        "embedding_provider": "openai",
        "openai_base_url": server.openai_url,
        "openai_api_key": KEY,
        **flags,
    }


def ollama(server: EmbeddingServer, **flags: object) -> dict[str, object]:
    return {"embedding_provider": "ollama", "ollama_url": server.url, **flags}


@pytest.fixture(params=[openai, ollama], ids=["openai", "ollama"])
def sandbox(
    request: pytest.FixtureRequest, sandbox: Sandbox, server: EmbeddingServer
) -> Sandbox:
    """Ten notes, and a provider."""
    sandbox.flags = request.param(server)
    for number in range(10):
        sandbox.save(
            f"{number}.md",
            f"# Note {number}\n\n- bullet {number}a\n- bullet {number}b\n",
        )
    sandbox.save("ports.md", "The staging database listens on port 5433.\n")
    return sandbox


@pytest.fixture
def filled(sandbox: Sandbox) -> Iterator[Memory]:
    """A memory whose every text has its vector."""
    with sandbox.memory() as memory:
        memory.sync()
        result = memory.embed_pending()
        assert (result.pending, result.problem) == (0, "")
        yield memory


def invalid_vectors(sandbox: Sandbox) -> list[str]:
    """Return what is stored as a vector and is none."""
    connection = apsw.Connection(str(sandbox.index_file))
    rows = connection.execute(
        "SELECT text_hash, embedding, dimensions "
        "FROM embedding_cache JOIN spaces ON spaces.id = space_id"
    )
    wrong = []
    for name, data, dims in rows:
        numbers = unpack(data)
        length = sqrt(sum(number * number for number in numbers))
        if (
            len(numbers) != dims
            or not all(map(isfinite, numbers))
            or abs(length - 1) > 1e-5
        ):
            wrong.append(name)
    connection.close()
    return wrong


def test_with_vectors_an_answer_is_hybrid(sandbox: Sandbox, filled: Memory) -> None:
    """It says so, and a note is found by what it means as well."""
    answer = ask(filled, "staging databases", should_explain=True)

    report = answer.report
    assert (report.mode, report.reason, report.retrievers) == (
        "hybrid",
        "",
        ("words", "vectors"),
    )
    assert report.pending_vectors == 0
    best = answer.hits[0]
    assert best.path == "ports.md"
    assert best.retrievers == ("words", "vectors")
    assert sum(part.value for part in best.parts) == pytest.approx(best.score, abs=1e-9)
    assert invalid_vectors(sandbox) == []


def test_before_there_are_vectors_an_answer_says_why_it_is_keyword(
    sandbox: Sandbox, server: EmbeddingServer
) -> None:
    """And asks nobody: text search never waits for a vector."""
    with sandbox.memory() as memory:
        answer = ask(memory, "staging database")

        assert paths(answer)[0] == "ports.md"
        assert answer.report.mode == "keyword"
        assert "no vectors yet" in answer.report.reason
        assert memory.status().pending_vectors == 11
    assert server.requests == []


@pytest.mark.parametrize(
    ("flags", "fault", "reason", "remedy"),
    [
        ({"embedding_provider": "none"}, "", "", ""),
        (
            {"openai_api_key": "", "openai_base_url": ""},
            "",
            "there is no key",
            "set OPENAI_API_KEY",
        ),
        ({}, "401", "did not accept the key (401", "Check OPENAI_API_KEY"),
        (
            {"openai_base_url": "http://127.0.0.1:9/v1"},
            "",
            "cannot be reached",
            "Until it answers, searches are by keyword",
        ),
    ],
    ids=["none", "no key", "401", "unreachable"],
)
def test_report_and_status_say_why_there_are_no_vectors(
    sandbox: Sandbox,
    server: EmbeddingServer,
    flags: dict[str, object],
    fault: str,
    reason: str,
    remedy: str,
) -> None:
    """Both once said `no vectors yet`, whatever was wrong, even with none chosen."""
    sandbox.flags = {**openai(server), **flags}
    server.always = fault
    with sandbox.memory() as memory:
        memory.sync()
        memory.embed_pending()

        report = ask(memory, "staging database").report
        status = memory.status()

    assert report.mode == "keyword"
    assert reason in report.reason
    assert remedy in report.reason
    said = f"{status.provider_reason} {status.vectors_problem}"
    assert reason in said
    assert remedy in said
    if not reason:
        assert report.reason == status.vectors_problem == ""


def test_what_still_waits_is_counted(sandbox: Sandbox) -> None:
    """An answer from half of the vectors must not look like one from all."""
    with sandbox.memory(embed_batch_size=4) as memory:
        memory.sync()
        batches = iter((False, True))
        memory.embed_pending(should_stop=lambda: next(batches))

        answer = ask(memory, "staging database")

        assert answer.report.mode == "hybrid"
        assert 0 < answer.report.pending_vectors < 11
        assert answer.report.pending_vectors == memory.status().pending_vectors
        memory.embed_pending()
        assert ask(memory, "staging database").report.pending_vectors == 0


@pytest.mark.parametrize("fault", ["slow", "drip"])
def test_a_slow_provider_delays_no_answer_beyond_the_limit(
    filled: Memory,
    server: EmbeddingServer,
    fault: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The words answer, and the report says what happened.

    The next test says that two seconds are the limit.
    """
    monkeypatch.setattr(embed, "ANSWER_TIMEOUT_S", 0.4)
    server.script(fault)

    answer = ask(filled, "staging database")

    assert server.outwaited == 0
    assert paths(answer)[0] == "ports.md"
    assert answer.report.mode == "keyword"
    assert answer.report.reason


def test_a_provider_gets_what_is_left_of_two_seconds(sandbox: Sandbox) -> None:
    """However long the way to it took; only a moment if nothing is left."""
    embedder = PatientEmbedder()
    sandbox.provider = FakeProvider(embedder)
    now_s = 1_000.0
    sandbox.stopwatch = lambda: now_s
    with sandbox.memory() as memory:
        memory.sync()
        memory.embed_pending()
        for number, late_s in enumerate((0.0, 1.0, 1.7, 5.0)):
            embed_query(
                f"question {number}",
                memory._embedding_service(),
                memory.index_handle,
                memory.clocks,
                now_s - late_s,
            )

    allowed_s = [round(one, 1) for one in embedder.allowed_s]
    assert allowed_s == [ANSWER_TIMEOUT_S, 0.8, MIN_QUERY_TIMEOUT_S, 0.2]
    assert ANSWER_TIMEOUT_S + MIN_QUERY_TIMEOUT_S <= 2


@pytest.mark.parametrize(
    "fault",
    [
        "401",
        "403",
        "404",
        "429",
        "429-1h",
        "429-quota",
        "500",
        "503",
        "cut",
        "reset",
        "html",
        "not-json",
        "deep",
        "nan",
        "zero",
        "other-dims",
        "empty-list",
        "huge",
    ],
)
def test_a_failing_provider_is_a_reason_and_no_failure(
    sandbox: Sandbox,
    filled: Memory,
    server: EmbeddingServer,
    pauses: list[float],
    fault: str,
) -> None:
    """Every question is answered, after one request, without the key in the reason."""
    server.script(fault)
    asked = len(server.requests)
    pauses.clear()

    answer = ask(filled, "staging database")

    assert len(server.requests) == asked + 1
    assert pauses == []
    assert paths(answer)[0] == "ports.md"
    if fault != "huge":  # numbers that large can still be scaled
        assert answer.report.mode == "keyword"
        assert answer.report.reason
    assert KEY not in answer.report.reason
    assert invalid_vectors(sandbox) == []


def test_a_provider_that_is_gone_is_a_reason(
    sandbox: Sandbox, pauses: list[float]
) -> None:
    """Nobody listens any more."""
    with EmbeddingServer() as gone:
        flags = openai(gone)
        with sandbox.memory(**flags) as memory:
            memory.sync()
            assert memory.embed_pending().problem == ""

    with sandbox.memory(**flags) as memory:
        pauses.clear()
        answer = ask(memory, "staging database")

    assert pauses == []
    assert answer.report.mode == "keyword"
    assert answer.report.reason


def test_a_refused_key_only_if_all_known_once_by_all_processes_together(
    sandbox: Sandbox, filled: Memory, server: EmbeddingServer
) -> None:
    """The next question of any process knows from the index that it is of no use."""
    server.always = "401"
    ask(filled, "staging database")
    asked = len(server.requests)

    with sandbox.memory() as other:
        answer = ask(other, "another question")
        again = ask(filled, "a third question")

    assert len(server.requests) == asked
    for report in (answer.report, again.report):
        assert report.mode == "keyword"
        assert "tried again in" in report.reason


def test_a_person_who_corrects_the_key_waits_for_no_minute(
    sandbox: Sandbox, server: EmbeddingServer
) -> None:
    """`hm sync` asks at once; what asks by itself, such as `hm watch`, still waits."""
    with sandbox.memory() as memory:
        memory.sync()
        server.always = "401"
        assert "401" in memory.embed_pending().problem
        server.always = ""

        waited = memory.embed_pending()
        asked = memory.embed_pending(should_ask=True)

    assert "tried again in" in waited.problem
    assert (asked.pending, asked.problem) == (0, "")


def test_a_provider_that_is_asked_in_vain_is_left_alone_again(
    sandbox: Sandbox, server: EmbeddingServer
) -> None:
    """A search after `hm sync` waits for no server that has just refused."""
    with sandbox.memory() as memory:
        memory.sync()
        server.always = "401"
        memory.embed_pending()
        memory.embed_pending(should_ask=True)
        asked = len(server.requests)

        again = memory.embed_pending()

    assert len(server.requests) == asked
    assert "tried again in" in again.problem


def test_after_a_minute_a_provider_gets_another_chance(
    sandbox: Sandbox, filled: Memory, server: EmbeddingServer
) -> None:
    """Three failures in a row silence it; the first success closes the matter."""
    server.script("500", "500", "500")
    for number in range(3):
        ask(filled, f"question {number}")
    asked = len(server.requests)
    assert ask(filled, "question").report.mode == "keyword"
    assert len(server.requests) == asked

    sandbox.ahead_s += 61

    assert ask(filled, "question").report.mode == "hybrid"
    assert ask(filled, "question too").report.mode == "hybrid"


def test_the_same_question_is_paid_for_once(
    filled: Memory, server: EmbeddingServer
) -> None:
    """An agent asks the same again and again."""
    ask(filled, "staging database")
    asked = len(server.requests)

    for _ in range(3):
        assert ask(filled, "staging database").report.mode == "hybrid"

    assert len(server.requests) == asked


def other_model(sandbox: Sandbox) -> dict[str, object]:
    is_openai = sandbox.flags["embedding_provider"] == "openai"
    return {"openai_model": "other-model"} if is_openai else {"ollama_model": "bge-m3"}


def test_another_model_fills_its_space_while_the_old_one_answers(
    sandbox: Sandbox, filled: Memory, server: EmbeddingServer
) -> None:
    """The question goes to the model whose vectors it is compared with."""
    old_model = server.requests[-1]["model"]
    filled.close()
    with sandbox.memory(**other_model(sandbox), embed_batch_size=4) as memory:
        answer = ask(memory, "staging database")
        assert answer.report.mode == "hybrid"
        assert server.requests[-1]["model"] == old_model
        batches = iter((False, True))
        memory.embed_pending(should_stop=lambda: next(batches))
        assert 0 < memory.status().pending_vectors < 11

        assert ask(memory, "which database").report.mode == "hybrid"
        assert server.requests[-1]["model"] == old_model

        memory.embed_pending()
        assert ask(memory, "what database").report.mode == "hybrid"
        assert server.requests[-1]["model"] != old_model
    assert invalid_vectors(sandbox) == []


def test_no_question_goes_where_the_settings_no_longer_point(
    sandbox: Sandbox, filled: Memory, server: EmbeddingServer
) -> None:
    """Tenet 5: who moved to another server did not choose the old one for questions.

    Nor does the key of the new one go to the old one.
    """
    filled.close()
    asked = len(server.requests)
    with EmbeddingServer() as other:
        maker = openai if sandbox.flags["embedding_provider"] == "openai" else ollama
        with sandbox.memory(**maker(other, openai_api_key="sk-another")) as memory:
            answer = ask(memory, "staging database")

            assert answer.report.mode == "keyword"
            assert answer.report.reason
            memory.embed_pending()
            assert ask(memory, "staging database").report.mode == "hybrid"
    assert len(server.requests) == asked


@pytest.mark.parametrize("fault", mostly_thorough(VECTOR_FAULTS, every=3))
def test_no_invalid_vector_is_ever_stored(
    sandbox: Sandbox, server: EmbeddingServer, fault: str
) -> None:
    """Whatever the provider hands out; and it is made good by the next run."""
    with sandbox.memory(embed_batch_size=8) as memory:
        memory.sync()
        server.script("", fault)
        memory.embed_pending()
        assert invalid_vectors(sandbox) == []

        sandbox.ahead_s += 120
        result = memory.embed_pending()

        assert (result.pending, result.problem) == (0, "")
        assert invalid_vectors(sandbox) == []
        assert ask(memory, "staging database").report.mode == "hybrid"
        assert difference_from_fresh(sandbox, memory) == []


@pytest.mark.parametrize("fault", ["401", "500", ""])
def test_a_sync_counts_what_is_pending_as_the_status_does(
    sandbox: Sandbox, server: EmbeddingServer, fault: str
) -> None:
    """A bullet has a vector of its own, yet nobody counts it as a chunk."""
    server.always = fault
    with sandbox.memory(embed_batch_size=4) as memory:
        memory.sync()
        batches = iter((False, True))

        result = memory.embed_pending(should_stop=lambda: next(batches, True))

        assert result.pending == memory.status().pending_vectors
        assert 0 < result.pending <= 11


def test_a_server_that_got_another_model_under_the_same_name(
    sandbox: Sandbox, filled: Memory, server: EmbeddingServer
) -> None:
    """Vectors of another length: not stored, not compared, and the reason says so."""
    server.dims = 40
    sandbox.save("new.md", "A new note about the staging area.\n")

    answer = ask(filled, "staging area")
    result = filled.embed_pending()

    assert answer.report.mode == "keyword"
    assert "40" in answer.report.reason
    assert "40" in result.problem
    assert result.pending
    assert invalid_vectors(sandbox) == []


def test_one_text_that_poisons_a_batch_is_left_out(
    sandbox: Sandbox, server: EmbeddingServer
) -> None:
    """The others of its batch get their vectors; it is found by its words."""
    server.poison = "arsenic"
    sandbox.save("poison.md", "A text with arsenic in it.\n")
    with sandbox.memory() as memory:
        memory.sync()

        result = memory.embed_pending()

        assert result.pending == 1
        assert "1 text" in result.problem
        answer = ask(memory, "text in it")
        assert paths(answer)[0] == "poison.md"
        assert answer.report.mode == "hybrid"
        assert answer.report.pending_vectors == 1
    assert invalid_vectors(sandbox) == []


def test_a_search_does_not_wait_for_a_run_that_embeds(
    sandbox: Sandbox, server: EmbeddingServer
) -> None:
    """The provider hangs for half a minute in the background."""
    with sandbox.memory(embed_batch_size=4) as memory:
        memory.sync()
        server.script("", "slow")
        thread = threading.Thread(target=memory.embed_pending, daemon=True)
        thread.start()
        while len(server.requests) < 2:
            threading.Event().wait(0.005)

        for number in range(5):
            assert "ports.md" in paths(ask(memory, f"staging database {number}"))
        memory.write("remember something", file="note.md")

        assert (thread.is_alive(), server.outwaited) == (True, 0)
        server.closing.set()
        thread.join()


class PatientEmbedder(FakeEmbedder):
    """Notes how long each question may take, and answers when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.allowed_s: list[float] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def embed_query(self, text: str, *, timeout_s: float) -> bytes:
        self.allowed_s.append(timeout_s)
        assert self.may_answer.wait(HANG_S)
        return super().embed_query(text, timeout_s=timeout_s)


class OneScript(FakeEmbedder):
    """Gives every text in another script one and the same vector."""

    def _embed(self, text: str) -> bytes:
        return super()._embed(text if text.isascii() else "foreign")


def test_the_vectors_abstain_where_the_script_is_foreign_to_the_model(
    sandbox: Sandbox,
) -> None:
    """They would push the right answer down."""
    sandbox.provider = FakeProvider(OneScript())
    sandbox.save("ru.md", "Сервер базы данных слушает порт 5433.\n")
    sandbox.save("ja.md", "データベースのポートは五四三三です。\n")
    with sandbox.memory() as memory:
        memory.sync()
        memory.embed_pending()

        russian = ask(memory, "порт сервера базы")
        english = ask(memory, "staging port")
        greek = ask(memory, "βάση δεδομένων")

    assert paths(russian)[0] == "ru.md"
    assert russian.report.mode == "keyword"
    assert "does not understand Cyrillic" in russian.report.reason
    assert english.report.mode == "hybrid"
    assert greek.report.mode == "keyword"
    assert "not known" in greek.report.reason


def test_a_model_that_knows_a_script_speaks_in_it(sandbox: Sandbox) -> None:
    """Found out with a few sentences of our own, once for each script and model."""
    embedder = FakeEmbedder()
    sandbox.provider = FakeProvider(embedder)
    sandbox.save("ru.md", "Сервер базы данных слушает порт 5433.\n")
    with sandbox.memory() as memory:
        memory.sync()
        memory._embedding_service()
        index = memory.index_handle.opened().index
        index.set_meta(f"script:{embedder.fingerprint}:Cyrillic", "yes")
        memory.embed_pending()

        assert ask(memory, "порт сервера").report.mode == "hybrid"


def test_no_key_lies_in_any_file(sandbox: Sandbox, filled: Memory) -> None:
    """The index remembers how to ask an old model again; not with what key."""
    ask(filled, "staging database")
    filled.close()

    holding = [
        file
        for file in sandbox.home.rglob("*")
        if file.is_file() and KEY.encode() in file.read_bytes()
    ]

    assert holding == []


def test_the_whole_way_from_config_to_vectors(
    sandbox: Sandbox, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a program would use it."""
    for name in ("OPENAI_API_KEY", "HIVEMIND_EMBEDDING_PROVIDER", "HIVEMIND_HOME"):
        monkeypatch.delenv(name, raising=False)

    with opening.open_memory(home=str(sandbox.home), flags=sandbox.flags) as memory:
        memory.sync()
        memory.embed_pending()
        answer = memory.search(Query(text="staging database"))
        status = memory.status()

    assert answer.report.mode == "hybrid"
    assert status.provider.startswith(str(sandbox.flags["embedding_provider"]))
    assert (status.vectors, status.pending_vectors) == (11, 0)
    assert server.strays == []


def test_threads_that_share_a_memory_do_not_wait_for_each_others_provider(
    sandbox: Sandbox,
) -> None:
    """Six questions are with the provider at once, and a write ends meanwhile."""
    embedder = PatientEmbedder()
    sandbox.provider = FakeProvider(embedder)
    found: list[list[str]] = []
    with sandbox.memory() as memory:
        memory.sync()
        memory.embed_pending()
        threads = [
            threading.Thread(
                target=lambda n=number: found.append(
                    paths(ask(memory, f"staging database {n}"))
                )
            )
            for number in range(6)
        ]
        embedder.may_answer.clear()
        for thread in threads:
            thread.start()

        wait_until(lambda: len(embedder.allowed_s) == 6, "six questions were not asked")
        memory.write("remember", file="note.md")

        assert found == []
        embedder.may_answer.set()
        for thread in threads:
            thread.join()

    assert len(found) == 6
    assert all("ports.md" in one for one in found)
