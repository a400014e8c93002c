"""Two notes folders in one home share ``state.db``, and nothing in it crosses over."""

from __future__ import annotations

import json
import re
from pathlib import Path
from unittest import mock

import pytest

from hivemind_memory.curation import purge_notes
from hivemind_memory.errors import NotSavedError
from tests.cli.conftest import Hm, hm, home
from tests.inject.conftest import environ
from tests.inject.repos import make_repo
from tests.support.ran import Ran

__all__ = ["environ", "hm", "home"]


class Twins:
    """A home with its own notes and others beside it."""

    def __init__(self, hm: Hm, folder: Path) -> None:
        self._hm = hm
        self.folders = {"own": folder / "home/memory", "other": folder / "other"}
        for notes in self.folders.values():
            notes.mkdir(parents=True)

    def run(self, where: str, *words: str) -> Ran:
        """Run a command on the notes of one of the two."""
        given = () if where == "own" else ("--memory-dir", str(self.folders["other"]))
        return self._hm(*given, *words)

    def save(self, where: str, content: str) -> None:
        """Save the memory that both have the key of."""
        line = ("save", "-g", "--type", "preference", "--reason", "new", "tide")
        assert self.run(where, *line, content).code == 0

    def text(self, where: str) -> str:
        """Return all notes of one of the two."""
        notes = sorted(self.folders[where].glob("**/*.md"))
        return "\n".join(note.read_text() for note in notes)

    def leave_unfinished(self, where: str) -> str:
        """Purge the key, and fail to remove its note; return the id to finish it."""
        error = NotSavedError("the disk refused.")
        with mock.patch.object(purge_notes, "remove_note", side_effect=error):
            said = self.run(where, "forget", "--purge", "--yes", "tide")
        found = re.search(r"--purge --finish (\w+)", said.out + said.err)
        assert found, said
        return found[1]


@pytest.fixture
def twins(hm: Hm, home: Path, tmp_path: Path) -> Twins:
    """Two notes folders with a memory of the same key."""
    made = Twins(hm, tmp_path)
    made.save("own", "The tide of the shop is at nine.")
    made.save("other", "The tide of the shop is at noon.")
    return made


@pytest.mark.parametrize(("where", "twin"), [("own", "other"), ("other", "own")])
def test_undo_and_the_log_of_changes_are_those_of_the_notes_folder(
    twins: Twins, where: str, twin: str
) -> None:
    """The last change of the home was in the other one, on a note of the same name."""
    twins.save(twin, "The tide of the shop is at three.")
    before = twins.text(twin)
    [made] = json.loads(twins.run(where, "log", "--changes", "--json").out)

    foreign = twins.run(twin, "undo", made["id"])
    undone = twins.run(where, "undo")

    assert foreign.code == 1
    assert "None of your changes has the id" in foreign.err
    assert undone.code == 0, undone.err
    assert twins.run(where, "search", "tide").out == ""
    assert twins.text(twin) == before


@pytest.mark.parametrize(("where", "twin"), [("own", "other"), ("other", "own")])
def test_an_unfinished_purge_is_finished_in_its_notes_folder(
    twins: Twins, where: str, twin: str
) -> None:
    """The same key is purged in both: each plan is kept, and found in its folder."""
    left = twins.leave_unfinished(where)

    foreign = twins.run(twin, "forget", "--purge", "--yes", "--finish", left)
    of_twin = twins.run(twin, "doctor")
    assert foreign.code == 1
    assert "no unfinished purge" in foreign.err
    assert "add --memory-dir if you purged with it" in foreign.err
    assert "not finished" not in of_twin.out
    assert "The tide" in twins.text(where)

    assert twins.leave_unfinished(twin) == left
    for folder in (where, twin):
        assert "not finished" in twins.run(folder, "doctor").out
        done = twins.run(folder, "forget", "--purge", "--yes", "--finish", left)
        assert done.code == 0, done
        assert "The tide" not in twins.text(folder)


def test_a_purge_leaves_the_changes_of_the_other_notes(twins: Twins) -> None:
    """They name a note with the same path."""
    assert twins.run("own", "forget", "--purge", "--yes", "tide").code == 0

    own, other = (
        json.loads(twins.run(where, "log", "--changes", "--json").out)
        for where in ("own", "other")
    )
    assert [change["kind"] for change in own] == ["purge"]
    assert [change["kind"] for change in other] == ["save"]
    assert twins.run("other", "undo").code == 0


def test_a_purge_leaves_a_section_of_the_other_notes(
    twins: Twins, tmp_path: Path
) -> None:
    """The worktree once had a section of these notes, which is gone."""
    worktree = make_repo(tmp_path / "shop")
    section = worktree / "CLAUDE.md"
    for where in ("own", "other"):
        assert twins.run(where, "inject", str(worktree)).code == 0
    injected = section.read_bytes()
    assert b"at noon" in injected

    said = twins.run("own", "why", str(worktree)).out
    purged = twins.run("own", "forget", "--purge", "--yes", "tide")

    assert "section removed from" in said, said
    assert purged.code == 0, purged
    assert section.read_bytes() == injected
    assert json.loads(twins.run("other", "why", "--json", str(worktree)).out)[
        "is_there"
    ]
    assert twins.run("other", "forget", "--purge", "--yes", "tide").code == 0
    assert b"at noon" not in section.read_bytes()


@pytest.mark.parametrize("where", ["own", "other"])
@pytest.mark.parametrize("target", ["own", "other"])
def test_a_restored_change_can_be_undone_in_any_notes_folder(
    twins: Twins,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    where: str,
    target: str,
) -> None:
    """The log names the folder, and the restored notes are in another."""
    file = str(tmp_path / "backup.tar.gz")
    assert twins.run(where, "backup", file).code == 0
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "new/home"))
    twins.folders["other"] = tmp_path / "new/other"
    twins.folders["other"].mkdir(parents=True)

    restored = twins.run(target, "restore-backup", file)
    undone = twins.run(target, "undo")

    assert restored.code == 0, restored
    assert undone.code == 0, undone
    twin = "own" if target == "other" else "other"
    assert twins.run(twin, "log", "--changes", "--json").out.strip() in ("", "[]")
