"""Homes that cannot be used, and words that are too long: one sentence each."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hivemind_memory.cli import start
from hivemind_memory.cli.table import all_commands
from tests.cli.conftest import Hm

WRITING = (
    *(("write", "x"), ("save", "k", "v"), ("learn", "k", "v"), ("kv", "set", "a", "b")),
    *(("forget", "k"), ("undo",), ("init",)),
)


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_a_file_where_the_home_belongs_is_named(
    hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """It said that a file exists, and to change the mode of one that does not."""
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "file" / "home"))

    ran = hm(*words)

    assert ran.code == 1
    assert f"{tmp_path / 'file'} is not a folder." in ran.err
    assert ran.err.count("error:") == 1
    assert "config.json" not in ran.err
    assert (tmp_path / "file").read_text() == "mine"


def test_an_empty_home_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it, `~` was the root of the disk, and a memory was made there."""
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr(sys, "argv", ["hm"])
    homes = []
    monkeypatch.setattr(
        "hivemind_memory.cli.main.run", lambda: homes.append(os.path.expanduser("~"))
    )

    start.run()

    assert homes
    assert homes[0] != ""
    assert "HOME" not in os.environ


def test_no_error_repeats_thousands_of_letters(hm: Hm, notes: Path) -> None:
    """Of every command that refuses a word, however long that word is."""
    assert notes.is_dir()
    refused = 0
    for command in all_commands():
        if " " in command.name or command.name in {"write", "mcp", "serve", "watch"}:
            continue
        ran = hm(command.name, "x" * 5_000)
        if ran.code:
            refused += 1
            assert 0 < len(ran.err) < 1_200, (command.name, ran.err[:300])

    assert refused > 30
