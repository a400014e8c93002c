"""What a scan of the notes folder sees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hivemind_memory.errors import HivemindError, NotesMissingError
from hivemind_memory.files import descriptors
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.paths import MAX_PARTS
from hivemind_memory.files.scan import FolderSnapshot

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def make(root: Path, *names: str) -> None:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)


def look(root: Path) -> FolderSnapshot:
    return NotesFolder(str(root)).snapshot()


def reasons(root: Path) -> dict[str, str]:
    return {note.path: note.reason for note in look(root).skipped}


@pytest.fixture(params=["descriptors", "paths"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of walking: with descriptors, and as on Windows."""
    monkeypatch.setattr(descriptors, "_HAS_DESCRIPTORS", request.param == "descriptors")


def test_every_markdown_file_at_any_depth_is_a_note(tmp_path: Path) -> None:
    """And nothing else is."""
    make(tmp_path, "a.md", "b/c.md", "b/d/e.md", "笔记/部署.md", "f.md/g.md")
    make(tmp_path, "a.txt", "b/readme", "d.md.bak", "md")

    signatures = NotesFolder(str(tmp_path)).signatures()

    assert sorted(signatures) == [
        "a.md",
        "b/c.md",
        "b/d/e.md",
        "f.md/g.md",
        "笔记/部署.md",
    ]
    assert reasons(tmp_path) == {}


@pytest.mark.parametrize("name", ["c.MD", "b/c.Md", "c.markdown", "c.mdx", "b/c.MKD"])
def test_markdown_under_another_suffix_is_named(tmp_path: Path, name: str) -> None:
    """Who put it there takes it for a note, and would look for it in vain."""
    make(tmp_path, "a.md", name)

    assert sorted(look(tmp_path).signatures) == ["a.md"]
    assert reasons(tmp_path) == {
        name: "its name does not end in .md; rename it to be found"
    }


def test_dot_files_and_dot_folders_are_not_there(tmp_path: Path) -> None:
    """The index lies in one, and so do the temporary files of editors."""
    make(tmp_path, ".a.md", ".index/b.md", "c/.git/d.md", "c/.#e.md", ".md", "f.md")

    assert list(look(tmp_path).signatures) == ["f.md"]
    assert reasons(tmp_path) == {}


def test_a_signature_is_what_the_system_says(tmp_path: Path) -> None:
    """The same four numbers by whichever way they are asked for."""
    make(tmp_path, "a/b.md")
    folder = NotesFolder(str(tmp_path))
    status = (tmp_path / "a/b.md").stat()

    [(path, signature)] = folder.snapshot().signatures.items()

    numbers = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    assert signature == numbers
    assert folder.signature(path) == signature
    assert folder.read(path)[1] == signature


def test_links_are_reported_and_not_followed(tmp_path: Path) -> None:
    """They may lead anywhere, round in a circle too."""
    root = tmp_path / "root"
    make(root, "a.md", "b/c.md")
    make(tmp_path, "outside/secret.md")
    (root / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "inside.md").symlink_to("a.md")
    (root / "nowhere.md").symlink_to("gone.md")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "b/circle").symlink_to("..")
    (root / "picture.png").symlink_to("gone.png")

    assert sorted(look(root).signatures) == ["a.md", "b/c.md"]
    assert sorted(reasons(root)) == [
        "b/circle",
        "folder",
        "inside.md",
        "link.md",
        "nowhere.md",
    ]
    assert "link" in reasons(root)["folder"]


def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    """People keep their notes where they like."""
    make(tmp_path, "real/a.md")
    (tmp_path / "memory").symlink_to("real")

    assert list(look(tmp_path / "memory").signatures) == ["a.md"]


