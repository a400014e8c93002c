"""Callers that see only some scopes, and a worktree of another project."""

from __future__ import annotations

import atexit
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp

import pytest

from tests.cli.conftest import Hm
from tests.support.built_once import build_once

CALLERS = {
    "agent": {"CLAUDECODE": "1"},
    "agent of shop": {"CLAUDECODE": "1", "HIVEMIND_PROJECT": "shop"},
    "none": {"HIVEMIND_PROJECT": "none"},
    "project": {"HIVEMIND_PROJECT": "shop"},
    "team": {"HIVEMIND_TEAM": "red"},
    "workspace": {"HIVEMIND_WORKSPACE": "web"},
}
LIMITED = pytest.mark.parametrize("caller", CALLERS)


_PLACE = Path(mkdtemp()).resolve()
atexit.register(shutil.rmtree, _PLACE, ignore_errors=True)


@pytest.fixture
def tmp_path() -> Path:
    """An empty folder, the same for all tests: what is built once holds its name."""
    shutil.rmtree(_PLACE)
    _PLACE.mkdir()
    return _PLACE


@pytest.fixture
def site(home: Path, hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another project's worktree with a section; the test is in that of ``shop``."""

    def build() -> None:
        for name, text in (
            ("site", "Its harbour is blue."),
            ("shop", "Ours is green."),
        ):
            folder = tmp_path / "code" / name
            subprocess.run(["git", "init", "-q", folder], check=True)
            monkeypatch.chdir(folder)
            assert hm("save", f"theme-of-{name}", text).code == 0
            assert hm("inject").code == 0
        assert hm("save", "-g", "editor", "Files are edited with vi.").code == 0

    build_once("two projects", tmp_path, build)
    monkeypatch.chdir(tmp_path / "code" / "shop")
    return tmp_path / "code" / "site"


def become(monkeypatch: pytest.MonkeyPatch, caller: str) -> None:
    """Set what a caller's shell has in its environment."""
    for name, text in CALLERS[caller].items():
        monkeypatch.setenv(name, text)


def files_in(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder, those of git included."""
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
