"""An injection asks git as little as it can; each start costs as much as a search."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from hivemind_memory.cli import main
from tests.inject.conftest import make_home
from tests.inject.repos import git, make_repo

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the words of each git that is started, one a line."""
    log, real = tmp_path / "asked", shutil.which("git")
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$3 $4" >> "{log}"\nexec "{real}" "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    monkeypatch.setenv("HIVEMIND_HOME", str(make_home(tmp_path / "home")))
    return log


def test_a_section_that_is_there_takes_eight_gits(asked: Path, tmp_path: Path) -> None:
    """There were twelve: two looked for the repository, and four read its options."""
    worktree = make_repo(tmp_path / "shop", text=None)
    assert main.main(["inject", str(worktree)]) == 0
    asked.unlink()

    assert main.main(["inject", str(worktree)]) == 0

    names = [line.split()[0] for line in asked.read_text().splitlines()]
    assert sorted(names) == sorted(
        (
            *("rev-parse", "config", "status", "log"),
            *("ls-files", "check-ignore", "check-attr", "config"),
        )
    )


@pytest.mark.parametrize("off", ["false", "no", "off", "0"])
def test_whatever_git_takes_for_false_switches_injection_off(
    asked: Path, tmp_path: Path, off: str
) -> None:
    worktree = make_repo(tmp_path / "shop", text=None)
    git(worktree, "config", "hivemind.inject", off)

    assert main.main(["inject", str(worktree)]) == 0

    assert not (worktree / "CLAUDE.md").exists()
