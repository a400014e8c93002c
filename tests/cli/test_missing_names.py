"""Commands without what they need, and with names that do not exist."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hivemind_memory.cli.table import all_commands
from tests.cli.conftest import Hm
from tests.support.tiers import mostly_thorough

ENDLESS = {"mcp", "serve", "dashboard", "watch", "exec"}
"""These start a server, serve until they are stopped, or become another program."""

COMMANDS = {one.name: one for one in all_commands() if one.name not in ENDLESS}


@pytest.fixture
def project(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Path:
    """A repository, so that what is written goes to its project."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EDITOR", "true")
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    assert hm("save", "deploy-day", "On Tuesdays.").code == 0
    return folder


@pytest.mark.parametrize("command", mostly_thorough(COMMANDS, every=3))
def test_an_error_is_the_first_thing_that_is_said(
    hm: Hm, project: Path, command: str
) -> None:
    """A bare `hm restore` said where it looks, before it said what it needs."""
    needed = sum(one.is_required for one in COMMANDS[command].arguments)
    name = "no-such-name"

    for words in ([], [name] * max(1, needed), ["--scope", "global"]):
        if words == [name] and command in {"backup", "write"}:
            continue  # the name is one of a new file, or is the text
        ran = hm(*command.split(), *words)

        if "error: " in ran.err:
            assert ran.err.startswith("error: "), (words, ran)
            assert ran.err.count("error: ") == 1, (words, ran)
            assert ran.err.count("hint: ") <= 1, (words, ran)
            assert ran.out == "", (words, ran)
            # A program that is missing is told as a shell tells it.
            assert ran.code in (1, 2, 127), (words, ran)


@pytest.mark.parametrize("command", mostly_thorough(COMMANDS, every=2))
def test_every_command_says_the_same_of_a_missing_notes_folder(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """`hm get` and `hm log` ended with 2, as for a mistyped command, others with 1."""
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.chdir(home.parent)
    needed = sum(one.is_required for one in COMMANDS[command].arguments)
    notes = home / "memory"

    for name in ("a.md", "a"):
        ran = hm(*command.split(), *[name] * needed)

        if "notes folder" in ran.err and ran.code:
            assert f"here is no notes folder {notes}" in ran.err
            assert "`hm init` creates it; --memory-dir or" in ran.err
            assert ran.code == 1


@pytest.mark.parametrize("command", ["forget", "restore"])
def test_where_a_set_is_looked_for_is_said_when_one_is_given(
    hm: Hm, project: Path, command: str
) -> None:
    """Without a name, a session or a day there is nothing to look for."""
    bare = hm(command)
    everywhere = hm(command, "--all-scopes")
    given = hm(command, "--source", "human")

    assert bare.err == everywhere.err
    assert bare.err.startswith("error: Nothing is selected")
    assert given.err.startswith("Looking only in projects/shop; --all-scopes")


def test_a_backup_that_is_not_there_is_named(hm: Hm, home: Path) -> None:
    """It was told to try again, which finds no file either."""
    ran = hm("restore-backup", "no-such-file.tar.gz")

    assert ran.err == (
        "error: no-such-file.tar.gz: there is no such file or folder."
        " Nothing was restored.\nhint: Check the path.\n"
    )


def test_init_elsewhere_says_how_commands_find_the_notes(
    hm: Hm, home: Path, tmp_path: Path
) -> None:
    """What it offered next found no notes folder."""
    folder = tmp_path / "my notes"
    folder.mkdir()
    (folder / "recipes.md").write_text("Sourdough needs a night.\n")
    (folder / "bike.markdown").write_text("28 inch tubes\n")

    said = hm("init", "--memory-dir", str(folder)).out
    offered = f"ln -s '{folder}' {home / 'memory'}"
    (home / "memory").symlink_to(folder)
    found = hm("search", "sourdough")
    again = hm("init").out

    assert f"`--memory-dir '{folder}'`, also `hm connect`." in said
    assert f"`{offered}`" in said
    assert "2 notes in the index; 1 file skipped, which `hm status` lists." in said
    assert "recipes.md" in found.out
    assert "--memory-dir" not in again
