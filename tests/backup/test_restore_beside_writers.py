"""A restore replaces nothing that another process writes while it runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.backup.restore import restore_backup
from hivemind_memory.backup.write import write_backup
from hivemind_memory.errors import HivemindError
from hivemind_memory.memory import Memory
from hivemind_memory.opening import open_memory


def opened(home: Path) -> Memory:
    return open_memory(home=str(home), flags={"embedding_provider": "none"})


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup with notes, an entry in the journal and a purged text."""
    home, file = tmp_path / "home", tmp_path / "b.tar.gz"
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "zebra.md").write_text("Striped.\n")
    with opened(home) as memory:
        memory.write("The giraffe is tall.", file="animals.md")
        memory.state().add_tombstones(["a purged text"])
        write_backup(memory.places, str(file), at="2026-11-22T10:00:00+00:00")
    return file


def restored_beside(
    home: Path, file: Path, write: Callable[[Memory], object]
) -> HivemindError:
    """Restore a backup while something is written; return why it was refused."""
    waiting = [write]

    def report(phase: str, _done: int, _total: int) -> None:
        if phase == "restoring" and waiting:
            with opened(home) as memory:
                waiting.pop()(memory)

    with opened(home) as memory:
        places = memory.places
    with pytest.raises(HivemindError) as caught:
        restore_backup(places, str(file), report)
    assert not waiting
    return caught.value


def test_an_entry_that_is_written_during_a_restore_stays_in_the_journal(
    backup: Path, tmp_path: Path
) -> None:
    """Its journal was replaced by that of the backup, although it was acknowledged."""
    home = tmp_path / "other"

    error = restored_beside(
        home, backup, lambda memory: memory.write("The lion is loud.", file="lion.md")
    )

    assert "entries.jsonl exists" in str(error)
    assert error.effect == "Nothing was restored"
    assert not (home / "memory" / "zebra.md").exists()
    (home / "memory" / "lion.md").write_text("an old buffer\n")
    os.utime(home / "memory" / "lion.md", (1e9, 1e9))
    with opened(home) as memory:
        assert memory.sync().recovered == 1
    assert "The lion is loud." in (home / "memory" / "recovered.md").read_text()


def test_a_state_that_is_made_during_a_restore_is_not_replaced(
    backup: Path, tmp_path: Path
) -> None:
    """Its rows were lost, and its log was left beside the one of the backup."""
    home = tmp_path / "other"

    error = restored_beside(
        home, backup, lambda memory: memory.state().add_tombstones(["purged here"])
    )

    assert "state.db exists" in str(error)
    with opened(home) as memory:
        assert memory.state().has_tombstone("purged here")
        assert not memory.state().has_tombstone("a purged text")


def test_a_note_that_is_written_during_a_restore_is_neither_replaced_nor_named(
    backup: Path, tmp_path: Path
) -> None:
    """A person was told to delete it."""
    home = tmp_path / "other"
    note = home / "memory" / "zebra.md"

    error = restored_beside(home, backup, lambda _: note.write_text("Mine.\n"))

    assert f"{note} exists" in str(error)
    assert "Delete" not in error.hint
    assert note.read_text() == "Mine.\n"
    assert not (home / "memory" / "animals.md").exists()


def test_the_log_of_a_state_that_was_moved_away_is_not_applied_to_the_restored_one(
    backup: Path, tmp_path: Path
) -> None:
    """SQLite would read it as the newest state of the file of that name."""
    home = tmp_path / "other"
    with opened(home) as memory:
        memory.state().add_tombstones(["purged here"])
        places = memory.places
    (home / "state.db").unlink()
    assert (home / "state.db-wal").stat().st_size

    with pytest.raises(HivemindError, match=r"state\.db-wal exists"):
        restore_backup(places, str(backup))

    (home / "state.db-wal").unlink()
    restore_backup(places, str(backup))
    with opened(home) as memory:
        assert memory.state().has_tombstone("a purged text")
        assert not memory.state().has_tombstone("purged here")


def test_a_restore_beside_another_is_refused_and_neither_loses_a_note(
    backup: Path, tmp_path: Path
) -> None:
    """It counted what the other had written, which that removed when it failed."""
    home = tmp_path / "new" / "other"

    def restore_too(memory: Memory) -> None:
        with pytest.raises(HivemindError, match=r"Another restore into .* is running"):
            restore_backup(memory.places, str(backup))
        memory.state().add_tombstones(["purged here"])

    error = restored_beside(home, backup, restore_too)

    assert "state.db exists" in str(error)
    assert not (home / "memory" / "zebra.md").exists()


def test_a_home_that_a_failed_restore_made_is_removed(
    backup: Path, tmp_path: Path
) -> None:
    """With the folders above it."""
    with opened(tmp_path / "new" / "other") as memory:
        places = memory.places
    shutil.rmtree(tmp_path / "new", ignore_errors=True)
    backup.write_bytes(b"cut")

    with pytest.raises(HivemindError, match="Nothing was restored"):
        restore_backup(places, str(backup))

    assert not (tmp_path / "new").exists()
