"""No file of a database is opened and closed beside SQLite: its locks would be gone."""

from __future__ import annotations

import fcntl
import os
import time
from math import inf
from pathlib import Path

from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.index.sqlite.vacuum import vacuum
from hivemind_memory.state.open import _make_file, open_state
from tests.index.conftest import put

SHARED_LOCK_START = 0x40000002
"""Where SQLite's unix VFS takes shared locks, and on how many bytes: see os_unix.c."""

SHARED_LOCK_BYTES = 510


def is_locked(path: Path) -> bool:
    """Return whether another process sees a lock of this one on a database."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    code = 2
    try:
        fd = os.open(path, os.O_RDWR)
        mode = fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.lockf(fd, mode, SHARED_LOCK_BYTES, SHARED_LOCK_START)
            code = 0
        except OSError:
            code = 1
    finally:
        os._exit(code)


def test_a_vacuum_keeps_the_locks_of_the_process(tmp_path: Path) -> None:
    """It looks for deleted text in the file, and another process would end its log."""
    path = tmp_path / "memory.db"
    index = SqliteIndex(str(path), now=time.time)
    put(index, "# Kept\n\nthis text stays\n")
    assert index.files().signatures
    before = is_locked(path)

    vacuum(str(path), (), since_s=inf, probes=("this text is gone",), wait_s=1)

    assert (before, is_locked(path)) == (True, True)
    index.close()


def test_a_state_file_that_another_thread_has_made_is_not_opened_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state.db"
    state = open_state(str(path))
    before = is_locked(path)

    _make_file(str(path))

    assert (before, is_locked(path)) == (True, True)
    state.close()
