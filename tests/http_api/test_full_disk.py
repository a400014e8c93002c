"""What the REST API answers while the disk is full."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import apsw
import pytest

from hivemind_memory import open_memory
from hivemind_memory.errors import HivemindError, IndexUnusableError, NotSavedError
from hivemind_memory.http_api.failures import failure_of
from hivemind_memory.index.sqlite.engine import SqliteEngine
from hivemind_memory.memory.sync import Syncer
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.sqlite.full_disk import is_full
from hivemind_memory.state.open import state_error


def test_a_full_disk_is_503_and_names_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was 409, as if another version were there, with the folder of the journal."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def refuse(*_: object) -> None:
        raise full

    with open_memory(home=str(tmp_path)) as memory:
        memory.write("The first one is there.")
        monkeypatch.setattr(os, "fsync", refuse)
        monkeypatch.setattr(os, "fdatasync", refuse)
        with pytest.raises(NotSavedError) as refused:
            memory.write("This one is not.")
        monkeypatch.undo()

    failure = failure_of(refused.value)

    assert failure.status == 503
    assert failure.message.startswith("The disk is full. Nothing was saved")
    assert failure.hint == "Free some space and try again."
    assert str(tmp_path) not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize("kind", [NotSavedError, HivemindError])
def test_a_lack_of_descriptors_is_503_whatever_it_kept_from_being_done(
    kind: type[HivemindError],
) -> None:
    """It was 409 where a note was to be written, as if another version were there."""
    error = kind("Too many files are open.", hint="Close some programs.")
    error.__cause__ = OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    assert failure_of(error).status == 503


def test_memories_are_listed_while_the_index_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note that was edited while the disk was full hid all memories."""

    def refuse(*_: object, **__: object) -> None:
        raise IndexUnusableError("the disk is full: the index was not changed")

    with open_memory(home=str(tmp_path)) as memory:
        memory.curation.save(NewMemory(key="deploy-day", content="On Tuesdays."))
        (tmp_path / "memory" / "edited.md").write_text("A note of a person.\n")
        monkeypatch.setattr(Syncer, "sync", refuse)
        monkeypatch.setattr(Syncer, "sync_named", refuse)

        page = memory.curation.list_page(MemoryFilter())
        monkeypatch.undo()
        later = memory.curation.list_page(MemoryFilter())

    assert [one.key for one in page.memories] == ["deploy-day"]
    assert page.warning == (
        "Recent changes may be missing: the disk is full: the index was not changed"
    )
    assert later.warning == ""


@pytest.mark.parametrize(("free", "is_told"), [(0, True), (10**9, False)])
def test_an_io_error_on_a_disk_without_space_is_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, is_told: bool
) -> None:
    """SQLite says "disk I/O error" where its file of locks cannot grow."""
    sizes = [*os.statvfs(tmp_path)]
    sizes[4] = free // sizes[1]
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(sizes))
    path = str(tmp_path / "state.db")

    said = str(state_error(path, apsw.IOError("disk I/O error")))

    assert is_full(apsw.IOError("disk I/O error"), path) is is_told
    assert ("the disk is full: state.db was not changed" in said) is is_told


@pytest.mark.parametrize(
    "error",
    [
        apsw.ReadOnlyError("attempt to write a readonly database"),
        apsw.CantOpenError("unable to open database file"),
        OSError(errno.EROFS, os.strerror(errno.EROFS)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_read_only_disk_is_said_in_the_usual_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """`hm token add` said "attempt to write a readonly database"."""
    fields = [*os.statvfs(tmp_path)]
    fields[8] |= os.ST_RDONLY
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(fields))
    monkeypatch.setattr(os, "access", lambda *_: False)

    said = state_error(str(tmp_path / "state.db"), error)

    assert str(said) == "the disk is read-only: state.db was not changed"
    assert said.hint == "Mount it read-write and try again."


def test_the_notes_are_counted_while_the_index_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hm status` said that there were none, while `hm list` listed them."""

    def refuse(_: SqliteEngine) -> None:
        raise IndexUnusableError("the disk is full: the index was not changed")

    with open_memory(home=str(tmp_path)) as memory:
        memory.write("The giraffe is tall.", file="zoo.md")
        memory.sync()
    monkeypatch.setattr(SqliteEngine, "open", refuse)

    with open_memory(home=str(tmp_path)) as memory:
        found = memory.status()
        listed = memory.list()

    assert found.notes == len(listed) > 0
