"""A file that is replaced in the moment in which it is opened: the old one is dropped.

Who opened it took the identity of the path afterward, so the old file passed for the
one that is there, and what was written to it was lost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from hivemind_memory.files import locks
from hivemind_memory.index.sqlite import index as index_module
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.state import state_file
from hivemind_memory.state.state_file import StateFile
from hivemind_memory.watch import leader
from hivemind_memory.watch.leader import Leadership


def replacing_after(
    real: Callable[..., apsw.Connection],
) -> Callable[..., apsw.Connection]:
    """Return what opens a file and, once, has another process replace it."""
    calls: list[str] = []

    def opened(path: str, **more: int) -> apsw.Connection:
        connection = real(path, **more)
        calls.append(path)
        if len(calls) == 1:
            for end in ("", "-wal", "-shm"):
                if os.path.exists(path + end):
                    os.rename(path + end, f"{path}.aside{end}")
            Path(path).touch(mode=0o600)
        return connection

    return opened


def test_a_tombstone_is_written_to_the_state_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged file is set aside while another process opens it."""
    path = str(tmp_path / "state.db")
    StateFile(path).hash_of("it is made")
    monkeypatch.setattr(
        state_file, "open_state", replacing_after(state_file.open_state)
    )

    StateFile(path).add_tombstones(["The zebra."])

    monkeypatch.undo()
    assert StateFile(path).has_tombstone("The zebra.")


def test_an_index_that_was_replaced_while_it_was_opened_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process answered from the old one for as long as it lived."""
    path = str(tmp_path / "memory.db")
    SqliteIndex(path, now=time.time).close()
    opening = replacing_after(index_module.open_connection)
    monkeypatch.setattr(index_module, "open_connection", opening)

    index = SqliteIndex(path, now=time.time)
    index.set_meta("zebra", "striped")

    other = SqliteIndex(path, now=time.time)
    assert index.is_still_there()
    assert other.get_meta("zebra") == "striped"


def test_a_leader_whose_lock_was_replaced_leads_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes led: each held a lock, and one of them by an old file."""
    lock, state = str(tmp_path / "leader.lock"), str(tmp_path / "watch.json")
    real = locks.KernelLock.try_acquire

    def then_deleted(self: locks.KernelLock) -> bool:
        is_taken = real(self)
        os.unlink(lock)
        Path(lock).touch(mode=0o600)
        return is_taken

    one = Leadership(lock, state_path=state)
    with monkeypatch.context() as patch:
        patch.setattr(leader.KernelLock, "try_acquire", then_deleted)
        one.try_acquire()

    assert Leadership(lock, state_path=state).try_acquire()
    assert not one.still_leads()
