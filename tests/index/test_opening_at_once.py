"""Thirty-two processes open a database that nobody has made yet."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.state.open import open_state

PROCESSES = 32
ROUNDS = 10


def open_index_file(path: str) -> None:
    SqliteIndex(path, now=lambda: 0.0).close()


def open_state_file(path: str) -> None:
    open_state(path, wait_ms=10_000).close()


def open_at_once(opens: Callable[[str], None], path: str) -> list[str]:
    """Open a file in many processes at one moment; return what they complain of."""
    start, go = os.pipe()
    told, tell = os.pipe()
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if not child:
            os.close(go)
            try:
                os.read(start, 1)  # until the parent lets go
                opens(path)
            except BaseException as error:  # noqa: BLE001 - the parent hears of all
                os.write(tell, f"{type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(0)
        children.append(child)
    for end in (start, tell, go):
        os.close(end)
    for child in children:
        os.waitpid(child, 0)
    with os.fdopen(told) as complaints:
        return complaints.read().splitlines()


@pytest.mark.parametrize("opens", [open_index_file, open_state_file])
def test_no_process_is_refused_a_file_that_all_of_them_make(
    opens: Callable[[str], None], tmp_path: Path
) -> None:
    """SQLite refuses one of two that switch a new file to WAL, without any wait."""
    complaints = [
        complaint
        for number in range(ROUNDS)
        for complaint in open_at_once(opens, str(tmp_path / f"{number}.db"))
    ]

    assert complaints == []
