"""What the tools cost a model before it has called one of them."""

from __future__ import annotations

import json
from typing import Any

from hivemind_memory.mcp_server.instructions import INSTRUCTIONS
from hivemind_memory.mcp_server.server_description import first_answers

CHARS_PER_TOKEN = 4
"""Of English and JSON, about; a tokenizer's vocabulary would be a download."""

ALWAYS_TOKENS = 1_400
ALL_TOKENS = 2_300


def tokens_of(tool: dict[str, Any]) -> float:
    """What a client shows the model of a tool: name, description and arguments."""
    shown = {key: tool[key] for key in ("name", "description", "inputSchema")}
    return len(json.dumps(shown, separators=(",", ":"))) / CHARS_PER_TOKEN


def test_the_tools_fit_their_budget() -> None:
    """Every session of every agent pays for them."""
    tools = first_answers()["tools"]
    costs = {tool["name"]: tokens_of(tool) for tool in tools}
    always = [
        costs[tool["name"]]
        for tool in tools
        if tool.get("_meta", {}).get("anthropic/alwaysLoad")
    ]
    instructions = len(INSTRUCTIONS) / CHARS_PER_TOKEN

    assert len(always) == 4
    assert instructions + sum(always) <= ALWAYS_TOKENS
    assert instructions + sum(costs.values()) <= ALL_TOKENS


def test_write_and_save_claim_different_things() -> None:
    """Both once claimed preferences and decisions, and agents guessed."""
    described = {tool["name"]: tool["description"] for tool in first_answers()["tools"]}
    write, save = described["memory_write"], described["memory_save"]

    assert "what happened or what you found" in write
    assert "the one current answer under a key" in save
    assert "call memory_save" in write
    for word in ("decision", "preference"):
        assert f"for a {word}" not in write.split("For a rule")[0]
        assert word in save
    assert "Write (memory_write) what happened or was found" in INSTRUCTIONS
    assert "Save (memory_save) the one current answer under a key" in INSTRUCTIONS


def test_no_tool_repeats_what_the_instructions_say() -> None:
    """The same rule stood in up to four texts, and each session paid for all."""
    described = " ".join(tool["description"] for tool in first_answers()["tools"])

    for rule in ("password", "this project", "about the user or the machine"):
        assert rule in INSTRUCTIONS
        assert rule not in described
    for case in ("root cause", "earlier work", "convention, lesson"):
        assert case in described
        assert case not in INSTRUCTIONS
