"""A file is replaced whole or not at all, and nothing is left beside it."""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

import pytest

from hivemind_memory.errors import HivemindError
from hivemind_memory.files import descriptors
from hivemind_memory.files.atomic import (
    PARTIAL_FILE,
    PartialFile,
    remove_partial_files,
    write_file,
)
from hivemind_memory.files.descriptors import OpenFolder
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.model.note_path import NotePath

CALLS = ["write_all", "set_mode", "sync_file", "sync_folder"]


def test_a_file_has_its_bytes_and_exactly_its_mode(tmp_path: Path) -> None:
    """Whatever the umask takes."""
    path = tmp_path / "hook"
    old = os.umask(0o077)
    try:
        assert write_file(str(path), b"one", mode=0o755)
        assert write_file(str(path), b"two", mode=0o755)
    finally:
        os.umask(old)

    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert os.listdir(tmp_path) == ["hook"]


def test_what_is_there_already_is_never_overwritten_by_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes make one token: the first one counts."""
    path = tmp_path / "token"

    assert write_file(str(path), b"first", is_new=True)
    assert not write_file(str(path), b"second", is_new=True)

    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["token"]

    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(OpenFolder, "link", no_links)
    assert write_file(str(tmp_path / "other"), b"third", is_new=True)
    assert (tmp_path / "other").read_bytes() == b"third"


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_fails_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """And nothing beside it."""
    path = tmp_path / "n.md"
    path.write_bytes(b"old")

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(descriptors, call, fails)
    with pytest.raises(OSError, match="Input/output"):
        write_file(str(path), b"new")

    assert path.read_bytes() == (b"new" if call == "sync_folder" else b"old")
    assert os.listdir(tmp_path) == ["n.md"]


def test_an_abandoned_file_is_removed_and_a_killed_one_is_known_by_its_name(
    tmp_path: Path,
) -> None:
    """`hm doctor` finds it by that."""
    with (
        OpenFolder.at(str(tmp_path)) as folder,
        PartialFile(folder, b"new") as partial,
    ):
        [name] = os.listdir(tmp_path)
        assert PARTIAL_FILE.fullmatch(name)
        assert partial.name == name

    assert os.listdir(tmp_path) == []


def test_a_clock_that_jumps_makes_no_leftover_of_what_is_being_written(
    tmp_path: Path,
) -> None:
    """A save was refused: a sync beside it took its file for that of a dead one."""
    in_an_hour_s = time.time() + 3600
    dead = tmp_path / ".hm-0123456789abcdef.tmp"
    dead.write_text("half")

    with OpenFolder.at(str(tmp_path)) as folder, PartialFile(folder, b"new") as partial:
        names = [partial.name, dead.name]
        removed = remove_partial_files(str(tmp_path), names, in_an_hour_s)
        partial.replace("note.md")

    assert removed == 1
    assert [one.name for one in tmp_path.iterdir()] == ["note.md"]


def test_a_note_that_is_removed_as_soon_as_it_is_saved_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said to be there, unless a power failure undid it."""
    create = PartialFile.create

    def create_and_lose(partial: PartialFile, name: str) -> bool:
        done = create(partial, name)
        (tmp_path / name).unlink()
        return done

    monkeypatch.setattr(PartialFile, "create", create_and_lose)

    with pytest.raises(HivemindError) as told:
        NotesFolder(str(tmp_path)).replace(NotePath("a.md"), b"x", expected=None)

    assert str(told.value) == "Another program removed a.md as soon as it was saved."
