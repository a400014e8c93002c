"""A home of the test's own, and a server over it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http_api.served import Served, serving


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without notes, and an environment without settings."""
    for name in list(os.environ):
        if name.startswith(("HIVEMIND_", "OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    (folder / "memory").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def served(home: Path) -> Iterator[Served]:
    """A server over the home."""
    assert home.is_dir()
    with serving() as one:
        yield one
