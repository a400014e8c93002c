"""Which process is named as the one that keeps a file locked."""

from __future__ import annotations

import io
import os
import signal
from pathlib import Path

import apsw
import pytest

from hivemind_memory.sqlite import lock_holder as lock_holders
from hivemind_memory.sqlite.lock_holder import lock_holder


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="Linux alone names it")
def test_a_lock_of_another_file_system_names_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file had the same inode, and a person was told to kill the process."""
    file = tmp_path / "x.db"
    apsw.Connection(str(file)).execute("CREATE TABLE t(a)")
    line = f"1: POSIX  ADVISORY  WRITE 1 00:99:{os.stat(file).st_ino} 0 EOF\n"
    monkeypatch.setattr(
        lock_holders, "open", lambda *_, **__: io.StringIO(line), raising=False
    )

    assert lock_holder(str(file)) == (0, "")


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="Linux alone names it")
def test_the_process_that_writes_is_named(tmp_path: Path) -> None:
    """By its id, which ``kill`` takes."""
    file = tmp_path / "x.db"
    apsw.Connection(str(file)).execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        busy = apsw.Connection(str(file))
        busy.execute("BEGIN IMMEDIATE")
        os.write(writing, b".")
        signal.pause()
    os.read(reading, 1)
    try:
        number, name = lock_holder(str(file))
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)

    assert number == child
    assert name.startswith(f"process {child} (")
