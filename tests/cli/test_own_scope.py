"""A shell in a repository means its project first, and says so where it matters."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hm


@pytest.fixture
def shop(hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose project has memories, beside others of the same key."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git = ["git", "-C", str(folder)]
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    url = "https://example.com/acme/shop.git"
    subprocess.run([*git, "remote", "add", "origin", url], check=True)
    monkeypatch.chdir(folder)
    for scope, text in (
        ("global", "Everybody uses the staging server."),
        ("team/red", "The red team uses the blue server."),
        ("project/aaa", "The first project uses no server."),
    ):
        assert hm("save", "target", "--scope", scope, text).code == 0
    assert hm("save", "target", "The shop uses the green server.").code == 0
    return folder


def test_a_key_of_several_scopes_is_that_of_the_repository_for_every_reader(
    hm: Hm, shop: Path
) -> None:
    """It used to be the global one for a person, and the own one for an agent."""
    assert "green" in hm("show", "target").out
    assert "projects/shop/" in hm("history", "target").out
    assert "green" in hm("get", "target").out
    assert "blue" in hm("show", "target", "--scope", "team/red").out


def test_a_change_by_an_ambiguous_key_names_the_scopes_and_changes_nothing(
    hm: Hm, shop: Path
) -> None:
    """What is hidden must be what the person had in mind."""
    ran = hm("forget", "target")

    assert ran.code != 0
    for name in ("projects/shop", "teams/red", "global"):
        assert name in ran.err
    assert "green" in hm("show", "target").out
    assert hm("forget", "target", "--scope", "project/shop").code == 0


def test_a_set_is_looked_for_in_the_project_of_the_repository(
    hm: Hm, shop: Path
) -> None:
    """``hm forget --source agent`` in one repository used to hide it in all."""
    ran = hm("forget", "--source", "agent", "--yes")

    assert "--all-scopes" in ran.err
    assert "projects/shop/target.md" in ran.out
    assert "aaa" not in ran.out
    assert "staging" in hm("show", "target", "--scope", "global").out

    back = hm("restore", "--source", "agent")

    assert "projects/shop/target.md" in back.out
    assert "green" in hm("show", "target").out


def test_all_scopes_and_a_scope_select_more(hm: Hm, shop: Path) -> None:
    """The whole memory is one option away."""
    named = hm("forget", "--source", "agent", "--scope", "team/red", "--dry-run")
    every = hm("forget", "--source", "agent", "--all-scopes", "--dry-run")
    alone = hm("forget", "--all-scopes", "--dry-run")

    assert "teams/red/target.md" in named.out
    assert "shop" not in named.out
    assert every.out.count("target.md") == 4
    assert every.err == named.err == ""
    assert alone.code != 0