def test_a_pipe_with_the_name_of_a_note_is_reported(tmp_path: Path) -> None:
    """Nothing waits for it."""
    os.mkfifo(tmp_path / "a.md")

    assert reasons(tmp_path) == {"a.md": "it is not a regular file"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"caf\xe9.md", "caf\\udce9.md"),
        (b"\xff/a.md", "\\udcff/"),
        (b"a\nb.md", "a\nb.md"),
        (b"100%.md", "100%.md"),
        (b"a~/b.md", "a~/"),
        (b"a\\b.md", "a\\b.md"),
        (b"12:30.md", "12:30.md"),
        (b"con.md", "con.md"),
        (b"Aux.txt/a.md", "Aux.txt/"),
        (b"a /b.md", "a /"),
        (b"a\xe2\x80\xa8.md", "a\u2028.md"),
    ],
)
def test_a_name_that_could_not_be_asked_for_is_skipped_with_a_reason(
    tmp_path: Path, name: bytes, shown: str
) -> None:
    """It never hides the others, and never raises."""
    make(tmp_path, "a.md", "z/z.md", "conclusion.md")
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    file.parent.mkdir(exist_ok=True)
    file.write_text("odd")

    assert sorted(look(tmp_path).signatures) == ["a.md", "conclusion.md", "z/z.md"]
    assert list(reasons(tmp_path)) == [shown]
    assert all(reasons(tmp_path).values())


def test_what_lies_too_deep_is_skipped_with_a_reason(tmp_path: Path) -> None:
    """Each folder on the way takes a descriptor."""
    deep = "d/" * (MAX_PARTS - 1)
    make(tmp_path, f"{deep}a.md", f"{deep}e/b.md")

    assert list(look(tmp_path).signatures) == [f"{deep}a.md"]
    assert "deep" in reasons(tmp_path)[f"{deep}e/"]


def test_a_path_that_is_too_long_is_skipped_with_a_reason(tmp_path: Path) -> None:
    """No other system could hold it."""
    long = ("a" * 200 + "/") * 5
    make(tmp_path, f"{long}a.md", f"{long}{'b' * 30}.md")

    assert list(look(tmp_path).signatures) == [f"{long}a.md"]
    assert "longer" in reasons(tmp_path)[f"{long}{'b' * 30}.md"]


def test_a_missing_root_is_an_error_and_not_an_empty_folder(tmp_path: Path) -> None:
    """Else the index would forget everything because a drive is not mounted."""
    with pytest.raises(NotesMissingError) as caught:
        look(tmp_path / "gone")

    assert "hm init" in caught.value.hint


def test_a_file_in_the_place_of_the_root_is_an_error(tmp_path: Path) -> None:
    """As if it were not there."""
    make(tmp_path, "file")

    with pytest.raises(NotesMissingError):
        look(tmp_path / "file")


@pytest.mark.skipif(IS_ROOT, reason="root may list everything")
def test_a_folder_that_may_not_be_listed_is_skipped_with_a_reason(
    tmp_path: Path,
) -> None:
    """One bad folder hides only itself."""
    make(tmp_path, "a.md", "b/c.md")
    (tmp_path / "b").chmod(0)

    found, skipped = list(look(tmp_path).signatures), reasons(tmp_path)

    (tmp_path / "b").chmod(0o700)
    assert found == ["a.md"]
    assert list(skipped) == ["b/"]


def test_a_root_that_cannot_be_listed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk error is not an empty folder."""

    def broken(_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "scandir", broken)

    with pytest.raises(HivemindError, match="disk reported an error"):
        look(tmp_path)


def test_a_folder_below_with_a_disk_error_is_skipped_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other notes are still found."""
    make(tmp_path, "a.md", "b/c.md", "d/e.md")
    real, calls = os.scandir, []

    def broken(where: object) -> object:
        calls.append(where)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        return real(where)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", broken)

    seen = look(tmp_path)

    assert len(seen.signatures) == 2
    assert [note.reason for note in seen.skipped] == [
        "the folder cannot be listed: the disk reported an error"
    ]


def test_equal_folders_have_equal_digests_and_others_not(tmp_path: Path) -> None:
    """A search trusts it instead of comparing each note."""
    make(tmp_path, "a.md", "b/c.md", "b/d.txt")
    before = look(tmp_path)
    same = look(tmp_path)
    digests = [before.digest]

    (tmp_path / "b" / "c.md").write_text("other")
    digests.append(look(tmp_path).digest)
    (tmp_path / "b" / "c.md").rename(tmp_path / "b" / "e.md")
    digests.append(look(tmp_path).digest)
    (tmp_path / "b").rename(tmp_path / "f")
    digests.append(look(tmp_path).digest)
    (tmp_path / "a.md").unlink()
    digests.append(look(tmp_path).digest)

    assert same.digest == before.digest
    assert same.signatures == before.signatures
    assert len(set(digests)) == 5
