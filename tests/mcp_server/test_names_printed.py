"""Every tool takes a memory by each name that results show."""

from __future__ import annotations

from typing import Any

import pytest

from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import call, found, refused, text_of
from tests.support.tiers import mostly_thorough

CALLS: dict[str, dict[str, Any]] = {
    "memory_get": {"path": "NAME"},
    "memory_history": {"key": "NAME"},
    "memory_link": {"from": "NAME", "to": "other", "kind": "related_to"},
    "memory_link to": {"from": "other", "to": "NAME", "kind": "related_to"},
    "memory_save": {"key": "third", "content": "A third thing.", "related": ["NAME"]},
    "memory_forget": {"key": "NAME"},
    "memory_forget by id": {"id": "NAME"},
}
FORMS = ("key", "id", "path", "bare", "place", "line")


def _named(tool: str, name: str) -> dict[str, Any]:
    """Return the arguments of a call with a name in its place."""
    return {
        word: [name] if value == ["NAME"] else name if value == "NAME" else value
        for word, value in CALLS[tool].items()
    }


@pytest.mark.parametrize("form", mostly_thorough(FORMS, every=3))
@pytest.mark.parametrize("tool", CALLS)
def test_every_tool_takes_a_name_as_it_is_printed(
    server: MemoryServer, tool: str, form: str
) -> None:
    """A model passes on what it was shown, whatever the argument is called."""
    found(call(server, "memory_save", key="other", content="Another."))
    saved = found(call(server, "memory_save", key="ci/Deploy", content="On Tuesdays."))
    path, line = saved["path"], saved["end_line"]
    name = {
        "key": "ci/Deploy",
        "id": saved["id"],
        "path": path,
        "bare": path.removesuffix(".md"),
        "place": f"{path}:{line}-{line}",
        "line": f"{path}:{line}",
    }[form]

    result = call(server, tool.split(maxsplit=1)[0], **_named(tool, name))

    found(result)
    if tool == "memory_save":
        result = call(server, "memory_get", path="third")
        assert saved["id"] in text_of(result)
    else:
        assert path in text_of(result)


@pytest.mark.parametrize("tool", ["memory_link", "memory_link to", "memory_save"])
def test_a_link_to_an_entry_is_refused_with_what_links_take(
    server: MemoryServer, tool: str
) -> None:
    """The note of an entry says other things as well."""
    found(call(server, "memory_save", key="other", content="Another."))
    entry = found(call(server, "memory_write", content="The seal is live."))

    said = refused(call(server, tool.split(maxsplit=1)[0], **_named(tool, entry["id"])))

    assert "is an entry of" in said
    assert "links join memories and whole notes." in said


def test_a_claim_keeps_its_source(server: MemoryServer) -> None:
    """As what is written and saved does."""
    source = "specs/db.md#L40"

    found(
        call(
            server,
            "memory_learn",
            topic="sqlite",
            claim="WAL allows one writer at a time.",
            source_ref=source,
        )
    )

    [hit] = found(call(server, "memory_search", query="WAL writer"))["hits"]
    assert hit["source_ref"] == source


@pytest.mark.parametrize(
    ("tool", "arguments", "near"),
    [
        ("memory_search", {"query": "x", "scope": "globl"}, "global"),
        ("memory_search", {"query": "x", "types": ["lessn"]}, "lesson"),
        ("memory_write", {"content": "x", "scop": "global"}, "scope"),
        ("memory_link", {"from": "a", "to": "b", "kind": "update"}, "updates"),
        ("memory_learn", {"topic": "a", "claim": "b", "confidence": "hihg"}, "high"),
        ("memory_get", {"path": "deplo.md"}, "deploy.md"),
    ],
)
def test_a_mistyped_argument_is_answered_with_the_nearest(
    server: MemoryServer, tool: str, arguments: dict[str, Any], near: str
) -> None:
    """A model tries again with what it is told."""
    assert f"Did you mean {near}?" in refused(call(server, tool, **arguments))
