"""Equal candidates come in the same order, whatever numbers their chunks have."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.model.query import SearchSettings
from hivemind_memory.search.ranking import rank
from hivemind_memory.testing import FakeEmbedder
from tests.search.evidence import (
    TODAY,
    candidate,
    matches,
    place,
    term,
)
from tests.support.fake_provider import FakeProvider
from tests.support.sandbox import Sandbox, ask, hits

NAMES = ("zebra.md", "yak.md", "walrus.md", "ant.md")


@pytest.mark.parametrize("fusion", ["standardised", "weighted", "rrf"])
def test_tied_chunks_keep_their_order_after_a_rebuild(
    tmp_path: Path, fusion: str
) -> None:
    """Notes are indexed in another order than a rebuild reads them."""
    sandbox = Sandbox(tmp_path / "home", provider=FakeProvider(FakeEmbedder()))
    with sandbox.memory(fusion=fusion) as memory:
        for number, name in enumerate(NAMES):
            # As many words, and the same one of the question: a tie of the words.
            sandbox.save(name, f"The ferry sails on pier {'abcd'[number] * 5}.")
            memory.sync()
        memory.embed_pending()
        before = hits(ask(memory, "ferry"))

        memory.rebuild()
        memory.embed_pending()

        assert len(before) == len(NAMES)
        assert hits(ask(memory, "ferry")) == before


def test_ties_are_settled_by_day_and_then_by_place() -> None:
    """So that an answer is the same each time, and after a rebuild."""
    found = matches([term("port", 5)], *(candidate(n, (1, 0)) for n in range(1, 5)))
    places = {
        1: place(1, path="z.md"),
        2: place(2, path="a.md", line=9),
        3: place(3, path="a.md", line=1),
        4: place(4, path="y.md", day=TODAY),
    }

    ranking = rank(found, None, places, settings=SearchSettings(), today=TODAY)

    assert [one.place.chunk_id for one in ranking.ranked] == [4, 3, 2, 1]
