"""What several tests of working memory need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory import Memory, open_memory


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory without options."""
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    (tmp_path / "home" / "memory").mkdir(parents=True)
    with open_memory() as opened:
        yield opened
