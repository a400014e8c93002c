"""Notes are read and written in batches: none is lost by what happens to another.

Each test stops a sync in the middle of a batch: by a kill, a full disk, another
process, a person, or a note that cannot be read.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import apsw
import pytest

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.markdown.blocks import BlockReader
from hivemind_memory.memory import note_indexer
from hivemind_memory.model.curation import MemorySelector
from hivemind_memory.model.query import Query
from tests.support.purge_rig import traces
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths
from tests.support.tiers import mostly_thorough

COUNT = 30
QUESTIONS = ("number", "mountain", "river")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven notes are read together, five chunks are written together."""
    monkeypatch.setattr(note_indexer, "BATCH_NOTES", 7)
    monkeypatch.setattr(note_indexer, "BATCH_CHUNKS", 5)


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """Notes of one to three chunks."""
    sandbox = Sandbox(tmp_path / "home")
    for number in range(COUNT):
        sandbox.save(note(number), text_of(number, "river"))
    return sandbox


def note(number: int) -> str:
    """Return the name of a note."""
    return f"folder{number % 3}/{number:02}.md"


def text_of(number: int, word: str) -> str:
    """Return a note of one to three chunks."""
    parts = (f"# Part {part}\n\n{word} number{number}\n" for part in range(3))
    return "\n".join(list(parts)[: 1 + number % 3])


