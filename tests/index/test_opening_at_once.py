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


def open_at_once(opens: Callable[[str], None], files: list[str]) -> list[str]:
    """Open each file in many processes at one moment; return their complaints.

    The processes are the same for all files: each file waits for the one before.
    """
    starts = [os.pipe() for _ in files]
    done, tell_done = os.pipe()
    told, tell = os.pipe()
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if not child:
            for _, go in starts:
                os.close(go)
            try:
                for (start, _), file in zip(starts, files, strict=True):
                    os.read(start, 1)  # until the parent lets go
                    try:
                        opens(file)
                    except BaseException as error:  # noqa: BLE001 - the parent hears
                        os.write(tell, f"{type(error).__name__}: {error}\n".encode())
                    os.write(tell_done, b".")
            finally:
                os._exit(0)
        children.append(child)
    for end in (tell, tell_done):
        os.close(end)
    for start, go in starts:
        os.close(start)
        os.close(go)
        for _ in children:
            assert os.read(done, 1) == b"."
    for child in children:
        os.waitpid(child, 0)
    os.close(done)
    with os.fdopen(told) as complaints:
        return complaints.read().splitlines()


@pytest.mark.thorough
@pytest.mark.parametrize("opens", [open_index_file, open_state_file])
def test_no_process_is_refused_a_file_that_all_of_them_make(
    opens: Callable[[str], None], tmp_path: Path
) -> None:
    """SQLite refuses one of two that switch a new file to WAL, without any wait."""
    files = [str(tmp_path / f"{number}.db") for number in range(ROUNDS)]

    assert open_at_once(opens, files) == []
    assert all(Path(file).exists() for file in files)
