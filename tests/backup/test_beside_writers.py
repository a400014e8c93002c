"""What writers do while a backup runs is in it, and comes back however late."""

from __future__ import annotations

import os
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.backup import write as backup
from hivemind_memory.backup.restore import RestoreResult, restore_backup
from hivemind_memory.backup.write import BackupResult, write_backup
from hivemind_memory.cli.main import main
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.scan import FolderSnapshot
from hivemind_memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.opening import open_memory

AT = "2026-11-22T10:00:00+00:00"
A_DAY_S = 86_400.0


def opened(home: Path) -> Memory:
    return open_memory(home=str(home), flags={"embedding_provider": "none"})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two notes in a folder, a typed memory and an entry."""
    folder = tmp_path / "home"
    (folder / "memory" / "zoo").mkdir(parents=True)
    (folder / "memory" / "zoo" / "lion.md").write_text("Loud.\n")
    (folder / "memory" / "zoo" / "zebra.md").write_text("Striped.\n")
    with opened(folder) as memory:
        memory.write("The giraffe is tall.", file="animals.md")
        memory.save(NewMemory(key="z-deploy", content="We deploy on Mondays."))
    return folder


def backed_up(
    home: Path,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    after_scan: Callable[[], None] = lambda: None,
    after_note: str = "",
) -> BackupResult:
    """Back up a home, with something done after a scan, or after a note is read."""
    snapshot, read = NotesFolder.snapshot, NotesFolder.read
    waiting = [after_scan]

    def scan(folder: NotesFolder) -> FolderSnapshot:
        found = snapshot(folder)
        if not after_note and waiting:
            waiting.pop()()
        return found

    def read_one(folder: NotesFolder, path: str, **more: object) -> object:
        found = read(folder, path, **more)  # type: ignore[arg-type]
        if path == after_note and waiting:
            waiting.pop()()
        return found

    with opened(home) as memory, monkeypatch.context() as patched:
        patched.setattr(NotesFolder, "snapshot", scan)
        patched.setattr(NotesFolder, "read", read_one)
        return write_backup(memory.places, str(file), at=AT)


def restored(home: Path, file: Path) -> RestoreResult:
    with opened(home) as memory:
        return restore_backup(memory.places, str(file))


def notes_of(home: Path) -> dict[str, str]:
    folder = home / "memory"
    return {
        one.relative_to(folder).as_posix(): one.read_text()
        for one in folder.rglob("*.md")
    }


def test_notes_in_a_folder_that_is_renamed_during_a_backup_are_in_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were listed by their old name, could not be read, and were left out."""
    notes, file = home / "memory", tmp_path / "b.tar.gz"

    done = backed_up(
        home,
        file,
        monkeypatch,
        after_scan=lambda: os.rename(notes / "zoo", notes / "park"),
    )
    restored(tmp_path / "other", file)

    assert notes_of(tmp_path / "other") == notes_of(home)
    assert done.notes == len(notes_of(home))
    assert done.skipped == ()


def test_a_note_that_was_renamed_after_it_was_read_is_restored_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive has it by both names by then."""
    notes, file = home / "memory", tmp_path / "b.tar.gz"

    done = backed_up(
        home,
        file,
        monkeypatch,
        after_scan=lambda: os.rename(notes / "zoo", notes / "park"),
        after_note="zoo/lion.md",
    )
    restored(tmp_path / "other", file)

    with tarfile.open(file) as archive:
        assert {"notes/zoo/lion.md", "notes/park/lion.md"} <= set(archive.getnames())
    assert notes_of(tmp_path / "other") == notes_of(home)
    assert done.notes == len(notes_of(home))


def test_a_backup_names_a_note_that_was_deleted_before_it_was_read(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was passed over in silence."""
    done = backed_up(
        home,
        tmp_path / "b.tar.gz",
        monkeypatch,
        after_scan=(home / "memory" / "zoo" / "lion.md").unlink,
    )

    assert [one.path for one in done.skipped] == ["zoo/lion.md"]
    assert "deleted while the backup was made" in done.skipped[0].reason


def test_a_backup_ends_though_notes_appear_at_every_scan(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names what it could not read any more."""
    snapshot, made = NotesFolder.snapshot, list[str]()

    def scan(folder: NotesFolder) -> FolderSnapshot:
        made.append(f"new{len(made):03d}.md")
        (home / "memory" / made[-1]).write_text("New.\n")
        return snapshot(folder)

    with opened(home) as memory, monkeypatch.context() as patched:
        patched.setattr(NotesFolder, "snapshot", scan)
        done = write_backup(memory.places, str(tmp_path / "b.tar.gz"), at=AT)

    assert [one.path for one in done.skipped] == made[-1:]
    assert "back up again" in done.skipped[0].reason


def test_a_version_that_is_replaced_during_a_backup_is_in_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive had the new text alone: no scan saw where the old one lay."""

    def save() -> None:
        with opened(home) as memory:
            new = "We deploy on Tuesdays."
            memory.save(NewMemory(key="z-deploy", content=new, reason="moved"))

    backed_up(
        home,
        tmp_path / "b.tar.gz",
        monkeypatch,
        after_scan=save,
        after_note="animals.md",
    )
    restored(tmp_path / "other", tmp_path / "b.tar.gz")

    text = "".join(notes_of(tmp_path / "other").values())
    assert "We deploy on Mondays." in text
    assert "We deploy on Tuesdays." in text


def backed_up_a_day_ago(
    home: Path, file: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]
) -> None:
    """Back up a home a day ago, with something done after its notes were read."""
    past = time.time() - A_DAY_S
    for one in (home / "memory").rglob("*.md"):
        os.utime(one, (past, past))
    copy, now = backup.copy_state, time.time

    def copy_late(*args: str) -> None:
        act()
        copy(*args)

    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: now() - A_DAY_S)
        patched.setattr(backup, "copy_state", copy_late)
        with opened(home) as memory:
            memory.state()
            write_backup(memory.places, str(file), at=AT)


