"""Reading a note: only from inside, and never half of a change."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from benchmarks.link_race import race
from hivemind_memory.errors import HivemindError, NoteNotFoundError, NotePathError
from hivemind_memory.files import descriptors
from hivemind_memory.files import folder as folder_module
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.reader import read_note
from hivemind_memory.model.note_path import NotePath

NOTE = NotePath("a/b.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root/a").mkdir(parents=True)
    (tmp_path / "root/a/b.md").write_bytes(b"inside\0\xff\r\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.md").write_bytes(b"outside")
    return tmp_path / "root"


@pytest.fixture(params=["descriptors", "paths"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of walking: with descriptors, and as on Windows."""
    if request.param == "paths":
        monkeypatch.setattr(descriptors, "_HAS_DESCRIPTORS", False)
        monkeypatch.setattr(descriptors, "_NO_LINKS", 0)


@pytest.mark.usefixtures("way")
def test_a_note_is_read_as_it_is(root: Path) -> None:
    """Any bytes are a note."""
    note = read_note(NotesFolder(str(root)), NOTE)

    assert note.data == b"inside\0\xff\r\n"
    assert note.signature == NotesFolder(str(root)).signatures()[NOTE]
    assert note.digest == hashlib.sha256(note.data).hexdigest()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("path", ["c.md", "a/c.md", "c/d.md", "c/d/e.md"])
def test_a_note_that_is_not_there_is_named(root: Path, path: str) -> None:
    """A missing folder is a missing note."""
    with pytest.raises(NoteNotFoundError, match=path):
        NotesFolder(str(root)).read(NotePath(path))


@pytest.mark.usefixtures("way")
def test_links_are_refused_at_every_step(root: Path) -> None:
    """The last one, and any before it."""
    (root / "link.md").symlink_to(root / "a/b.md")
    (root / "folder").symlink_to(root / "a")
    (root / "away").symlink_to(root.parent / "outside")
    (root / "a/up").symlink_to("..")
    folder = NotesFolder(str(root))

    for path in ("link.md", "folder/b.md", "away/b.md", "a/up/a/b.md"):
        with pytest.raises(NotePathError, match="not a note"):
            folder.read(NotePath(path))


@pytest.mark.usefixtures("way")
def test_what_is_no_regular_file_is_refused(root: Path) -> None:
    """A pipe must not hang us, and a file is no folder."""
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    (root / "null.md").symlink_to("/dev/null")
    folder = NotesFolder(str(root))

    for path in ("pipe.md", "folder.md", "null.md", "a/b.md/c.md"):
        with pytest.raises(NotePathError):
            folder.read(NotePath(path))


def test_a_path_that_was_never_parsed_still_does_not_lead_out(root: Path) -> None:
    """Dot segments are not links, so ``paths`` is where they end; this is the rest."""
    (root / "a" / "b.md").unlink()
    (root / "a" / "b.md").symlink_to("../../outside/b.md")

    with pytest.raises(NotePathError):
        NotesFolder(str(root)).read(NOTE)


def test_a_note_that_changes_while_it_is_read_is_read_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of one version and half of the next is no note."""
    changes = [b"second", b"third"]

    whole = folder_module._read_whole

    def changing(fd: int, size: int) -> bytes:
        data = whole(fd, size)
        if changes:
            (root / NOTE).write_bytes(changes.pop(0))
        return data

    monkeypatch.setattr(folder_module, "_read_whole", changing)
    data, signature = NotesFolder(str(root)).read(NOTE)

    assert data == b"third"
    assert signature == NotesFolder(str(root)).signatures()[NOTE]


def test_a_note_that_never_rests_gets_a_signature_that_is_too_old(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the next scan sees that it changed."""
    count = [0]

    whole = folder_module._read_whole

    def changing(fd: int, size: int) -> bytes:
        data = whole(fd, size)
        count[0] += 1
        (root / NOTE).write_bytes(b"x" * count[0])
        return data

    monkeypatch.setattr(folder_module, "_read_whole", changing)
    _, signature = NotesFolder(str(root)).read(NOTE)

    assert count[0] == 3
    assert signature != NotesFolder(str(root)).signatures()[NOTE]


def test_a_disk_error_is_neither_missing_nor_empty(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller must be able to tell."""

    def broken(_: int, __: int) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(folder_module, "_read_whole", broken)

    with pytest.raises(HivemindError, match="disk reported an error") as caught:
        NotesFolder(str(root)).read(NOTE)

    assert not isinstance(caught.value, NoteNotFoundError)


def test_reading_leaves_no_descriptor_open(root: Path) -> None:
    """Not when it works, and not when it is refused."""
    (root / "link.md").symlink_to("a/b.md")
    (root / "away").symlink_to("../outside")
    folder = NotesFolder(str(root))
    before = len(os.listdir("/proc/self/fd"))

    for path in (
        "a/b.md",
        "gone.md",
        "a/gone/x.md",
        "link.md",
        "away/b.md",
        "a.md/b.md",
    ):
        try:
            folder.read(NotePath(path))
        except HivemindError:
            continue
    folder.snapshot()

    assert len(os.listdir("/proc/self/fd")) == before


def test_a_race_of_links_never_leads_out(tmp_path: Path) -> None:
    """Another process swaps a folder and a note for links all the time."""
    seen = race(tmp_path / "race", seconds=1)

    assert seen.escapes == []
    assert {"read: inside", "open: inside"} <= seen.answers.keys()
    assert any("NotePathError" in answer for answer in seen.answers)
