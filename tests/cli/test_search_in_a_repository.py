"""A person's shell in a repository searches with its project in mind."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from hivemind_memory.config.settings import options
from tests.cli.conftest import Hm


def test_a_shell_in_a_repository_has_its_project(
    hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Also in a worktree, and without starting git."""
    shop = tmp_path / "code" / "shop"
    subprocess.run(["git", "init", "-q", shop], check=True)
    commit = ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
    subprocess.run(["git", *commit, "--allow-empty"], check=True, cwd=shop)
    subprocess.run(["git", "worktree", "add", "-q", "../tree"], check=True, cwd=shop)
    (home / "memory").mkdir(parents=True, exist_ok=True)
    (home / "memory" / "plain.md").write_text("A session, or two sessions.\n")
    monkeypatch.chdir(shop)
    said = "As of today the session is shared by both services, so ask first."
    assert hm("save", "rule", said).code == 0

    places = []
    for folder in (shop, tmp_path / "code" / "tree", tmp_path):
        monkeypatch.chdir(folder)
        monkeypatch.setenv("PATH", "")
        places.append(hm("search", "session", "--explain").out.split(":")[0])

    assert places == ["projects/shop/rule.md", "projects/shop/rule.md", "plain.md"]


def test_the_command_that_settings_of_projects_name_prints_an_identity(
    hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They sent a person to `hm inject --json`, which prints none."""
    subprocess.run(["git", "init", "-q", tmp_path / "shop"], check=True)
    remote = ("remote", "add", "origin", "https://github.com/me/shop")
    subprocess.run(["git", *remote], check=True, cwd=tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")

    about = options()["projects"].description
    [named] = re.findall(r"that hm (.+ --json) prints", about)

    assert json.loads(hm(*named.split()).out)["identity"] == "github.com/me/shop"
