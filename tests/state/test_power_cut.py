"""A power cut: of ``state.db`` only what was synced is left.

A file system below SQLite's own keeps a copy of each file as it was when it was last
synced. That copy is what the disk has after a power cut at its worst.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from hivemind_memory.model.changes import Change
from hivemind_memory.state.change_log import ChangeLog
from hivemind_memory.state.injection_log import InjectionLog
from hivemind_memory.state.recall_log import RecallLog
from hivemind_memory.state.state_file import StateFile

PURGE = "purge=the zebra"
NOW_S = 1_800_000_000.5


class Disk(apsw.VFS):
    """The usual file system, which remembers what of each file was synced."""

    def __init__(self) -> None:
        self.below = apsw.vfs_names()[0]  # the default comes first
        super().__init__("disk", self.below, makedefault=True)
        self.synced: dict[str, bytes] = {}
        self.deleted: set[str] = set()
        self.syncs = 0

    def xOpen(  # noqa: N802 - SQLite's name
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        return DiskFile(self, name, flags)

    def xDelete(self, name: str, sync_folder: bool) -> None:  # noqa: N802
        super().xDelete(name, sync_folder)
        self.deleted.add(name)

    def sync(self, name: str, data: bytes) -> None:
        """Record that a file was synced; SQLite syncs a new log with its folder."""
        self.synced[name] = data
        self.syncs += 1
        if name.endswith("-wal"):
            for gone in self.deleted:
                self.synced.pop(gone, None)

    def after_power_cut(self, folder: Path) -> StateFile:
        """Return the state as it is when the machine starts again."""
        folder.mkdir()
        for name, data in self.synced.items():
            (folder / Path(name).name).write_bytes(data)
        return StateFile(str(folder / "state.db"))


class DiskFile(apsw.VFSFile):
    """One open file."""

    def __init__(
        self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        super().__init__(disk.below, name, flags)
        is_uri = isinstance(name, apsw.URIFilename)
        self._name = name.filename() if is_uri else str(name)  # type: ignore[union-attr]
        self._disk = disk

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        super().xSync(flags)
        self._disk.sync(self._name, self.xRead(self.xFileSize(), 0))


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.unregister()


@pytest.fixture
def state(disk: Disk, tmp_path: Path) -> Iterator[StateFile]:
    assert disk
    opened = StateFile(str(tmp_path / "home" / "state.db"))
    yield opened
    opened.close()


def test_a_power_cut_forgets_no_purge_that_was_begun(
    state: StateFile, disk: Disk, tmp_path: Path
) -> None:
    """Its notes were changed and synced; what it had still to do was not."""
    state.begin(PURGE, "all of it")
    restarted = disk.after_power_cut(tmp_path / "cut")

    assert restarted.unfinished() == {state.hash_of(PURGE): "all of it"}

    state.rewrite_unfinished(lambda _: "the rest")
    state.finish([b"another"])
    assert set(disk.after_power_cut(tmp_path / "late").unfinished().values()) == {
        "the rest"
    }


def test_a_power_cut_forgets_no_tombstone(
    state: StateFile, disk: Disk, tmp_path: Path
) -> None:
    """The purged text was written again, and nothing refused it."""
    state.add_tombstones(["The zebra.", "The okapi."], "projects/shop")
    state.remove_tombstone("The okapi.", "projects/shop")
    state.rename_scope("projects/shop", "projects/store")
    restarted = disk.after_power_cut(tmp_path / "cut")

    assert restarted.has_tombstone("The zebra.", "projects/store")
    assert not restarted.has_tombstone("The okapi.", "projects/store")


def test_a_power_cut_forgets_no_injection(
    state: StateFile, disk: Disk, tmp_path: Path
) -> None:
    """A purge finds the worktrees that quote a memory by these records."""
    InjectionLog(state).append({"worktree": "/w", "file": "CLAUDE.md"})

    restarted = InjectionLog(disk.after_power_cut(tmp_path / "cut"))

    assert len(restarted.records()) == 1


def test_what_a_search_or_a_save_records_does_not_wait_for_the_disk(
    state: StateFile, disk: Disk
) -> None:
    """A save syncs its note and the journal; a third sync would cost a third more."""
    log, changes = RecallLog(state), ChangeLog(state)
    log.count([("", "a")], NOW_S)
    before = disk.syncs

    for number in range(10):
        log.count([("", "a")], NOW_S + number)
        changes.add(Change(id=str(number), kind="save", at="2026-11-21", actor="me"))

    assert disk.syncs == before
