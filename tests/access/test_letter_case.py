"""Scopes that differ only in letter case are one scope, with one folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hivemind_memory.files.scope_folders import spelled_path
from hivemind_memory.model.note_path import NotePath
from tests.cli.conftest import Hm, hm, home  # noqa: F401 - fixtures


def folders(home: Path) -> set[str]:  # noqa: F811
    """Return the folders of projects, however their parent is spelled."""
    memory = home / "memory"
    return {str(one.relative_to(memory)) for one in memory.glob("[pP]*/*")}


@pytest.mark.parametrize("file", ["projects/SHOP/b.md", "Projects/Shop/b.md"])
def test_a_note_goes_into_the_folder_that_its_scope_has(
    hm: Hm,  # noqa: F811
    home: Path,  # noqa: F811
    file: str,
) -> None:
    """`hm write --file projects/SHOP/b.md` made a second folder of the scope."""
    hm("write", "--file", "projects/shop/a.md", "The shop sells tea.")

    saved = hm("write", "--file", file, "The shop sells cake.")

    assert saved.out.startswith("saved projects/shop/b.md:1-2 ")
    assert folders(home) == {"projects/shop"}


def test_a_folder_that_a_person_spelled_otherwise_is_that_of_the_scope(
    hm: Hm,  # noqa: F811
    home: Path,  # noqa: F811
) -> None:
    """What is saved, replaced, accepted or brought back goes nowhere else."""
    (home / "memory/projects/Shop").mkdir(parents=True)
    scope = ("--scope", "project/shop")

    hm("save", *scope, "tea", "Green tea.")
    hm("save", *scope, "--reason", "sold out", "tea", "Black tea.")
    assert hm("forget", "tea").code == 0
    assert hm("restore", "tea").code == 0
    hm("save", *scope, "--source", "external", "cake", "A claim.")
    assert hm("inbox", "accept", "cake").code == 0
    written = hm("write", *scope, "--source", "external", "A waiting entry.")
    entry_id = written.out.rpartition("(")[2].rstrip(")\n")
    assert hm("inbox", "accept", entry_id).code == 0
    hm("undo")

    assert folders(home) == {"projects/Shop"}
    kept = {path.name for path in (home / "memory/projects/Shop").glob("*")}
    assert {"tea.md", "cake.md", "superseded"} <= kept
    assert not (home / "memory/projects/Shop/projects").exists()
    assert len(hm("history", "tea", "--json").json["memories"]) == 2


def test_a_repository_adopts_a_folder_that_is_spelled_otherwise(
    hm: Hm,  # noqa: F811
    home: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And keeps it when a person changes the case of its own."""
    subprocess.run(["git", "init", "-q", tmp_path / "shop"], check=True)
    monkeypatch.chdir(tmp_path / "shop")
    made = home / "memory/projects/Shop"
    made.mkdir(parents=True)
    (made / "tea.md").write_text("Green tea.\n")

    first = hm("write", "The shop is open.").out
    made.rename(made.with_name("SHOP"))
    second = hm("write", "The shop is closed.").out
    renamed = hm("project", "rename", "shop", "store")

    assert first.startswith("saved projects/Shop/")
    assert second.startswith("saved projects/SHOP/")
    assert renamed.code == 0, renamed.err
    assert folders(home) == {"projects/store"}
    assert {"tea.md", ".project"} < set(os.listdir(home / "memory/projects/store"))
    assert "green tea" in hm("search", "green tea").out.lower()


@pytest.mark.parametrize("scope", ["project/SHOP", "Projects/shop"])
def test_a_scope_is_named_in_any_case(
    hm: Hm,  # noqa: F811
    home: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    scope: str,
) -> None:
    """`SHOP` could not be the name of a project."""
    hm("write", "--file", "projects/shop/a.md", "The shop sells tea.")

    named = hm("search", "--scope", scope, "tea")
    monkeypatch.setenv("HIVEMIND_PROJECT", "Shop")
    own = hm("search", "tea")

    assert "projects/shop/a.md" in named.out
    assert "projects/shop/a.md" in own.out


def test_of_two_folders_a_note_that_is_there_is_meant_as_it_is_named(
    tmp_path: Path,
) -> None:
    """They were made by hand, or on another machine."""
    for folder in ("shop", "SHOP"):
        (tmp_path / "projects" / folder).mkdir(parents=True)
    (tmp_path / "projects/SHOP/a.md").write_text("Tea.\n")

    spelled = {
        name: spelled_path(str(tmp_path), NotePath(name))
        for name in ("projects/SHOP/a.md", "projects/SHOP/b.md", "Projects/shop/b.md")
    }

    assert list(spelled.values()) == [
        "projects/SHOP/a.md",
        "projects/shop/b.md",
        "projects/shop/b.md",
    ]
