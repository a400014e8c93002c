"""A restore that the disk refuses leaves the home as it was, or names what is left."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from hivemind_memory.backup.restore import restore_backup
from hivemind_memory.backup.write import write_backup
from hivemind_memory.errors import HivemindError
from hivemind_memory.files.places import Places
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.opening import open_memory
from tests.memory.test_unreadable import DROP, run
from tests.support.faults import Faults, refusal_of


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup with notes in two folders, settings, a journal and a state."""
    home, file = tmp_path / "home", tmp_path / "b.tar.gz"
    (home / "memory" / "projects" / "shop").mkdir(parents=True)
    (home / "memory" / "projects" / "shop" / "zebra.md").write_text("Striped.\n")
    (home / "config.json").write_text('{"memory": {"poll_s": 3}}')
    with open_memory(home=str(home), flags={"embedding_provider": "none"}) as memory:
        memory.write("The giraffe is tall.")
        memory.save(NewMemory(key="deploy", content="Never on Fridays."))
        write_backup(memory.places, str(file), at="2026-11-22T10:00:00+00:00")
    return file


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Of a home that is not there; one note of the backup is, as after a kill."""
    with open_memory(home=str(tmp_path / "other" / "home")) as memory:
        found = memory.places
    note = Path(found.notes) / "projects" / "shop" / "zebra.md"
    note.parent.mkdir(parents=True)
    note.write_text("Striped.\n")
    return found


def tree(folder: Path) -> dict[str, bytes]:
    """Return all folders and files, these with their bytes."""
    return {
        str(path): path.read_bytes() if path.is_file() else b"a folder"
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    "name", ["write", "fsync", "mkdir", "replace", "link", "utime", "fchmod"]
)
def test_a_restore_that_the_disk_refuses_leaves_nothing(
    backup: Path,
    places: Places,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """A part was left, and the message did not say what to delete."""
    before = tree(tmp_path / "other")
    faults = Faults(name, errno.ENOSPC)
    monkeypatch.setattr(os, name, faults)
    tries = 0

    while faults.has_next():
        error = refusal_of(lambda: restore_backup(places, str(backup)))
        if error is None:
            break  # this call may fail, or there is no other
        tries += 1
        assert str(error) == "The disk is full. Nothing was restored."
        assert error.hint == "Free some space and try again."
        assert tree(tmp_path / "other") == before

    assert tries > 0 or faults.calls == 0
    monkeypatch.undo()
    if error is not None:
        assert restore_backup(places, str(backup)).notes == 3


def test_what_cannot_be_removed_again_is_named(
    backup: Path, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person deletes it then; more than a few are counted."""
    full = Faults("fsync", errno.ENOSPC)
    full.fail_at = 4
    monkeypatch.setattr(os, "fsync", full)
    stuck = Faults("unlink", errno.EIO, lasts=True)
    stuck.fail_at = 1
    monkeypatch.setattr(os, "unlink", stuck)

    error = refusal_of(lambda: restore_backup(places, str(backup)))

    assert isinstance(error, HivemindError)
    assert "Part of it was restored and could not be removed again" in str(error)
    left = [one for one in tree(Path(places.notes)) if one.endswith(".md")]
    named = [one for one in left if one in error.hint]
    assert named
    assert "before you restore again" in error.hint


def test_ctrl_c_in_a_restore_leaves_nothing(
    backup: Path, places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no error of the system, and what was written is removed all the same."""
    before, real, calls = tree(tmp_path / "other"), os.fsync, 0

    def interrupted(fd: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise KeyboardInterrupt
        real(fd)

    monkeypatch.setattr(os, "fsync", interrupted)

    with pytest.raises(KeyboardInterrupt):
        restore_backup(places, str(backup))

    assert tree(tmp_path / "other") == before


def test_a_restore_whose_process_was_killed_is_run_again(
    backup: Path, places: Places
) -> None:
    """Settings that were there, byte for byte, kept it from going on."""
    assert restore_backup(places, str(backup)).notes == 3
    os.unlink(places.state_file)  # written last
    os.unlink(os.path.join(places.notes, "deploy.md"))

    again = restore_backup(places, str(backup))

    assert again.notes == 3
    assert os.path.exists(places.state_file)
    assert os.path.exists(os.path.join(places.notes, "deploy.md"))


READ_ONLY = """
import os, sys
from pathlib import Path

import apsw

from hivemind_memory.backup.restore import restore_backup
from hivemind_memory.backup.write import write_backup
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.opening import open_memory

base, with_log = Path(sys.argv[1]), sys.argv[2] == "log"
home, flags = base / "home", {"embedding_provider": "none"}
(home / "memory").mkdir(parents=True)
with open_memory(home=str(home), flags=flags) as memory:
    memory.save(NewMemory(key="lion", content="It roars.", scope="global"))
    memory.save(NewMemory(key="lion", content="It naps.", reason="x", scope="global"))
    changes = len(memory.curation.changes())
if not with_log:
    connection = apsw.Connection(str(home / "state.db"))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
for name in ("state.db-shm",) if with_log else ("state.db-wal", "state.db-shm"):
    (home / name).unlink(missing_ok=True)
folders = [home, *(path for path in home.rglob("*") if path.is_dir())]
for file in home.iterdir():
    os.chmod(file, 0o500 if file.is_dir() else 0o400)
for folder in folders:
    os.chmod(folder, 0o500)
before = sorted(os.listdir(home))
with open_memory(home=str(home), flags=flags) as memory:
    done = write_backup(memory.places, str(base / "b.tgz"), at="2026-11-23T12:00:00Z")
assert done.notes == 2, done
assert sorted(os.listdir(home)) == before
assert sorted(os.listdir(base)) == ["b.tgz", "home"]
with open_memory(home=str(base / "new"), flags=flags) as memory:
    places = memory.places
restore_backup(places, str(base / "b.tgz"))
with open_memory(home=str(base / "new"), flags=flags) as memory:
    assert len(memory.curation.changes()) == changes > 0
for folder in folders:
    os.chmod(folder, 0o700)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs prctl")
@pytest.mark.parametrize("log", ["log", "no log"])
def test_a_backup_of_a_home_that_is_read_only(tmp_path: Path, log: str) -> None:
    """It wrote a copy of state.db into the home, and blamed the disk of the archive."""
    run(DROP, READ_ONLY, str(tmp_path), log)