@pytest.mark.parametrize("note", ["animals.md", "new.md"])
def test_an_entry_acknowledged_during_a_backup_comes_back_a_day_later(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note: str
) -> None:
    """The journal of the archive alone had it, and recovery gave it up as too old."""
    file, other = tmp_path / "b.tar.gz", tmp_path / "other"

    def act() -> None:
        with opened(home) as memory:
            memory.write("The okapi is shy.", file=note)
            memory.write("The tapir is, too.", file=note)

    backed_up_a_day_ago(home, file, monkeypatch, act)
    done = restored(other, file)

    assert notes_of(other) == notes_of(home)
    assert [one.target for one in done.put_back] == [note, note]
    with opened(other) as memory:
        memory.sync()
    assert notes_of(other) == notes_of(home)


def test_an_entry_whose_note_changed_during_a_backup_comes_back_in_recovered(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To append it would not make the note what it was; a second restore is allowed."""
    file, other = tmp_path / "b.tar.gz", tmp_path / "other"

    def act() -> None:
        with (home / "memory" / "animals.md").open("a") as animals:
            animals.write("\nA line by hand.\n")
        with opened(home) as memory:
            memory.write("The okapi is shy.", file="animals.md")

    backed_up_a_day_ago(home, file, monkeypatch, act)
    done = restored(other, file)
    assert restored(other, file) == done

    assert [one.target for one in done.put_back] == ["recovered.md"]
    assert "okapi" not in notes_of(other)["animals.md"]
    assert notes_of(other)["recovered.md"].count("The okapi is shy.") == 1
    with opened(other) as memory:
        memory.sync()
    assert notes_of(other)["recovered.md"].count("The okapi is shy.") == 1


def test_an_entry_that_a_person_deleted_later_stays_deleted_in_a_restore(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its note changed after its ten minutes."""
    file, other, now = tmp_path / "b.tar.gz", tmp_path / "other", time.time
    animals = home / "memory" / "animals.md"
    before = animals.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: now() - A_DAY_S)
        with opened(home) as memory:
            memory.write("The okapi is shy.", file="animals.md")
    animals.write_bytes(before)
    with opened(home) as memory:
        write_backup(memory.places, str(file), at=AT)

    done = restored(other, file)

    assert done.put_back == ()
    assert "okapi" not in "".join(notes_of(other).values())


def test_a_restore_says_in_which_notes_it_put_entries_back(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A person looks there."""
    file = tmp_path / "b.tar.gz"

    def act() -> None:
        with opened(home) as memory:
            memory.write("The okapi is shy.", file="new.md")

    backed_up_a_day_ago(home, file, monkeypatch, act)
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "other"))

    assert main(["restore-backup", str(file)]) == 0

    shown = capsys.readouterr()
    assert shown.out.startswith("restored 5 notes to ")
    assert shown.err == (
        "put back 1 entry in new.md: only the journal of the backup had the text\n"
    )


@pytest.mark.parametrize("record", ["", "github.com/acme/shop\n"])
def test_a_restore_gives_no_entry_of_a_renamed_project_to_another_one(
    home: Path, tmp_path: Path, record: str
) -> None:
    """It was put into the new project of the old name, though its own note has it."""
    projects = home / "memory" / "projects"
    (projects / "shop").mkdir(parents=True)
    (projects / "shop" / ".project").write_text(record)
    with opened(home) as memory:
        memory.write("The okapi is shy.", scope="project/shop", file="a.md")
    (projects / "shop").rename(projects / "store")
    (projects / "shop").mkdir()
    (projects / "shop" / "a.md").write_text("Another one's.\n")
    (projects / "shop" / ".project").write_text(record.replace("acme", "other"))
    with opened(home) as memory:
        write_backup(memory.places, str(tmp_path / "b.tar.gz"), at=AT)

    done = restored(tmp_path / "other", tmp_path / "b.tar.gz")
    with opened(tmp_path / "other") as memory:
        memory.sync()

    assert done.put_back == ()
    assert notes_of(tmp_path / "other") == notes_of(home)


def test_an_entry_that_is_recovered_during_a_backup_is_in_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its recovered.md was not there yet, and the journal had forgotten it already."""
    note, file = home / "memory" / "animals.md", tmp_path / "b.tar.gz"
    note.write_text("an old buffer\n")
    os.utime(note, (time.time() - 30, time.time() - 30))
    real = backup._Archive._add_state

    def recover_first(archive: backup._Archive) -> None:
        with opened(home) as memory:
            assert memory.sync().recovered == 1
        real(archive)

    monkeypatch.setattr(backup._Archive, "_add_state", recover_first)

    with opened(home) as memory:
        done = write_backup(memory.places, str(file), at=AT)
    restored(tmp_path / "other", file)

    assert notes_of(tmp_path / "other") == notes_of(home)
    assert done.notes == len(notes_of(home))
    assert "giraffe" in notes_of(home)["recovered.md"]
