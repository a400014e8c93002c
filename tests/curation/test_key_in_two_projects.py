"""A key that two projects have is never taken for one of them by chance."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.cli import main
from tests.inject.repos import git

SCOPES = ("till", "shop")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with two repositories below it, each with a memory ``db``."""
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("EDITOR", "true")
    for name in SCOPES:
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "-q")
        monkeypatch.chdir(tmp_path / name)
        assert main.main(["save", "db", f"The {name} uses Postgres."]) == 0
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", ["show", "history", "get", "edit", "forget"])
def test_a_key_of_two_projects_names_both_and_how_to_choose(
    home: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """``hm show`` took the first by name, and did not say so."""
    capsys.readouterr()

    code = main.main([command, "db"])

    out, said = capsys.readouterr()
    assert (code, out) == (2, "")
    assert "several scopes: projects/shop, projects/till." in said
    assert "projects/shop/db.md or projects/till/db.md" in said


def test_the_named_one_and_that_of_the_repository_are_certain(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its path, by its scope, and where the shell is."""
    capsys.readouterr()

    assert main.main(["show", "projects/till/db.md"]) == 0
    assert main.main(["show", "db", "--scope", "project/till"]) == 0
    monkeypatch.chdir(home / "till")
    assert main.main(["show", "db"]) == 0

    assert capsys.readouterr().out.count("The till uses Postgres.") == 3
