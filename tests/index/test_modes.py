"""Every file of the index is private from birth, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sandbox import Sandbox, ask


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask")
def test_files_are_0600_and_folders_0700_under_any_umask(tmp_path: Path) -> None:
    """The index, its logs and locks, and the journal have exact modes."""
    os.chmod(tmp_path, 0o700)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    home.chmod(0o700)
    (home / "memory").mkdir()
    (home / "memory").chmod(0o700)
    sandbox = Sandbox(home)

    with sandbox.memory() as memory:
        memory.write("a secret", file="deep/note.md")
        ask(memory, "secret")
        memory.rebuild()
        ask(memory, "secret")
        modes = {
            str(path.relative_to(home)): stat.S_IMODE(path.stat().st_mode)
            for path in [home, *home.rglob("*")]
        }
        is_folder = {
            str(path.relative_to(home)): path.is_dir()
            for path in [home, *home.rglob("*")]
        }

    wrong = {
        name: oct(mode)
        for name, mode in modes.items()
        if mode != (0o700 if is_folder[name] else 0o600)
    }
    assert wrong == {}
    assert "memory/.index/memory.db" in modes
