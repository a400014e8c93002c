"""Many platforms at once: an id is in one namespace, and no write is half."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hivemind_memory.errors import HivemindError, MemoryNotFoundError
from hivemind_memory.plugin_api.memories import question_in, search_rows, write_row
from hivemind_memory.plugin_api.namespaces import (
    delete_namespace,
    put_namespace,
    readable,
)
from hivemind_memory.plugin_api.refusal import NO_NAMESPACE, refusal_of
from hivemind_memory.plugin_api.rows import NewRow
from tests.support.sandbox import Sandbox

NAMES = ("workspace:web", "team:red")
OWN = "5b1f0c1e-7c1e-4f43-9d4d-0f9f7f1d2a10"
AT_ONCE = 32


def run_at_once(work: Callable[[int], None]) -> None:
    """Run 32 threads that begin together."""
    start = threading.Barrier(AT_ONCE)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - raised again below
            failed.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in failed:
        raise error


def test_one_id_written_in_two_namespaces_at_once_is_in_one(sandbox: Sandbox) -> None:
    """Each writer has a memory of its own, as processes have."""
    with sandbox.memory() as memory:
        for name in NAMES:
            put_namespace(memory, name, kind="custom")
    written: list[str] = []

    def work(number: int) -> None:
        name = NAMES[number % 2]
        with sandbox.memory() as own:
            try:
                write_row(own, name, NewRow(id=OWN, content=f"kiwi {number} " * 50))
            except MemoryNotFoundError:
                return
            written.append(name)

    run_at_once(work)

    with sandbox.memory() as memory:
        [row] = search_rows(memory, question_in(memory, NAMES))
    assert set(written) == {row.namespace}
    assert len(written) == AT_ONCE // 2
    assert len(set(row.content.split())) == 2
    assert len(list(sandbox.notes.rglob("*.md"))) == 1


def test_a_namespace_that_is_deleted_beside_writers_keeps_nothing(
    sandbox: Sandbox,
) -> None:
    """What was acknowledged before is hidden, and what came after is refused."""
    with sandbox.memory() as memory:
        put_namespace(memory, NAMES[0], kind="custom")

    def work(number: int) -> None:
        with sandbox.memory() as own:
            try:
                if number == 0:
                    delete_namespace(own, NAMES[0])
                else:
                    write_row(own, NAMES[0], NewRow(content=f"kiwi {number}"))
            except HivemindError as error:
                assert str(refusal_of(error)) == NO_NAMESPACE  # noqa: PT017 - or fail

    run_at_once(work)

    with sandbox.memory() as memory:
        assert readable(memory) == {}
        put_namespace(memory, NAMES[0], kind="custom")
        assert search_rows(memory, question_in(memory, NAMES)) == []
