"""A project whose file cannot be read: a sentence in every command, and a way out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Hm

COMMANDS = [
    ("project",),
    ("save", "k", "text"),
    ("show", "port"),
    ("inject",),
    ("why", "port"),
]


@pytest.fixture
def file(home: Path, hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a project that has a memory; the shell is in its repository."""
    shop = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", shop], check=True)
    monkeypatch.chdir(shop)
    hm("save", "-g", "port", "Of all.")
    hm("save", "port", "Of the shop.")
    return home / "memory" / "projects" / "shop" / ".project"


@pytest.mark.parametrize("data", [b"\0\1\2", b"x\n" * 40_000, b"/x\0" * 40_000])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_every_command_says_what_is_wrong_and_what_to_do(
    hm: Hm, file: Path, data: bytes, words: tuple[str, ...]
) -> None:
    """And none makes a second project, or writes over the file."""
    file.write_bytes(data)

    said = hm(*words)

    assert said.code == 1
    assert said.err.startswith("error: The .project file of a project cannot be read")
    assert "hint: A person can run `hm project list` to see which file" in said.err
    assert file.read_bytes() == data
    assert os.listdir(file.parent.parent) == ["shop"]


def test_status_doctor_and_the_list_go_on(hm: Hm, file: Path) -> None:
    """They are where a person looks."""
    file.write_bytes(b"\0")

    assert "not known: The .project file of a project cannot" in hm("status").out
    assert "shop/.project cannot be read: it is binary" in hm("doctor").out
    assert "cannot be read: it is binary" in hm("project", "list").out


def test_adopt_writes_it_anew(hm: Hm, file: Path) -> None:
    """The command of the hint."""
    file.write_bytes(b"\0")

    assert hm("project", "adopt", "shop").code == 0

    assert "Of the shop." in hm("show", "port").out
    assert file.read_text().startswith("/")


def test_a_repository_of_another_project_goes_on(
    hm: Hm, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is known whose it is."""
    site = tmp_path / "site"
    subprocess.run(["git", "init", "-q", site], check=True)
    monkeypatch.chdir(site)
    hm("save", "here", "Of the site.")
    file.write_bytes(b"\0")

    assert hm("show", "here").code == 0
    assert hm("save", "there", "Of the site, too.").code == 0
