"""What an agent gets without a question: lists by type, scope and source; claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.mcp_server.server import MemoryServer
from hivemind_memory.mcp_server.tools_list import (
    MemoriesOut,
    render_list,
    shape_memories,
)
from hivemind_memory.model.curation import StoredMemory
from hivemind_memory.model.note_path import NotePath
from tests.mcp_server.agents import call, found, refused, text_of

SAVED: tuple[dict[str, Any], ...] = (
    {"key": "ship-it", "content": "Ship the beta.", "type": "todo"},
    {"key": "deploy-day", "content": "We deploy on Tuesdays.", "type": "decision"},
    {
        "key": "port",
        "content": "The port is 80.",
        "type": "fact",
        "source_ref": "ops/a",
    },
)


@pytest.fixture
def kept(server: MemoryServer) -> MemoryServer:
    """A server whose memory holds three typed memories, one of them replaced."""
    for arguments in SAVED:
        found(call(server, "memory_save", **arguments))
    again = {**SAVED[1], "content": "On Mondays.", "supersede_reason": "the fair"}
    found(call(server, "memory_save", **again))
    return server


def keys(result: dict[str, Any]) -> list[str]:
    return [one["key"] for one in result["memories"]]


def test_all_memories_of_some_types_are_listed_without_a_search(
    kept: MemoryServer,
) -> None:
    """In the order in which sections tell them; what was replaced is left out."""
    result = call(kept, "memory_list", types=["todo", "choice"])

    listed = found(result)
    assert keys(listed) == ["deploy-day", "ship-it"]
    assert listed["memory_count"] == 2
    assert "files" not in listed
    assert [one["text"] for one in listed["memories"]] == [
        "On Mondays.",
        "Ship the beta.",
    ]
    assert "> On Mondays." in text_of(result)


def test_types_may_be_one_text(kept: MemoryServer) -> None:
    """Models write a list as a text with commas."""
    assert keys(found(call(kept, "memory_list", types="todo, fact"))) == [
        "ship-it",
        "port",
    ]


@pytest.mark.parametrize("given", ["todo, fact", ["todo", "fact"]])
def test_types_may_be_named_type(kept: MemoryServer, given: object) -> None:
    """As in the other tools; it was refused, and each agent asked twice."""
    assert keys(found(call(kept, "memory_list", type=given))) == ["ship-it", "port"]
    assert keys(found(call(kept, "memory_list", type=given, types=None))) == [
        "ship-it",
        "port",
    ]
    assert "no argument type" in refused(
        call(kept, "memory_list", type="todo", types=["fact"])
    )


def test_an_unknown_type_gets_the_sentence_that_a_search_gives(
    kept: MemoryServer,
) -> None:
    """One rule, one sentence."""
    said = [
        refused(call(kept, "memory_list", types=["decisoin"])),
        refused(call(kept, "memory_search", query="x", types=["decisoin"])),
    ]

    assert said[0] == said[1]
    assert "Did you mean decision?" in said[0]


def test_a_list_says_how_often_a_memory_was_found(kept: MemoryServer) -> None:
    """The list itself counts as no use."""
    found(call(kept, "memory_search", query="mondays"))

    for _ in range(2):
        [listed] = found(call(kept, "memory_list", types=["decision"]))["memories"]
        assert listed["access_count"] == 1


def test_notes_are_listed_with_their_titles(kept: MemoryServer) -> None:
    """A name and a size do not tell an agent what a note is about."""
    listed = found(call(kept, "memory_list"))

    titles = {one["path"]: one["title"] for one in listed["files"]}
    assert titles["deploy.md"] == "Deploying"
    assert titles["projects/site.md"] == "The staging database runs on port 5433."
    assert titles["ship-it.md"] == "Ship the beta."


def test_a_scope_narrows_either_list(kept: MemoryServer, notes: Path) -> None:
    """And one that the caller does not have is refused."""
    (notes / "workspaces/web").mkdir(parents=True)
    (notes / "workspaces/web/a.md").write_text("Elsewhere.\n", encoding="utf-8")

    listed = found(call(kept, "memory_list", scope="global"))

    assert "deploy.md" in [one["path"] for one in listed["files"]]
    assert len(found(call(kept, "memory_list", types=["fact"], scope="global"))) == 2
    assert "team" in refused(call(kept, "memory_list", scope="team"))


def test_a_long_list_of_memories_is_read_whole_in_several_calls() -> None:
    """Each part says how to get the next."""
    memories = [
        StoredMemory(
            path=NotePath(f"{number:04}.md"),
            id="",
            key=f"key-{number}",
            type="fact",
            scope="",
            status="active",
            text="word " * 200,
            start_line=1,
            end_line=1,
        )
        for number in range(300)
    ]
    seen: list[str] = []
    while len(seen) < len(memories):
        part = shape_memories(memories, {}, seen[-1] if seen else "")
        assert isinstance(part, MemoriesOut)
        assert len(render_list(part)) < 30_000
        assert part.memories
        seen += [one.path for one in part.memories]
        if len(seen) < len(memories):
            assert f"after={seen[-1]}" in part.continuation

    assert seen == [one.path for one in memories]


@pytest.mark.parametrize("query", ["", "*", "  "])
def test_a_search_without_words_lists_what_fits_its_filters(
    kept: MemoryServer, query: str
) -> None:
    """It had no hits, and an agent took the memory for empty."""
    answer = call(kept, "memory_search", query=query, types=["decision", "todo"])

    shape = found(answer)
    assert [hit["key"] for hit in shape["hits"]] == ["deploy-day", "ship-it"]
    assert shape["report"]["mode"] == "list"
    assert text_of(answer).startswith("2 hits, newest first")
    nothing = found(call(kept, "memory_search", query=query, types=["goal"]))
    assert nothing["report"]["why_empty"] == "nothing matches the filters"
    unasked = found(call(kept, "memory_search", query=query))
    assert unasked["report"]["why_empty"] == (
        "the query contains no word to search for, and no filter to list by"
    )


def test_the_source_of_a_memory_is_kept_shown_and_searched(
    server: MemoryServer,
) -> None:
    """Of entries and of memories, in each tool that reads."""
    ref = "specs/ios map.md#L40 <x>"
    found(call(server, "memory_save", key="ios", content="Swift.", source_ref=ref))
    found(call(server, "memory_write", content="Swift builds.", source_ref=ref))
    found(call(server, "memory_write", content="Swift birds.", source_ref="web"))

    by_source = found(
        call(server, "memory_search", query="swift", source_ref="specs/ios")
    )
    listed = found(call(server, "memory_list", source_ref="specs/"))

    assert {hit["source_ref"] for hit in by_source["hits"]} == {ref}
    assert len(by_source["hits"]) == 2
    assert keys(listed) == ["ios"]
    assert listed["memories"][0]["source_ref"] == ref


@pytest.mark.parametrize(
    ("ref", "problem"),
    [
        ("x" * 501, "source_ref has 501 characters"),
        ("a\nb", "source_ref must be one line"),
    ],
)
@pytest.mark.parametrize("tool", ["memory_write", "memory_save"])
def test_a_source_that_is_none_is_refused_in_one_sentence(
    server: MemoryServer, home: Path, tool: str, ref: str, problem: str
) -> None:
    """The same sentence from both tools, and nothing is saved."""
    key = {"key": "k"} if tool == "memory_save" else {}
    before = sorted(home.rglob("*.md"))

    said = refused(call(server, tool, content="x", source_ref=ref, **key))

    assert problem in said
    assert "Nothing was saved" in said
    assert sorted(home.rglob("*.md")) == before


def test_a_claim_is_learned_and_its_certainty_is_told_with_each_hit(
    server: MemoryServer,
) -> None:
    """An agent saves it as a person does with hm learn."""
    learned = found(
        call(
            server,
            "memory_learn",
            topic="sqlite locks",
            claim="WAL allows one writer.",
            confidence="high",
            domains=["docs.sqlite.org", "www.sqlite.org", "fly.io"],
            verified="2026-11-01",
        )
    )
    answer = call(server, "memory_search", query="wal writer")

    [hit] = found(answer)["hits"]
    assert (learned["type"], hit["key"]) == ("lesson", learned["key"])
    assert hit["claim"] == {
        "confidence": "high",
        "corroborated": "2",
        "domains": "docs.sqlite.org, www.sqlite.org, fly.io",
        "verified": "2026-11-01",
    }
    assert "claim high, 2 sources, 2026-11-01" in text_of(answer)
    [listed] = found(call(server, "memory_list", types=["lesson"]))["memories"]
    assert listed["claim"] == "high, 2 sources, 2026-11-01"


@pytest.mark.parametrize(
    ("tag", "problem"),
    [
        ({"confidence": "sure"}, "Confidence must be one of high, medium, low"),
        (
            {"domains": ["a.org", "b.org"], "corroborated": 1},
            "Corroborated is 1 but 2 domains are named",
        ),
        ({"verified": "yesterday"}, "Verified must be a date"),
        ({"type": "lessen"}, "There is no memory type 'lessen'."),
    ],
)
def test_a_claim_that_is_not_valid_is_refused(
    server: MemoryServer, tag: dict[str, Any], problem: str
) -> None:
    """In one sentence, and it says that nothing was saved."""
    said = refused(call(server, "memory_learn", topic="t", claim="c", **tag))

    assert problem in said
    assert "Nothing was saved" in said
