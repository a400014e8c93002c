"""Homes of the user and of the memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The user's home folder."""
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A home of the memory, whose clock stands when the transcripts were recorded."""
    return Sandbox(tmp_path / "home")
