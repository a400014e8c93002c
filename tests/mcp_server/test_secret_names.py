"""A refused call repeats no secret: not of its arguments, and not of a note."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.mcp_server.server import MemoryServer
from tests.mcp_server.agents import call, refused

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
