"""A home with a few notes, an injector over it, and git without anybody's settings."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hivemind_memory import open_memory
from hivemind_memory.inject.injector import InjectionResult, Injector
from hivemind_memory.opening import open_injector
from tests.inject.repos import GIT_OF_NOBODY, git
from tests.support.built_once import build_once

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


@dataclass
class Place:
    """A folder to which worktrees are copied: built once for each kind.

    There is one at a time, for the settings of git hold its path.
    """

    here: Path
    synced_home: Path

    @contextmanager
    def plain(self, state: Callable[[Path], Path]) -> Iterator[Path]:
        """Yield a worktree in some state."""
        with self._copy(state, has_section=False) as (worktree, _):
            yield worktree

    @contextmanager
    def injected(self, state: Callable[[Path], Path]) -> Iterator[tuple[Path, Path]]:
        """Yield such a worktree with a section, and the file that has it."""
        with self._copy(state, has_section=True) as found:
            yield found

    def inject(self, worktree: Path) -> InjectionResult:
        """Inject what the home says."""
        with open_memory(home=str(self.here / "home")) as memory:
            return open_injector(memory).inject(str(worktree))

    @contextmanager
    def _copy(
        self, state: Callable[[Path], Path], *, has_section: bool
    ) -> Iterator[tuple[Path, Path]]:
        """Yield a worktree, and its file with a section if it has one."""
        said = self.here / "said.json"

        def build() -> None:
            self.here.mkdir()
            worktree, file = state(self.here), ""
            if has_section:
                shutil.copytree(self.synced_home, self.here / "home")
                file = self.inject(worktree).file
            said.write_text(json.dumps([str(worktree), file]))

        kind = "injected" if has_section else "plain"
        build_once(f"{kind} {state.__name__}", self.here, build)
        try:
            top, file = json.loads(said.read_text())
            git(Path(top), "update-index", "-q", "--refresh")
            yield Path(top), Path(top, file)
        finally:
            shutil.rmtree(self.here)


@pytest.fixture(scope="session")
def place(synced_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Where worktrees are copied to."""
    return Place(tmp_path_factory.mktemp("place") / "here", synced_home)


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
