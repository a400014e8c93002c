"""The bare name of a day's note means that of the project one is in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hm

DAY = "2026-11-20"


@pytest.fixture
def shop(hm: Hm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a note of the day, and the same day in the global scope."""
    repo = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    monkeypatch.chdir(repo)
    hm("write", "The shop has a project.")
    [folder] = (home / "memory/projects").iterdir()
    (home / f"memory/{DAY}.md").write_text("The walrus is global.\n")
    (folder / f"{DAY}.md").write_text("The seal is of the shop.\n\nIt swims.\n")
    monkeypatch.setenv("EDITOR", "cat")
    monkeypatch.delenv("VISUAL", raising=False)
    return folder


@pytest.mark.parametrize("name", [DAY, f"{DAY}.md"])
def test_the_day_of_the_project_comes_first(hm: Hm, shop: Path, name: str) -> None:
    """Each scope has a note of that name; `hm get` read the global one."""
    path = f"projects/{shop.name}/{DAY}.md"

    assert "The seal" in hm("get", name).out
    assert "It swims." in hm("get", f"{name}:3").out
    assert path in hm("history", name).out
    assert path in hm("why", name).out + hm("why", name).err
    assert path in hm("forget", "--dry-run", name).err  # a person wrote it


def test_outside_a_project_it_is_the_global_one(
    hm: Hm, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a path with its folder means that path everywhere."""
    monkeypatch.chdir(tmp_path)

    assert "The walrus" in hm("get", f"{DAY}.md").out
    assert "The seal" in hm("get", f"projects/{shop.name}/{DAY}.md").out