def statement_counter(at: int, then: Callable[[], object]) -> Callable[..., bool]:
    """Return what calls *then* before the writing statement of that number."""
    left = at

    def count(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        nonlocal left
        if sql.lstrip()[:6].upper() in {"INSERT", "UPDATE", "DELETE", "COMMIT"}:
            left -= 1
            if not left:
                then()
        return True

    return count


def in_child(work: Callable[[], object]) -> int:
    """Do some work in a process of its own; return its id."""
    pid = os.fork()
    if not pid:
        try:
            work()
        except BaseException:  # noqa: BLE001 - the parent sees how it ended
            os._exit(1)
        os._exit(0)
    return pid


def ended_well(pid: int) -> bool:
    """Return whether a process did all its work."""
    return os.waitpid(pid, 0)[1] == 0


def sync_once(sandbox: Sandbox) -> None:
    """Update the index as a new process does."""
    with sandbox.memory() as memory:
        memory.sync()


@pytest.mark.parametrize(
    "is_first", mostly_thorough([True, False], every=2), ids=["first", "later"]
)
def test_a_sync_that_is_killed_in_the_midst_of_a_batch_is_completed_by_the_next(
    sandbox: Sandbox, is_first: bool
) -> None:
    """Before any of its statements; each batch is there as a whole or not at all."""
    if not is_first:
        sync_once(sandbox)
    kills = 0
    for at in range(1, 400, 6):
        if is_first:
            for file in sandbox.index_file.parent.glob("memory.db*"):
                file.unlink()
        else:
            for number in range(COUNT):
                sandbox.save_over(note(number), text_of(number, f"river{at}"))

        def die_at(number: int = at) -> None:
            def die() -> None:
                os.kill(os.getpid(), signal.SIGKILL)

            count = statement_counter(number, die)
            apsw.connection_hooks.append(lambda one: setattr(one, "exec_trace", count))
            sync_once(sandbox)

        if ended_well(in_child(die_at)):
            break
        kills += 1
        with sandbox.memory() as memory:
            result = memory.sync()
            assert result.skipped == ()
            assert difference_from_fresh(sandbox, memory, QUESTIONS) == []
    assert kills > 10


def test_processes_that_sync_at_once_lose_nothing_and_double_nothing(
    sandbox: Sandbox,
) -> None:
    """Each has read what another is writing."""
    for number in range(COUNT, 5 * COUNT):
        sandbox.save(note(number), text_of(number, "river"))

    def change_and_sync(seed: int) -> None:
        chance = random.Random(seed)
        with sandbox.memory() as memory:
            for _ in range(8):
                for number in chance.sample(range(COUNT), 10):
                    text = text_of(number, f"mountain{chance.random()}")
                    sandbox.save(f"{note(number)}.{seed}", text).replace(
                        sandbox.notes / note(number)
                    )
                memory.sync()

    children = [in_child(lambda n=seed: change_and_sync(n)) for seed in range(3)]

    ends = [ended_well(child) for child in children]
    assert ends == [True] * 3
    with sandbox.memory() as memory:
        memory.sync()
        assert difference_from_fresh(sandbox, memory, QUESTIONS) == []


def meanwhile(
    method: Callable[..., Any], happens: Callable[[], object], *, call: int
) -> Callable[..., Any]:
    """Return *method*, before whose call of that number something happens."""
    left = call

    def called(*args: Any, **kwargs: Any) -> Any:
        nonlocal left
        left -= 1
        if not left:
            happens()
        return method(*args, **kwargs)

    return called


MOMENTS = {
    "before it is masked": (BlockReader, "read_all"),
    "before it is written": (SqliteIndex, "replace"),
}


@pytest.fixture(params=MOMENTS, ids=lambda name: name.replace(" ", "-"))
def moment(request: pytest.FixtureRequest) -> tuple[type, str]:
    """When something happens to the notes of a batch that was read."""
    return MOMENTS[request.param]


@pytest.mark.parametrize("call", [1, 2, 4])
def test_a_note_that_changes_in_the_midst_of_a_batch_is_found_as_it_is(
    sandbox: Sandbox, moment: tuple[type, str], call: int
) -> None:
    """By the search after it, and by another process that was faster."""
    owner, name = moment

    def change() -> None:
        for number in range(0, COUNT, 2):
            sandbox.save_over(note(number), text_of(number, "mountain"))
        with mock.patch.object(owner, name, real), sandbox.memory() as other:
            found = paths(ask(other, "mountain", max_results=100))
            assert set(found) == {note(number) for number in range(0, COUNT, 2)}

    real = getattr(owner, name)
    with (
        sandbox.memory() as memory,
        mock.patch.object(owner, name, meanwhile(real, change, call=call)),
    ):
        memory.sync()

        query = Query(text="mountain", min_score=0.0, max_results=100)
        found = set(paths(memory.search(query, is_fresh=False)))
        assert found == {note(number) for number in range(0, COUNT, 2)}
        assert difference_from_fresh(sandbox, memory, QUESTIONS) == []


@pytest.mark.parametrize("call", [1, 2, 4])
def test_a_note_that_is_deleted_in_the_midst_of_a_batch_is_not_found(
    sandbox: Sandbox, moment: tuple[type, str], call: int
) -> None:
    """Neither is one that was put in its place."""
    owner, name = moment

    def delete() -> None:
        for number in range(COUNT - 1):
            (sandbox.notes / note(number)).unlink()

    real = getattr(owner, name)
    with (
        sandbox.memory() as memory,
        mock.patch.object(owner, name, meanwhile(real, delete, call=call)),
    ):
        memory.sync()

        found = set(paths(ask(memory, "river", max_results=100)))
        assert found == {note(COUNT - 1)}
        assert difference_from_fresh(sandbox, memory, QUESTIONS) == []


@pytest.mark.parametrize("call", [1, 2])
def test_what_is_purged_in_the_midst_of_a_batch_is_in_no_file(
    sandbox: Sandbox, moment: tuple[type, str], call: int
) -> None:
    """A batch that was read before the purge does not bring it back."""
    owner, name = moment
    with sandbox.memory() as memory:
        entry = memory.write("The password of the harbour is zanzibarium.", file="a.md")
    for file in sandbox.index_file.parent.glob("memory.db*"):
        file.unlink()

    def purge() -> None:
        with mock.patch.object(owner, name, real), sandbox.memory() as other:
            receipt = other.curation.purge(MemorySelector(name=entry.id))
            assert receipt.is_complete, receipt

    real = getattr(owner, name)
    with (
        sandbox.memory() as memory,
        mock.patch.object(owner, name, meanwhile(real, purge, call=call)),
    ):
        memory.sync()

        assert difference_from_fresh(sandbox, memory, QUESTIONS) == []
        assert traces(sandbox.home, {"zanzibarium"}, sandbox.index_file) == []


def test_a_bad_note_in_a_batch_hides_no_other(sandbox: Sandbox) -> None:
    """A pipe, a note beyond the bound, bytes of no text, and one that is empty."""
    os.mkfifo(sandbox.notes / "folder0/pipe.md")
    sandbox.save("folder1/huge.md", b"river " * 200_000)
    sandbox.save("folder1/bytes.md", bytes(range(256)) * 20 + b"\n\nriver bytes\n")
    sandbox.save("folder2/empty.md", b"")
    with sandbox.memory(max_note_mb=1) as memory:
        result = memory.sync()

        found = paths(ask(memory, "river", max_results=100))
        assert {one.path for one in result.skipped} >= {"folder1/huge.md"}
        assert set(found) == {*map(note, range(COUNT)), "folder1/bytes.md"}
        assert difference_from_fresh(sandbox, memory, QUESTIONS, max_note_mb=1) == []


@pytest.fixture
def small_disk() -> Iterator[list[int]]:
    """SQLite finds no more room than so many pages; empty: as many as it wants."""
    pages: list[int] = []

    def limit(connection: apsw.Connection) -> None:
        if pages:
            connection.pragma("max_page_count", pages[0])

    apsw.connection_hooks.append(limit)
    yield pages
    apsw.connection_hooks.remove(limit)


def test_a_disk_that_fills_in_the_midst_of_a_batch_leaves_an_index_that_goes_on(
    sandbox: Sandbox, small_disk: list[int]
) -> None:
    """The sync says so, a search answers, and the next sync finishes it."""
    for number in range(COUNT, 10 * COUNT):
        sandbox.save(note(number), text_of(number, f"river word{number} " * 9))
    full = 0
    for pages in (48, 56, 64, 80, 120):
        small_disk[:] = [pages]
        with sandbox.memory() as memory:
            with suppress(IndexUnusableError):
                memory.sync()
                full -= 1
            full += 1
            small_disk.clear()
            assert ask(memory, "river number3").hits

    assert full > 1
    with sandbox.memory() as memory:
        memory.sync()
        assert difference_from_fresh(sandbox, memory, QUESTIONS) == []
