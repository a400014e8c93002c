"""Why one memory is not in the section."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hm


def test_a_memory_that_is_switched_off_is_the_reason(
    hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said that others in the project are newer."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    hm("save", "-g", "deploy-day", "We deploy on Tuesdays.")
    hm("inject")
    hm("config", "set", "enabled", "false")
    hm("inject")

    said = hm("why", "deploy-day").out

    assert said == "not injected: deploy-day.md: the memory is switched off\n"


def test_a_match_is_named_by_the_words_that_matched(
    hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`matches the latest commits` alone can't be checked."""
    folder = tmp_path / "shop"
    git = (
        "git",
        "-C",
        str(folder),
        "-c",
        "user.name=A",
        "-c",
        "user.email=a@b.example",
    )
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(
        [*git, "commit", "-q", "--allow-empty", "-m", "Round invoices in shop"],
        check=True,
    )
    subprocess.run([*git, "checkout", "-q", "-b", "fix/half-taxes"], check=True)
    monkeypatch.chdir(folder)
    hm("save", "rounding", "--type", "decision", "Taxes are rounded half up.")
    hm("write", "Lunch in the shop is at noon.")
    hm("inject")

    said = hm("why").out

    assert (
        "rounding.md:9: kept in the project, matches the branch (half, taxes)," in said
    )
    assert "matches the latest commits (round)" in said
    assert "matches the branch (half, taxes)" in hm("why", "rounding").out
    [lunch] = [line for line in said.splitlines() if ":1-2: " in line]
    assert "matches" not in lunch


def test_a_section_without_memories_is_told_by_status(
    hm: Hm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells agents of the memory, so it is a section all the same."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    hm("write", "-g", "I prefer rebase over merge.")
    hm("inject")

    assert "injected here: 0 memories in CLAUDE.md, checked " in hm("status").out
