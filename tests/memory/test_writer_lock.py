"""Processes that see the same change wait for one another and do the work once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.files import locks
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.index.sqlite import note_parts
from hivemind_memory.index.sqlite import notes as index_notes
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.markdown.blocks import BlockReader
from tests.support.sandbox import Sandbox, ask, paths
from tests.support.waiting import wait_until

MANY = 32


def writer_lock_of(sandbox: Sandbox) -> KernelLock:
    """Return the lock that all processes share that write to the index."""
    return KernelLock(f"{sandbox.index_file}.writer.lock")


def test_one_of_many_that_see_a_change_indexes_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them cut the note, and then found that another had been faster."""
    sandbox.save("a.md", "old text\n")
    memories = [sandbox.memory() for _ in range(MANY)]
    for memory in memories:
        ask(memory, "old")
    sandbox.save("a.md", "The xylophone is new.\n")
    read: list[int] = []
    real = BlockReader.read_all

    def read_all(reader: BlockReader, noted: Any) -> Any:
        read.append(len(noted))
        return real(reader, noted)

    monkeypatch.setattr(BlockReader, "read_all", read_all)
    at_once = threading.Barrier(MANY)

    def search(number: int) -> list[str]:
        at_once.wait()
        return paths(ask(memories[number], "xylophone"))

    with ThreadPoolExecutor(MANY) as pool:
        answers = list(pool.map(search, range(MANY)))

    assert answers == [["a.md"]] * MANY
    assert read == [1]
    for memory in memories:
        memory.close()


def test_a_process_that_was_stopped_with_the_lock_stops_no_other(
    sandbox: Sandbox,
) -> None:
    """The lock only makes writers wait in order; SQLite's is free."""
    sandbox.save("a.md", "old text\n")
    with sandbox.memory() as memory:
        ask(memory, "old")
        sandbox.save("b.md", "new text\n")
        index = memory.index_handle.opened().index
        assert isinstance(index, SqliteIndex)
        index.connection.set_busy_timeout(10)
        lock = writer_lock_of(sandbox)
        assert lock.try_acquire()

        answer = ask(memory, "new")

        assert paths(answer) == ["b.md"]
        assert answer.report.is_fresh
        lock.release()


def test_who_has_given_up_the_lock_waits_for_it_no_more(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each transaction of a search waited ten seconds for a stopped process."""
    waited: list[float] = []

    def wait(_: int, wait_s: float, *, is_shared: bool) -> bool:
        waited.append(wait_s)
        return False

    sandbox.save("a.md", "old text\n")
    with sandbox.memory() as memory:
        ask(memory, "old")
        lock = writer_lock_of(sandbox)
        assert lock.try_acquire()
        monkeypatch.setattr(locks, "_lock_within", wait)
        for number in range(3):
            sandbox.save("b.md", f"new text {number}\n")
            assert paths(ask(memory, f"text {number}"))[0] == "b.md"
        assert len(waited) == 1

        lock.release()
        sandbox.save("b.md", "another text\n")
        ask(memory, "another")
        assert lock.try_acquire()
        sandbox.save("b.md", "the last text\n")
        assert paths(ask(memory, "last")) == ["b.md"]
        lock.release()
    assert len(waited) == 2  # It was free in between.


def test_a_folder_without_room_for_the_lock_is_written_all_the_same(
    sandbox: Sandbox,
) -> None:
    """The lock only makes writers wait in order; SQLite's keeps the index sound."""
    sandbox.save("a.md", "some text\n")
    Path(writer_lock_of(sandbox).path).mkdir(parents=True)

    with sandbox.memory() as memory:
        assert paths(ask(memory, "text")) == ["a.md"]


def test_a_large_note_is_written_without_the_lock(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rebuild takes the other lock first: each would wait for the other's."""
    sandbox.save("a.md", "some text\n\n\nand more\n")
    monkeypatch.setattr(index_notes, "STEP_CHUNKS", 1)
    is_free = []
    real = note_parts.replace_large_note

    def replace(*args: Any, **kwargs: Any) -> int:
        lock = writer_lock_of(sandbox)
        is_free.append(lock.try_acquire())
        lock.release()
        return real(*args, **kwargs)

    monkeypatch.setattr(note_parts, "replace_large_note", replace)

    with sandbox.memory() as memory:
        assert paths(ask(memory, "text")) == ["a.md"]

    assert is_free == [True]


def test_a_rebuild_waits_for_its_turn_to_replace_the_index(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asked for SQLite's lock alone, and beside many writers not for long enough."""
    sandbox.save("a.md", "The giraffe is tall.\n")
    with sandbox.memory() as memory:
        memory.sync()
    lock, waited = writer_lock_of(sandbox), threading.Event()
    real = KernelLock.acquire

    def acquire(self: KernelLock, *, wait_s: float) -> bool:
        if self.path == lock.path and self is not lock:
            waited.set()
        return real(self, wait_s=wait_s)

    assert lock.try_acquire()
    monkeypatch.setattr(KernelLock, "acquire", acquire)
    other = sandbox.memory()
    rebuilding = threading.Thread(target=other.rebuild)
    rebuilding.start()
    wait_until(lambda: waited.is_set() or not rebuilding.is_alive())

    assert rebuilding.is_alive()
    lock.release()
    rebuilding.join(60)
    assert paths(ask(other, "giraffe")) == ["a.md"]
    other.close()
