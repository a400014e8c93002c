"""What killed processes leave is cleared; what cannot be written is said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hivemind_memory.cli.main import main
from hivemind_memory.memory import Memory
from hivemind_memory.wiring import open_memory

LEFT = ".hm-0123456789abcdef.tmp"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one note."""
    folder = tmp_path / "home"
    (folder / "memory" / "projects").mkdir(parents=True)
    (folder / "memory" / "zebra.md").write_text("The zebra is striped.\n")
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    return folder


def sync(memory: Memory) -> object:
    return memory.sync()


def diagnose(memory: Memory) -> object:
    return memory.diagnose()


@pytest.mark.parametrize("look", [sync, diagnose])
def test_half_written_files_are_cleared_unless_they_are_being_written(
    home: Path, look: object
) -> None:
    """They hold the text of a note, and no search shows them."""
    old, deep = home / "memory" / LEFT, home / "memory" / "projects" / LEFT
    young = home / "memory" / ".hm-fedcba9876543210.tmp"
    other = home / "memory" / ".hm-mine.tmp"
    for file in (old, deep, young, other):
        file.write_text("half a n")
    for file in (old, deep, other):
        os.utime(file, (1e9, 1e9))

    with open_memory(home=str(home)) as memory:
        assert callable(look)
        look(memory)

    assert not old.exists()
    assert not deep.exists()
    assert young.exists()
    assert other.exists()


def test_sync_says_that_the_index_cannot_be_written(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It used to say "1 added" of an index in memory, and to end well."""
    (home / "memory" / ".index").write_text("no folder can be made here")

    assert main(["sync"]) == 1

    told = capsys.readouterr()
    assert told.out == ""
    assert "cannot be written" in told.err
    assert "index_dir" in told.err
    assert main(["search", "zebra"]) == 0
