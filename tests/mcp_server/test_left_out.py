"""An argument that is null, empty or blank is one that the call leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import call, found
from tests.support.tiers import mostly_thorough

KEY = "deploy-day"
CALLS: dict[str, dict[str, Any]] = {
    "memory_search": {"query": "deploy"},
    "memory_write": {"content": "The deploy took nine minutes."},
    "memory_get": {"path": "deploy.md"},
    "memory_list": {},
    "memory_save": {"key": "rollback", "content": "Roll back within the hour."},
    "memory_learn": {"topic": "sqlite", "claim": "WAL allows one writer."},
    "memory_history": {"key": KEY},
    "memory_link": {"from": KEY, "to": "deploy-hour", "kind": "related_to"},
    "memory_forget": {"id": KEY},
}
"""Tool -> a call with no more than it needs."""

BLANKS = (None, "", " ", "\t\n")


@pytest.fixture
def saved(server: MemoryServer, notes: Path) -> Iterator[MemoryServer]:
    """A server whose memory holds two memories."""
    for key in (KEY, "deploy-hour"):
        found(call(server, "memory_save", key=key, content=f"We deploy on {key}."))
    yield server
    assert (notes / f"{KEY}.md").exists()


def optional(server: MemoryServer, tool: str) -> list[str]:
    """The arguments of a tool that a call may leave out."""
    [schema] = [
        one.input_schema for one in anyio.run(server.list_tools) if one.name == tool
    ]
    needed = {*schema.get("required", ()), *CALLS[tool]}
    return [name for name in schema["properties"] if name not in needed]


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("tool", mostly_thorough(CALLS, every=3))
def test_a_blank_argument_counts_as_left_out(
    saved: MemoryServer, tool: str, blank: str | None
) -> None:
    """A blank scope, file or confidence was refused: models send them for nothing."""
    names = optional(saved, tool)
    blanks = dict.fromkeys(names, blank)

    shape = found(call(saved, tool, **CALLS[tool], **blanks))

    if tool == "memory_write":
        assert shape["path"].endswith(".md")
        assert not shape["path"].startswith(" ")
    elif tool == "memory_save":
        assert (shape["type"], shape["path"]) == ("context", "rollback.md")
    elif tool == "memory_learn":
        assert shape["type"] == "reference"
    elif tool == "memory_search":
        assert "deploy.md" in [hit["path"] for hit in shape["hits"]]
    elif tool == "memory_list":
        assert "deploy.md" in [one["path"] for one in shape["files"]]
    else:
        assert shape


def test_every_tool_only_if_all_known(server: MemoryServer) -> None:
    """A tool that is added is tried too."""
    assert {tool.name for tool in anyio.run(server.list_tools)} == set(CALLS)


def test_blank_items_of_a_list_are_left_out(saved: MemoryServer, notes: Path) -> None:
    """A blank tag or reference stood in the note, or was refused."""
    shape = found(
        call(
            saved,
            "memory_save",
            key="rollback",
            content="Roll back within the hour.",
            tags=["ops", " ", ""],
            related=["", KEY],
        )
    )

    note = (notes / shape["path"]).read_text(encoding="utf-8")
    assert "tags: [ops]\n" in note
    [related] = [line for line in note.split("\n") if line.startswith("related: [")]
    assert "," not in related


def test_importance_is_from_0_to_1_or_left_out(
    saved: MemoryServer, notes: Path
) -> None:
    """The schema had two ranges and a default of -1, which clients may still send."""
    given = {**CALLS["memory_save"], "importance": -1.0}
    [tool] = [t for t in anyio.run(saved.list_tools) if t.name == "memory_save"]

    shape = found(call(saved, "memory_save", **given))

    schema = tool.input_schema["properties"]["importance"]
    assert (schema["minimum"], schema["maximum"]) == (0, 1)
    assert "default" not in schema
    assert "importance" not in (notes / shape["path"]).read_text(encoding="utf-8")
