"""What a model cannot use is out of its sight, and what a type does is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.mcp_server.server_description import first_answers
from hivemind_memory.model.memory_types import (
    BUILT_IN,
    FIRST,
    LESSON,
    PREFERENCE,
    SEARCH_ONLY,
)
from tests.mcp_server.agents import COMMAND, piped

TREE = {"root": {}, "a": {"parent": "root"}}


def offered(answer: dict[str, Any]) -> dict[str, list[str]]:
    """Return the scopes that each tool of a list offers."""
    arguments = {
        tool["name"]: tool["inputSchema"]["properties"]
        for tool in answer["result"]["tools"]
    }
    return {
        name: given["scope"]["enum"]
        for name, given in arguments.items()
        if "scope" in given
    }


@pytest.mark.parametrize(
    ("options", "tree", "more"),
    [
        ((), {}, []),
        (("--team", "red"), {}, ["team"]),
        (("--workspace", "a"), {}, ["workspace"]),
        (("--workspace", "a"), TREE, ["team", "workspace"]),
    ],
)
def test_a_server_offers_the_scopes_that_it_was_started_with(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    tree: dict[str, Any],
    more: list[str],
) -> None:
    """Both before the SDK is loaded and after."""
    monkeypatch.delenv("HIVEMIND_PROJECT")
    if tree:
        (home / "config.json").write_text(json.dumps({"memory": {"workspaces": tree}}))
    with piped((*COMMAND, *options)) as pipes:
        pipes.initialize()
        early = pipes.ask("tools/list", 2)
        pipes.call("memory_list", 3)
        late = pipes.ask("tools/list", 4)

    assert early["result"] == late["result"]
    assert set(map(tuple, offered(early).values())) == {("global", "project", *more)}
    assert "memory_save" in offered(early)


def test_a_model_is_told_which_types_are_injected() -> None:
    """The last is said as a range, so the types that are only searched come last."""
    only = [name for name, kind in BUILT_IN.items() if kind.injected == SEARCH_ONLY]
    tools = {tool["name"]: tool for tool in first_answers()["tools"]}
    argument = tools["memory_save"]["inputSchema"]["properties"]["type"]

    assert argument["enum"] == list(BUILT_IN)
    assert list(BUILT_IN)[-len(only) :] == only
    opening = {FIRST, LESSON, PREFERENCE}
    opens = [name for name, kind in BUILT_IN.items() if kind.injected in opening]
    first, rest = argument["description"].split(" are shown in every session; ")
    others, last = rest.split(" only where relevant; ")
    assert first.replace(" and ", ", ").split(", ") == sorted(opens, key=first.find)
    assert others.replace(" and ", ", ").split(", ") == [
        name for name in BUILT_IN if name not in {*opens, *only}
    ]
    assert last == f"{only[0]} to {only[-1]} never"
