"""An answer says how much it can be relied on, over a real index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hivemind_memory.model.filters import SearchFilter
from hivemind_memory.model.query import Query
from tests.support.embedding_server import EmbeddingServer
from tests.support.sandbox import Sandbox, ask

if TYPE_CHECKING:
    from pathlib import Path

ELSEWHERE = "how do grey whales sleep in the open ocean at night"
"""Of the notes below one has "sleep" and all have "the"."""


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A memory of three notes."""
    made = Sandbox(tmp_path)
    made.save("laptop.md", "# Laptop\n\nIt goes to sleep after ten minutes.\n")
    made.save("deploy.md", "# Deploying\n\nWe deploy on Mondays with make ship.\n")
    made.save("db.md", "# Database\n\nPostgres listens on port 5433.\n")
    return made


def test_a_question_that_a_note_answers_is_strong(sandbox: Sandbox) -> None:
    """The first hit is likely right, and says so."""
    with sandbox.memory() as memory:
        answer = ask(memory, "which port is postgres on")

    assert answer.report.confidence == "strong"
    assert answer.hits[0].path == "db.md"
    assert answer.hits[0].confidence > 0.6
    assert not answer.is_unknown


def test_of_a_question_about_something_else_nothing_is_known(sandbox: Sandbox) -> None:
    """It shares a word with a note, whose score alone would make it a hit."""
    with sandbox.memory() as memory:
        answer = ask(memory, ELSEWHERE)

    assert answer.report.confidence == "none"
    assert answer.is_unknown
    assert [hit.path for hit in answer.hits] == ["laptop.md"]
    assert answer.hits[0].confidence < 1 / 3


@pytest.mark.parametrize("text", [ELSEWHERE, "which port is postgres on"])
def test_fewer_hits_change_no_confidence(sandbox: Sandbox, text: str) -> None:
    """It is a property of the hit, not of how many are asked for."""
    for number in range(20):
        sandbox.save(f"{number}.md", f"The port of ship {number} is far from the ocean")
    with sandbox.memory() as memory:
        many = ask(memory, text)
        few = ask(memory, text, max_results=1)

    assert few.hits[0].confidence == many.hits[0].confidence
    assert few.report.confidence == many.report.confidence


def test_no_hit_at_all_is_none_and_a_list_is_not_judged(sandbox: Sandbox) -> None:
    """What was not asked has no confidence."""
    with sandbox.memory() as memory:
        nothing = ask(memory, "zebra")
        listed = memory.search(Query(text="", search_filter=SearchFilter(since_day=0)))

    assert (nothing.report.confidence, nothing.is_unknown) == ("none", False)
    assert listed.report.mode == "list"
    assert listed.report.confidence == ""
    assert {hit.confidence for hit in listed.hits} == {0.0}


def test_with_vectors_it_means_the_same(sandbox: Sandbox) -> None:
    """The vectors change the evidence, and the same numbers weigh it."""
    with EmbeddingServer() as server:
        sandbox.flags = {"embedding_provider": "ollama", "ollama_url": server.url}
        with sandbox.memory() as memory:
            memory.sync()
            memory.embed_pending()
            known = ask(memory, "which port is postgres on")
            unknown = ask(memory, ELSEWHERE)

    assert known.report.mode == "hybrid"
    assert known.report.confidence == "strong"
    assert unknown.report.confidence != "strong"
