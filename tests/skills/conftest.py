"""The bench on which skills are made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.skills.bench import Bench, git
from tests.support.sandbox import Sandbox


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A repository with one commit, in which the test is."""
    user, shop = tmp_path / "user", tmp_path / "shop"
    user.mkdir()
    shop.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    git(shop, "init", "-q")
    git(shop, "commit", "-q", "--allow-empty", "-m", "first")
    monkeypatch.chdir(shop)
    sandbox = Sandbox(tmp_path / "home")
    with sandbox.memory() as memory:
        yield Bench(sandbox, memory, shop.resolve(), user.resolve())
