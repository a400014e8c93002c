"""A search counts what it found; that it cannot is no reason to answer nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import apsw
import pytest

from hivemind_memory import opening
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import Query
from hivemind_memory.model.scope import scoped_id
from hivemind_memory.state.recall_log import RecallLog

SAVED = "The harbour is deep."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which one entry was found once."""
    with opening.open_memory(home=str(tmp_path / "home")) as memory:
        memory.write(SAVED)
        answer = memory.search(Query(text="harbour"))
        memory.record_recall(answer)
        assert recalls(memory) == 1
    return tmp_path / "home"


def recalls(memory: Memory) -> int:
    """Return how often the entry was found."""
    [hit] = memory.search(Query(text="harbour")).hits
    one = scoped_id(hit.path, hit.id)
    return RecallLog(memory.state()).counts([one]).get(one, (0, 0))[0]


@contextmanager
def another_process_writes(file: Path) -> Iterator[None]:
    """Hold the lock for writing."""
    other = apsw.Connection(str(file))
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


@contextmanager
def it_is_damaged(file: Path) -> Iterator[None]:
    """Put other bytes in its place."""
    file.write_bytes(b"no database " * 1000)
    yield


@contextmanager
def it_is_of_a_newer_version(file: Path) -> Iterator[None]:
    """As after a step back to an earlier program."""
    connection = apsw.Connection(str(file))
    connection.pragma("user_version", 999)
    connection.close()
    yield


@contextmanager
def a_folder_has_its_name(file: Path) -> Iterator[None]:
    """Nothing can be opened there."""
    for one in file.parent.glob("state.db*"):
        one.unlink()
    file.mkdir()
    yield


STATES = (
    another_process_writes,
    it_is_damaged,
    it_is_of_a_newer_version,
    a_folder_has_its_name,
)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_a_search_answers_although_it_cannot_count(
    home: Path, state: Callable[[Path], AbstractContextManager[None]]
) -> None:
    """Whatever is wrong with ``state.db``."""
    with state(home / "state.db"), opening.open_memory(home=str(home)) as memory:
        answer = memory.search(Query(text="harbour"))
        memory.record_recall(answer)

    assert [hit.snippet for hit in answer.hits] == [SAVED]


def test_threads_of_one_memory_count_without_an_error(home: Path) -> None:
    """They share one connection; each has it to itself for its turn."""
    errors: list[BaseException] = []
    with opening.open_memory(home=str(home)) as memory:

        def search() -> None:
            try:
                for _ in range(10):
                    memory.record_recall(memory.search(Query(text="harbour")))
            except BaseException as error:  # noqa: BLE001 - shown below
                errors.append(error)

        threads = [threading.Thread(target=search) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert errors == []
        assert recalls(memory) > 1
