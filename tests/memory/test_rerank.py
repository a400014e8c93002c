"""A search with a reranker: what it reads, what it changes, and when it fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hivemind_memory.errors import RerankError
from hivemind_memory.memory.leading import LeadingMemory
from hivemind_memory.memory.rerank import RERANK_CANDIDATES
from hivemind_memory.providers import local_host, local_reranker
from hivemind_memory.testing import FakeReranker
from tests.support.fake_provider import RerankingProvider
from tests.support.sandbox import Sandbox, ask, hits, paths
from tests.support.tiny_model import make_tiny_cross_encoder

FIRST = "# Ports\n\nThe staging database listens on port 5433.\n"
SECOND = "# Network\n\n## Zones\n\nThe database is in zone zz, and the port is open.\n"


@pytest.fixture
def fake(sandbox: Sandbox) -> FakeReranker:
    """A reranker that likes the second of two notes best."""
    sandbox.save("first.md", FIRST)
    sandbox.save("second.md", SECOND)
    fake = FakeReranker()
    fake.liked = "zone"
    sandbox.provider = RerankingProvider(sandbox.home, fake)
    return fake


def test_the_reranker_decides_between_close_hits_and_explains_it(
    sandbox: Sandbox, fake: FakeReranker
) -> None:
    with sandbox.memory() as memory:
        found = ask(memory, "database port", should_explain=True)

    assert paths(found) == ["second.md", "first.md"]
    assert found.report.warnings == ()
    for hit in found.hits:
        assert "reranker" in [part.name for part in hit.parts]
        assert sum(part.value for part in hit.parts) == pytest.approx(hit.score)
    # With its headings, as a person sees it.
    assert any(text.startswith("Network > Zones\n") for text in fake.texts)


def test_a_reranker_that_fails_changes_nothing_but_a_word_in_the_report(
    sandbox: Sandbox, fake: FakeReranker
) -> None:
    fake.failure = RerankError("it broke")
    with sandbox.memory() as memory:
        found = ask(memory, "database port")
        sandbox.provider = None
    with sandbox.memory() as plain:
        expected = ask(plain, "database port")

    assert hits(found) == hits(expected)
    assert found.report.warnings == ("not reranked: it broke",)
    assert found.report.confidence == expected.report.confidence


def test_only_the_best_candidates_are_read(
    sandbox: Sandbox, fake: FakeReranker
) -> None:
    """Each takes as long as a vector."""
    for number in range(RERANK_CANDIDATES + 5):
        sandbox.save(f"{number}.md", f"The port of database {number} is open.\n")

    with sandbox.memory() as memory:
        ask(memory, "database port", max_results=RERANK_CANDIDATES + 5)

    assert len(fake.texts) == RERANK_CANDIDATES


def test_a_list_a_lone_hit_and_a_literal_query_are_not_read(
    sandbox: Sandbox, fake: FakeReranker
) -> None:
    """A literal query is that of a section, which is the same whoever leads."""
    with sandbox.memory() as memory:
        ask(memory, "")
        ask(memory, "staging")
        ask(memory, "database port", is_literal=True)

    assert fake.texts == []


def test_what_a_reranker_likes_stays_replaced_by_the_newer(
    sandbox: Sandbox, fake: FakeReranker
) -> None:
    """The newest of near-copies comes first, however the older one reads."""
    text = "The database of zone {} listens on the port {} and on no other port.\n"
    sandbox.save("2024-01-01.md", text.format("north", 1))
    sandbox.save("2025-01-01.md", text.format("south", 2))
    fake.liked = "north"

    with sandbox.memory() as memory:
        found = paths(ask(memory, "which port has the database"))

    assert found.index("2025-01-01.md") < found.index("2024-01-01.md")


def test_a_note_that_changes_while_the_reranker_reads_is_in_the_answer(
    sandbox: Sandbox, fake: FakeReranker
) -> None:
    """No lock is held meanwhile, and the second answer is as fresh as any."""

    class Slow(FakeReranker):
        def rerank(self, query, texts, *, timeout_s):  # type: ignore[no-untyped-def]
            sandbox.save("third.md", "The database has a new port, 5434.\n")
            return super().rerank(query, texts, timeout_s=timeout_s)

    sandbox.provider = RerankingProvider(sandbox.home, Slow())
    with sandbox.memory() as memory:
        found = ask(memory, "database port")

    assert "third.md" in paths(found)


@pytest.fixture
def no_models() -> Iterator[None]:
    """What one test loads or serves, the next one does not find."""
    yield
    local_host.stop_serving()
    local_reranker._loaded.clear()


@pytest.mark.usefixtures("no_models")
def test_searches_use_the_reranker_that_the_leader_has_loaded(
    sandbox: Sandbox,
) -> None:
    """Without a leader they answer at once, and say why."""
    sandbox.save("first.md", FIRST)
    sandbox.save("second.md", SECOND)
    folder = make_tiny_cross_encoder(sandbox.home / "tiny")
    sandbox.flags = {"rerank_provider": "local", "local_rerank_model": str(folder)}
    with sandbox.memory() as memory:
        alone = ask(memory, "database port")
        LeadingMemory(memory).embed_pending(should_stop=lambda: False)
    local_reranker._loaded.clear()

    with sandbox.memory() as memory:
        led = ask(memory, "database port", should_explain=True)

    assert "not reranked: no running `hm watch`" in alone.report.warnings[0]
    assert paths(alone) == ["first.md", "second.md"]
    assert paths(led) == ["second.md", "first.md"]
    assert led.report.warnings == ()
    assert "local tiny" in [part.note for part in led.hits[0].parts]


PRIVATE_NOTE = f"---\nvisibility: private\n---\n{SECOND}"


def test_a_private_candidate_is_not_sent_and_keeps_its_raw_score(
    sandbox: Sandbox,
) -> None:
    """Whatever `llm_send_private` said, they were sent to the language model."""
    sandbox.save("first.md", FIRST)
    sandbox.save("second.md", PRIVATE_NOTE)
    sandbox.save("third.md", "The database of staging has a port for metrics.\n")
    fake = FakeReranker()
    fake.liked = "metrics"
    sandbox.provider = RerankingProvider(sandbox.home, fake)
    sandbox.flags = {"rerank_provider": "chat"}
    with sandbox.memory() as memory:
        found = ask(memory, "database port", should_explain=True)

    assert len(fake.texts) == 2
    assert not [text for text in fake.texts if "zone" in text]
    read = {
        hit.path: "reranker" in [part.name for part in hit.parts] for hit in found.hits
    }
    assert read == {"first.md": True, "second.md": False, "third.md": True}


@pytest.mark.parametrize(
    ("flags", "is_sent"),
    [
        ({"rerank_provider": "chat"}, False),
        ({"rerank_provider": "chat", "llm_send_private": True}, True),
        ({"rerank_provider": "http", "rerank_url": "https://rank.example"}, False),
        ({"rerank_provider": "http", "rerank_url": "http://192.0.2.7:80"}, False),
        ({"rerank_provider": "http", "rerank_url": "http://127.0.0.1:1"}, True),
        ({"rerank_provider": "local"}, True),
    ],
)
def test_a_private_candidate_leaves_only_if_the_options_say_so(
    sandbox: Sandbox, flags: dict[str, object], *, is_sent: bool
) -> None:
    sandbox.save("first.md", FIRST)
    sandbox.save("second.md", PRIVATE_NOTE)
    sandbox.save("third.md", "The port of the database.\n")
    fake = FakeReranker()
    sandbox.provider = RerankingProvider(sandbox.home, fake)
    sandbox.flags = flags
    with sandbox.memory() as memory:
        ask(memory, "database port")

    assert bool([text for text in fake.texts if "zone" in text]) is is_sent


def test_of_a_private_project_only_what_is_public_is_sent(sandbox: Sandbox) -> None:
    sandbox.save("projects/shop/first.md", FIRST)
    sandbox.save("projects/shop/second.md", SECOND)
    for name in ("open", "wide"):
        sandbox.save(
            f"projects/shop/{name}.md", f"---\nvisibility: public\n---\n{SECOND} {name}"
        )
    fake = FakeReranker()
    sandbox.provider = RerankingProvider(sandbox.home, fake)
    projects = {"shop": {"visibility": "private"}}
    sandbox.flags = {"rerank_provider": "chat", "projects": projects}
    with sandbox.memory() as memory:
        ask(memory, "database port")

    assert len(fake.texts) == 2
    assert {text.split()[-1] for text in fake.texts} == {"open", "wide"}
