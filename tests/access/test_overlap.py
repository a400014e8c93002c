"""A caller of some scopes reads no part of a notes folder as notes of everyone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Hm, hm, home
from tests.support.limited_callers import LIMITED, become, files_in, site, tmp_path

__all__ = ["hm", "home", "site", "tmp_path"]


@LIMITED
@pytest.mark.parametrize("folder", ["memory/projects/site", "memory/projects", "."])
def test_a_part_of_the_notes_folder_is_no_notes_folder(
    hm: Hm,
    home: Path,
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    caller: str,
) -> None:
    """Or a project's notes would be those that everyone sees."""
    given = ("--memory-dir", str(home / folder))
    become(monkeypatch, caller)

    for line in (("search", "harbour"), ("show", "theme-of-site"), ("inject",)):
        said = hm(*given, *line)

        assert said.code != 0
        assert f"overlaps the notes folder {home / 'memory'}" in said.err
        assert "blue" not in said.out + said.err


@LIMITED
def test_a_part_of_a_named_notes_folder_is_none_either(
    hm: Hm, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    """Agents are connected with --memory-dir, too."""
    notes = tmp_path / "notes"
    notes.mkdir()
    line = ("save", "--scope", "project/site", "theme", "Its harbour is blue.")
    assert hm("--memory-dir", str(notes), *line).code == 0
    become(monkeypatch, caller)

    said = hm("--memory-dir", str(notes / "projects/site"), "search", "harbour")

    assert said.code == 2
    assert f"overlaps the notes folder {notes}." in said.err
    assert hm("--memory-dir", str(notes), "search", "harbour").code in (0, 1)


FOREIGN_HOMES = {
    "of a project": "memory/projects/site",
    "of all projects": "memory/projects",
    "of another home": ".",
}
"""Where the ``memory`` of a home leads, in another home."""


@LIMITED
@pytest.mark.parametrize("part", FOREIGN_HOMES.values(), ids=FOREIGN_HOMES)
def test_a_home_that_leads_to_a_part_of_a_notes_folder_is_refused(
    hm: Hm,
    home: Path,
    site: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    caller: str,
) -> None:
    """As the option is: what names the folder doesn't matter."""
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "memory").symlink_to(home / part, target_is_directory=True)
    before = files_in(home / "memory/projects/site")
    become(monkeypatch, caller)
    monkeypatch.setenv("HIVEMIND_HOME", str(foreign))

    for line in (
        ("search", "harbour"),
        ("list",),
        ("save", "-g", "theme-of-site", "Its harbour is red.", "--reason", "painted"),
        ("forget", "theme-of-site"),
    ):
        said = hm(*line)

        assert said.code == 2
        assert f"overlaps the notes folder {home / 'memory'}." in said.err
        assert "blue" not in said.out + said.err
    assert files_in(home / "memory/projects/site") == before


@LIMITED
def test_a_home_among_the_notes_of_a_project_is_refused(
    hm: Hm, home: Path, monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    """Where a project is called memory, the folder of all projects looks like one."""
    line = ("save", "--scope", "project/memory", "theme", "Its harbour is blue.")
    assert hm(*line).code == 0
    become(monkeypatch, caller)
    monkeypatch.setenv("HIVEMIND_HOME", str(home / "memory/projects"))

    said = hm("search", "harbour")

    assert said.code == 2
    assert f"overlaps the notes folder {home / 'memory'}." in said.err
    assert "blue" not in said.out


@LIMITED
def test_a_followed_link_into_a_notes_folder_is_refused(
    hm: Hm,
    home: Path,
    site: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caller: str,
) -> None:
    """A home of one's own can list any."""
    target = home / "memory/projects/site"
    foreign = tmp_path / "foreign"
    (foreign / "memory").mkdir(parents=True)
    (foreign / "memory/theirs").symlink_to(target, target_is_directory=True)
    settings = {"memory": {"followed_links": {"theirs": str(target)}}}
    (foreign / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    become(monkeypatch, caller)
    monkeypatch.setenv("HIVEMIND_HOME", str(foreign))

    said = hm("search", "harbour")

    assert said.code == 2
    assert "The followed link theirs overlaps the notes folder" in said.err
    assert "blue" not in said.out


@LIMITED
def test_a_home_whose_memory_is_a_link_to_notes_of_its_own_is_used(
    hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    """Notes in a synced folder are the usual reason."""
    monkeypatch.delenv("HIVEMIND_PROJECT", raising=False)
    mine, notes = tmp_path / "mine", tmp_path / "synced/notes"
    mine.mkdir()
    notes.mkdir(parents=True)
    (mine / "memory").symlink_to(notes, target_is_directory=True)
    monkeypatch.setenv("HIVEMIND_HOME", str(mine))
    assert hm("save", "-g", "editor", "Files are edited with vi.").code == 0
    become(monkeypatch, caller)

    assert "vi" in hm("search", "edited").out


@LIMITED
def test_a_home_in_a_folder_that_was_once_searched_is_used(
    hm: Hm, home: Path, site: Path, monkeypatch: pytest.MonkeyPatch, caller: str
) -> None:
    """The owner can name any folder; that leaves an index in it."""
    assert hm("--memory-dir", str(home.parent), "save", "-g", "a", "b").code == 0
    become(monkeypatch, caller)

    assert "vi" in hm("search", "edited").out
