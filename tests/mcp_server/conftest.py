"""Servers over a home of the test's own: in memory, and as processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.mcp_server.server import MemoryServer, make_server
from hivemind_memory.mcp_server.server_state import ServerState


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with three notes, and an environment without settings."""
    for name in list(os.environ):
        if name.startswith(("HIVEMIND_", "OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    # An agent without a project, who writes to the global scope.
    monkeypatch.setenv("HIVEMIND_PROJECT", "none")
    notes = folder / "memory"
    (notes / "projects").mkdir(parents=True)
    (notes / "deploy.md").write_text(
        "# Deploying\n\nWe deploy on Tuesdays only.\n\n"
        "## Rollback\n\nRun the rollback script, then tell the channel.\n",
        encoding="utf-8",
    )
    (notes / "odd.md").write_text(
        "Turned \u202e around, \x1b[31m red, and hidden\u200b\u2066.\r\nSecond\n",
        encoding="utf-8",
        newline="",
    )
    (notes / "projects" / "site.md").write_text(
        "The staging database runs on port 5433.\n", encoding="utf-8"
    )
    return folder


@pytest.fixture
def notes(home: Path) -> Path:
    """The notes folder."""
    return home / "memory"


@pytest.fixture
def server(home: Path) -> Iterator[MemoryServer]:
    """A server that watches nothing."""
    server_state = ServerState(lambda: opening.open_memory(home=str(home)))
    yield make_server(server_state, "5e551017")
    assert server_state.close(within_s=5)
