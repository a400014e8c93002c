"""An agent is told how far to rely on an answer, and gets no text that is none."""

from __future__ import annotations

from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import call, found, text_of

ELSEWHERE = "which channel do grey whales swim through on their way to the open ocean"


def test_where_nothing_is_known_hits_are_empty_and_places_are_named(
    server: MemoryServer,
) -> None:
    """A model takes what stands in hits for an answer, however low its score."""
    result = call(server, "memory_search", query=ELSEWHERE)
    answer, text = found(result), text_of(result)

    assert answer["report"]["confidence"] == "none"
    assert answer["hits"] == []
    assert [place["path"] for place in answer["nearest"]] == ["deploy.md"]
    assert set(answer["nearest"][0]) == {
        "path",
        "start_line",
        "end_line",
        "confidence",
        "headings",
    }
    assert text.startswith("no answer found, 0 hits")
    assert "closest, but probably not an answer: deploy.md:5-7" in text
    assert "rollback script" not in text


def test_an_answer_says_how_likely_it_is(server: MemoryServer) -> None:
    """In the fields and in the text."""
    result = call(server, "memory_search", query="when do we deploy")
    answer = found(result)

    assert answer["report"]["confidence"] == "strong"
    assert answer["hits"][0]["confidence"] > 0.5
    assert "nearest" not in answer
    assert ", confidence strong" in text_of(result).split("\n")[0]
