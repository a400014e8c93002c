"""A refused call repeats no secret: not of its arguments, and not of a note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import (
    COMMAND,
    TIMEOUT_S,
    call,
    environ,
    initialize_request,
    refused,
)
from tests.support.forked import finish

SECRET = "gh" + "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (SECRET, {}),
        ("memory_search", {"query": "a", SECRET: 1}),
        ("memory_search", {"query": "a", "x" * 40 + "." + SECRET: 1}),
        ("memory_search", {"query": "a", "scope": SECRET}),
        ("memory_save", {"key": "k", "content": "c", "type": SECRET}),
        ("memory_save", {"key": "k", "content": "c", "scope": SECRET}),
        ("memory_get", {"path": f"{SECRET}.md"}),
    ],
)
def test_a_secret_as_a_name_is_masked(
    server: MemoryServer, tool: str, arguments: dict[str, Any]
) -> None:
    """`memory_search has no argument ghp_…` went into the transcript of the agent."""
    assert SECRET[:12] not in refused(call(server, tool, **arguments))


def test_a_taken_key_tells_no_secret_that_a_person_wrote(
    server: MemoryServer, notes: Path
) -> None:
    """The hint quotes what the note says."""
    call(server, "memory_save", key="release", content="Red.", scope="global")
    note = notes / "release.md"
    note.write_text(note.read_text().replace("Red.", f"Use {SECRET} for it."))

    text = refused(
        call(server, "memory_save", key="release", content="Blue.", scope="global")
    )

    assert "release.md says" in text
    assert SECRET[:12] not in text


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (SECRET, {}),
        (f"tools/{SECRET}", {}),
        ("resources/read", {"uri": f"note://{SECRET}"}),
        ("prompts/get", {"name": SECRET}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": SECRET}}),
        ("tools/call", {"name": SECRET, "arguments": {}}),
        ("logging/setLevel", {"level": SECRET}),
    ],
)
def test_a_secret_as_the_name_of_a_method_or_a_resource_is_masked(
    method: str, params: dict[str, Any], notes: Path
) -> None:
    """`Method not found` repeated the name beside its message, in ``data``."""
    assert notes.is_dir()
    requests = [
        initialize_request(1, "probe"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": method, "params": params},
    ]
    lines = "".join(json.dumps(request) + "\n" for request in requests)

    done = finish(COMMAND, lines.encode(), TIMEOUT_S, env=environ())

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert SECRET[:12] not in json.dumps(answers[1])
