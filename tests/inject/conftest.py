"""A home with a few notes, an injector over it, and git without anybody's settings."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.inject.injector import Injector
from hivemind_memory.opening import open_injector
from tests.inject.repos import GIT_OF_NOBODY

NOTES = {
    "global.md": "# Global\n\n## Style\n\nTabs are four spaces.\n",
    "shop.md": "# Shop\n\nThe shop deploys on Tuesdays only.\n\n\n"
    "The shop's staging database runs on port 5433.\n",
    "garden.md": "# Garden\n\nTomatoes want water in the evening.\n",
}


@pytest.fixture(autouse=True)
def environ() -> Iterator[None]:
    """Git of nobody, and no settings from the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            patch.delenv(name, raising=False)
        for name, value in GIT_OF_NOBODY.items():
            patch.setenv(name, value)
        patch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
        yield


@pytest.fixture(scope="session")
def synced_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an index, to be copied: a worktree adds a project to its home."""
    home = make_home(tmp_path_factory.mktemp("home"))
    with open_memory(home=str(home)) as memory:
        memory.sync()
    return home


@pytest.fixture
def noted_home(
    synced_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A copy of that home."""
    home = tmp_path_factory.mktemp("home") / "home"
    shutil.copytree(synced_home, home)
    yield home
    shutil.rmtree(home.parent)


@pytest.fixture
def injector(noted_home: Path, environ: None) -> Iterator[Injector]:
    """An injector over that home."""
    with open_memory(home=str(noted_home)) as memory:
        yield open_injector(memory)


def make_home(home: Path) -> Path:
    """Fill a home with notes."""
    (home / "memory").mkdir(parents=True)
    for name, text in NOTES.items():
        (home / "memory" / name).write_text(text, encoding="utf-8")
    return home


@pytest.fixture(autouse=True)
def outside_any_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run outside any repository: a write without a scope is then global."""
    monkeypatch.chdir(tmp_path)
