"""What the commands of projects answer if there is nothing for them to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hm


@pytest.fixture
def shop(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, which is the current folder."""
    assert home
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    return folder


def test_a_repository_leaves_no_project_that_it_stays_in(
    hm: Hm, home: Path, shop: Path
) -> None:
    """It was said to have left the project that it was in before and after."""
    hm("write", "The shop is open.")
    (home / "memory/projects/store").mkdir()

    stays = hm("project", "adopt", "shop", "--json").json
    moves = hm("project", "adopt", "store", "--json").json

    assert stays == {"scope": "projects/shop", "left": ""}
    assert moves == {"scope": "projects/store", "left": "projects/shop"}


def test_a_project_that_is_merged_into_itself_is_told_so(hm: Hm, shop: Path) -> None:
    """The answer was that of a rename."""
    hm("write", "The shop is open.")

    merged = hm("project", "merge", "shop", "shop").err
    renamed = hm("project", "rename", "shop", "shop").err

    assert "A project cannot be merged into itself. Nothing was moved." in merged
    assert "It is already called shop. Nothing was moved." in renamed
