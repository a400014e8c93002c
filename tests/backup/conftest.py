"""Fixtures of the tests of backups."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def outside_any_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run outside any repository: a write without a scope is then global."""
    monkeypatch.chdir(tmp_path)
