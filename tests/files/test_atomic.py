"""Replacing a note: whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from hivemind_memory.errors import NotePathError, NotSavedError
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.model.note_path import NotePath
from tests.support.faults import Faults, refusal_of

NOTE = NotePath("a/b.md")


@pytest.fixture
def folder(tmp_path: Path) -> NotesFolder:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.md").write_bytes(b"old")
    return NotesFolder(str(tmp_path))


def files(folder: NotesFolder) -> list[str]:
    root = Path(folder.root)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def test_the_new_bytes_take_the_place_of_the_old(folder: NotesFolder) -> None:
    """And the stamp that comes back is theirs."""
    stamp = folder.replace(NOTE, b"new", expected=folder.stamp(NOTE))

    assert folder.read(NOTE) == (b"new", stamp)
    assert files(folder) == ["a", "a/b.md"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o400, 0o755])
def test_the_mode_stays(folder: NotesFolder, mode: int) -> None:
    """It is the owner's."""
    (Path(folder.root) / NOTE).chmod(mode)

    folder.replace(NOTE, b"new", expected=folder.stamp(NOTE))

    assert stat.S_IMODE((Path(folder.root) / NOTE).stat().st_mode) == mode


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_a_new_note_and_its_folders_are_private(
    folder: NotesFolder, umask: int
) -> None:
    """Under any umask."""
    old = os.umask(umask)
    try:
        folder.replace(NotePath("c/d/e.md"), b"new", expected=None)
    finally:
        os.umask(old)

    root = Path(folder.root)
    modes = [
        stat.S_IMODE((root / name).stat().st_mode) for name in ("c", "c/d", "c/d/e.md")
    ]
    assert modes == [0o700, 0o700, 0o600]


def test_a_note_that_changed_meanwhile_is_not_overwritten(folder: NotesFolder) -> None:
    """Whoever changed it would lose the change."""
    stamp = folder.stamp(NOTE)
    (Path(folder.root) / NOTE).write_bytes(b"theirs")

    with pytest.raises(NotSavedError, match="changed"):
        folder.replace(NOTE, b"ours", expected=stamp)

    assert folder.read(NOTE)[0] == b"theirs"
    assert files(folder) == ["a", "a/b.md"]


def test_a_change_while_the_new_bytes_are_written_is_noticed_too(
    folder: NotesFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison stands right before the rename."""
    real = os.fsync

    def fsync_and_save(fd: int) -> None:
        real(fd)
        (Path(folder.root) / NOTE).write_bytes(b"theirs")

    stamp = folder.stamp(NOTE)
    monkeypatch.setattr(os, "fsync", fsync_and_save)

    with pytest.raises(NotSavedError):
        folder.replace(NOTE, b"ours", expected=stamp)

    assert folder.read(NOTE)[0] == b"theirs"
    assert files(folder) == ["a", "a/b.md"]


def test_expectations_that_fail_leave_nothing(folder: NotesFolder) -> None:
    """Neither a file nor a folder."""
    gone = folder.stamp(NOTE)

    with pytest.raises(NotSavedError, match="already"):
        folder.replace(NOTE, b"x", expected=None)
    with pytest.raises(NotSavedError, match="gone"):
        folder.replace(NotePath("new/x/y.md"), b"x", expected=gone)

    assert files(folder) == ["a", "a/b.md"]


def test_links_are_refused(folder: NotesFolder, tmp_path: Path) -> None:
    """A rename would replace the link, and a folder behind one is outside."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "b.md").write_bytes(b"theirs")
    (tmp_path / "link.md").symlink_to(outside / "b.md")
    (tmp_path / "away").symlink_to(outside)

    for path in ("link.md", "away/b.md", "away/new.md"):
        with pytest.raises(NotePathError):
            folder.replace(NotePath(path), b"x", expected=None)

    assert [path.name for path in outside.iterdir()] == ["b.md"]
    assert (outside / "b.md").read_bytes() == b"theirs"
    assert (tmp_path / "link.md").is_symlink()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize(
    "name", ["open", "write", "fsync", "replace", "fchmod", "mkdir"]
)
@pytest.mark.parametrize("path", ["a/b.md", "c/d.md"])
def test_a_fault_at_any_call_leaves_the_old_note_or_the_new(
    folder: NotesFolder,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    name: str,
    number: int,
) -> None:
    """Whole or not at all, and no litter."""
    before = files(folder)
    note = NotePath(path)
    expected = folder.stamp(note)
    faults = Faults(name, number)
    while faults.has_next():
        with monkeypatch.context() as patch:
            patch.setattr(os, name, faults)
            error = refusal_of(lambda: folder.replace(note, b"new", expected=expected))
        if error is None or "was replaced" in str(error):
            assert folder.read(note)[0] == b"new"
            assert files(folder) == sorted({*before, path[0], path})
            return
        assert isinstance(error, NotSavedError)
        assert files(folder) == before
        assert folder.stamp(note) == expected
    pytest.fail("it was never saved")
