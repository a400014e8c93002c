"""What killed processes leave is cleared; what cannot be written is said."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hivemind_memory.cli.main import main
from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.memory import Memory
from hivemind_memory.opening import open_memory
from hivemind_memory.sqlite.connection import open_connection

LEFT = ".hm-0123456789abcdef.tmp"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one note."""
    folder = tmp_path / "home"
    (folder / "memory" / "projects").mkdir(parents=True)
    (folder / "memory" / "zebra.md").write_text("The zebra is striped.\n")
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    return folder


def sync(memory: Memory) -> object:
    return memory.sync()


def diagnose(memory: Memory) -> object:
    return memory.diagnose()


@pytest.mark.parametrize("look", [sync, diagnose])
def test_half_written_files_are_cleared_unless_they_are_being_written(
    home: Path, look: object
) -> None:
    """They hold the text of a note, and no search shows them."""
    old, deep = home / "memory" / LEFT, home / "memory" / "projects" / LEFT
    young = home / "memory" / ".hm-fedcba9876543210.tmp"
    other = home / "memory" / ".hm-mine.tmp"
    for file in (old, deep, young, other):
        file.write_text("half a n")
    for file in (old, deep, other):
        os.utime(file, (1e9, 1e9))

    with open_memory(home=str(home)) as memory:
        assert callable(look)
        look(memory)

    assert not old.exists()
    assert not deep.exists()
    assert young.exists()
    assert other.exists()


def test_sync_says_that_the_index_cannot_be_written(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It used to say "1 added" of an index in memory, and to end well."""
    (home / "memory" / ".index").write_text("no folder can be made here")

    assert main(["sync"]) == 1

    told = capsys.readouterr()
    assert told.out == ""
    assert "cannot be written" in told.err
    assert "index_dir" in told.err
    assert main(["search", "zebra"]) == 0


@pytest.mark.parametrize("lost", ["nothing", "the file", "the folder"])
def test_on_a_read_only_disk_a_search_answers_and_sync_says_why_not(
    home: Path, lost: str
) -> None:
    """SQLite says "unable to open database file", of an index that is there as well."""
    index = home / "memory" / ".index"
    assert main(["sync"]) == 0
    if lost == "the folder":
        shutil.rmtree(index)
    elif lost == "the file":
        for file in index.glob("memory.db*"):
            file.unlink()
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    within = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount)
    try:
        subprocess.run([*within, str(home), "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no user namespaces here")

    found, synced = (
        subprocess.run(
            [*within, str(home), sys.executable, "-m", "hivemind_memory.cli", *words],
            capture_output=True,
            check=False,
            text=True,
        )
        for words in (("search", "zebra"), ("sync",))
    )

    said = f"The folder {index} cannot be written: the disk is read-only"
    assert (found.returncode, "striped" in found.stdout) == (0, True)
    assert f"{said}; this answer was made from the notes alone." in found.stderr
    assert synced.returncode == 1
    assert synced.stderr == (
        f"error: {said}.\nhint: Use the option index_dir to put the index elsewhere.\n"
    )


def test_an_index_that_sqlite_may_not_write_beside_is_said_in_our_words(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no namespace can be made, the system's refusal is a fake."""
    monkeypatch.setattr(apsw, "Connection", _refuse)
    monkeypatch.setattr(os, "access", lambda *_: False)

    with pytest.raises(IndexUnusableError, match=r"cannot be written: permission is"):
        open_connection(str(home / "memory" / "memory.db"))


def _refuse(*_: object, **__: object) -> None:
    """Refuse as SQLite does."""
    message = "unable to open database file"
    raise apsw.CantOpenError(message)


KILLED_BACKUP = """
import os, signal, sys
from hivemind_memory.backup import write
from hivemind_memory.files.places import places_of

real = write.copy_state

def copy_and_die(*words):
    real(*words)
    os.kill(os.getpid(), signal.SIGKILL)

write.copy_state = copy_and_die
places = places_of(sys.argv[1], None, "")
write.write_backup(places, sys.argv[2], at="2026-11-22T10:00:00+00:00")
"""


@pytest.fixture
def leftovers(home: Path, tmp_path: Path) -> list[Path]:
    """What a backup left that was killed while it copied ``state.db``."""
    kept = tmp_path / "kept"
    kept.mkdir()
    with open_memory(home=str(home)) as memory:
        memory.state().add_tombstones(["purged"])
    words = [sys.executable, "-c", KILLED_BACKUP, str(home), str(kept / "b.tar.gz")]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    left = [*home.glob(".hm-*/state.db"), *kept.glob(".hm-*.tmp")]
    assert len(left) == 2
    return left


@pytest.mark.parametrize("look", [sync, diagnose])
def test_the_copy_of_state_db_that_a_killed_backup_left_is_cleared(
    home: Path, leftovers: list[Path], look: object
) -> None:
    """It holds hashes and paths, and stayed for good; one at work is left alone."""
    copy, _ = leftovers
    with open_memory(home=str(home)) as memory:
        assert callable(look)
        look(memory)
        assert copy.exists()

        for path in (copy, copy.parent):
            os.utime(path, (1e9, 1e9))
        look(memory)

    assert not copy.parent.exists()


def test_doctor_names_what_a_killed_backup_left(
    home: Path, leftovers: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """As it names half-written notes."""
    os.utime(leftovers[0], (1e9, 1e9))

    main(["doctor"])

    told = capsys.readouterr().out
    assert "half-written files" in told
    assert "removed 1 of an interrupted backup or another command" in told


def test_the_next_backup_clears_the_archive_that_a_killed_one_left(
    home: Path, leftovers: list[Path]
) -> None:
    """It lies where no sync looks, under a name that no listing shows."""
    _, archive = leftovers
    mine, young = archive.parent / ".hm-mine.tmp", archive.parent / LEFT
    for path in (mine, young):
        path.write_text("other")
    for path in (archive, mine):
        os.utime(path, (1e9, 1e9))

    assert main(["backup", str(archive.parent / "b.tar.gz")]) == 0

    assert not archive.exists()
    assert mine.exists()
    assert young.exists()


def test_what_a_killed_write_left_beside_the_index_or_the_journal_is_cleared(
    home: Path,
) -> None:
    """The leader's state and the list of recovered entries are written like notes."""
    with open_memory(home=str(home)) as memory:
        memory.write("The giraffe is tall.")
        left = [Path(memory.places.index, LEFT), Path(memory.places.journal, LEFT)]
        for path in left:
            path.write_text("half a l")
            os.utime(path, (1e9, 1e9))
        memory.sync()

    assert not any(path.exists() for path in left)
