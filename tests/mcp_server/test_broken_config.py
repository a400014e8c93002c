"""A config.json that is wrong is spoken of once in each answer of a tool."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.mcp_server.handshake import TOOLS_FILE
from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import call, text_of

CALLS: dict[str, dict[str, Any]] = {
    "memory_search": {"query": "deploy"},
    "memory_get": {"path": "deploy.md"},
    "memory_list": {},
    "memory_history": {"key": "day"},
    "memory_write": {"content": "A new entry."},
    "memory_save": {"key": "day", "type": "decision", "content": "On Tuesdays."},
    "memory_learn": {"topic": "day", "claim": "On Tuesdays."},
    "memory_forget": {"key": "nothing"},
    "memory_link": {"from": "a", "to": "b", "kind": "updates"},
}

FILES = {
    "no JSON": '{"memory": ',
    "an unknown option": '{"memory": {"max_result": 3}}',
    "a wrong type": '{"memory": {"max_results": "many", "workspaces": 3}}',
    "an unknown provider": '{"memory": {"embedding_provider": "anthropic"}}',
    "outside memory": '{"max_results": 3}',
}


@pytest.mark.parametrize("wrong", FILES)
@pytest.mark.parametrize("tool", CALLS)
def test_a_tool_speaks_of_a_wrong_configuration_once(
    home: Path,
    server: MemoryServer,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    wrong: str,
) -> None:
    """A model pays for each sentence that it reads twice."""
    monkeypatch.delenv("HIVEMIND_EMBEDDING_PROVIDER")
    (home / "config.json").write_text(FILES[wrong])

    said = text_of(call(server, tool, **CALLS[tool]))

    pieces = re.split(r"\n|(?<=[.:]) (?=[A-Z/])", said)
    counted = Counter(one.strip() for one in pieces if len(one.strip()) > 20)
    assert counted
    assert [one for one, times in counted.items() if times > 1] == []
    assert "input_value" not in said


def test_every_tool_is_called() -> None:
    """A new one joins the table."""
    answers = json.loads(Path(TOOLS_FILE).read_text(encoding="utf-8"))

    names = re.findall(r'"name": "(memory_\w+)"', json.dumps(answers["tools"]))
    assert set(names) == CALLS.keys()
