"""hm edit creates the note that is named, and no other."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hm

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the editor is a script")


@pytest.fixture(autouse=True)
def editor(hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that adds a line; `hm` starts without one."""
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\necho "A wombat." >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(script))


@pytest.fixture
def shop(hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository of a project with a memory."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", folder], check=True)
    monkeypatch.chdir(folder)
    assert hm("save", "setup", "The shop is set up.").code == 0


@pytest.mark.usefixtures("shop")
def test_a_new_note_in_a_folder_of_others_is_created(hm: Hm, home: Path) -> None:
    """Paths of one folder are alike; a file name that is not is no slip."""
    edited = hm("edit", "projects/shop/zzzz.md")

    assert edited.code == 0
    assert (home / "memory" / "projects/shop/zzzz.md").read_text() == "A wombat.\n"
    assert "similar" not in edited.err
    assert "Did you mean" not in hm("get", "projects/shop/yyyy.md").err


def test_a_new_note_with_a_similar_name_is_created(hm: Hm, home: Path) -> None:
    """The name of a day is like that of the day before."""
    hm("write", "--file", "2026-11-21.md", "The walrus is staging.")

    edited = hm("edit", "2026-11-23.md")

    assert edited.code == 0
    assert "(new note; a similar one is 2026-11-21.md)\n" in edited.err
    assert (home / "memory" / "2026-11-23.md").read_text() == "A wombat.\n"


@pytest.mark.usefixtures("shop")
def test_a_mistyped_name_that_ends_otherwise_is_refused(hm: Hm, home: Path) -> None:
    """With the note that was probably meant, in another folder too."""
    before = sorted((home / "memory").rglob("*.md"))

    for name in ("projects/shop/setpu", "projects/shpo/setup", "setpu.md:1"):
        edited = hm("edit", name)
        assert edited.code == 1
        assert "Did you mean projects/shop/setup.md?" in edited.err
    assert sorted((home / "memory").rglob("*.md")) == before


def test_no_new_note_is_named_after_a_secret(hm: Hm, home: Path) -> None:
    """It would be shown wherever notes are named."""
    hm("init")

    refused = hm("edit", "ghp_LEjCfMBeBbCCb4DHj8ga9B5KEDK4FgjMfCBG.md")

    assert refused.code == 2
    assert "The file name looks like a secret (github-pat)." in refused.err
    assert list((home / "memory").glob("ghp_*")) == []


def test_an_edit_is_logged_and_not_passed_by_by_undo(hm: Hm) -> None:
    """`hm undo` undid what was written before it."""
    hm("write", "The walrus is staging.")
    hm("edit", "global.md")

    undone = hm("undo")

    assert undone.code == 2
    assert "Your last change is an edit of global.md" in undone.err
    assert "undoes your last write" in undone.err
    assert hm("search", "walrus").out


def test_without_a_terminal_no_editor_is_guessed(
    hm: Hm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pipe an editor of the system printed its escape sequences for ever."""
    monkeypatch.delenv("EDITOR")
    hm("init")

    edited = hm("edit", "global.md")

    assert (edited.code, edited.err.split("\n")[0]) == (
        1,
        "error: `hm edit` needs a terminal.",
    )
