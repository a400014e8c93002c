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


def test_the_bare_day_is_that_of_the_project(hm: Hm, shop: Path) -> None:
    """Each scope has a note of that name; `hm get` read the global one."""
    path = f"projects/{shop.name}/{DAY}.md"

    assert "The seal" in hm("get", DAY).out
    assert "It swims." in hm("get", f"{DAY}:3").out
    assert path in hm("history", DAY).out
    assert path in hm("why", DAY).out + hm("why", DAY).err
    assert path in hm("forget", "--dry-run", DAY).err  # a person wrote it


def test_what_a_search_prints_is_opened_as_printed(hm: Hm, shop: Path) -> None:
    """`hm get` of a global hit printed other text: the project's note of that day."""
    for word, text in (("walrus", "The walrus is global."), ("seal", "The seal is of")):
        [place] = [line for line in hm("search", word).out.split() if DAY in line]

        assert text in hm("get", place).out
        assert place.partition(":")[0] in hm("history", place.partition(":")[0]).out


def test_a_forget_takes_the_entry_at_the_place_that_was_printed(
    hm: Hm, shop: Path
) -> None:
    """It would have hidden the entry on these lines of the project's note."""
    printed = hm("write", "-g", "The lantern is global.").out
    hm("write", "The anchor is of the shop.")
    place = printed.split()[1]

    assert hm("forget", place).code == 0

    assert "lantern" not in hm("search", "lantern").out
    assert "The anchor" in hm("search", "anchor").out


def test_the_name_of_a_days_note_is_the_projects_if_only_it_has_one(
    hm: Hm, shop: Path, home: Path
) -> None:
    """Nothing else can be meant then."""
    (home / f"memory/{DAY}.md").unlink()

    assert "The seal" in hm("get", f"{DAY}.md").out
    assert "It swims." in hm("get", f"{DAY}.md:3").out


def test_a_forget_of_a_whole_note_says_what_can_be_forgotten(
    hm: Hm, shop: Path
) -> None:
    """It said that a person wrote a note of entries by agents."""
    hm("write", "The anchor is of the shop.")

    refused = hm("forget", hm("write", "Another.").out.split()[1].partition(":")[0])

    assert refused.code == 2
    assert "only memories and entries can be hidden" in refused.err
    assert "Name an entry in it by its lines or id" in refused.err


def test_outside_a_project_it_is_the_global_one(
    hm: Hm, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a path with its folder means that path everywhere."""
    monkeypatch.chdir(tmp_path)

    assert "The walrus" in hm("get", f"{DAY}.md").out
    assert "The seal" in hm("get", f"projects/{shop.name}/{DAY}.md").out
