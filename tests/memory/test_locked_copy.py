"""A copy of a locked index: how long it answers, and what is shown of it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from hivemind_memory.errors import IndexBusyError
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.query import Query
from hivemind_memory.sqlite import connection as sqlite_connection
from tests.memory.test_index_locked import WAIT_MS, blocked, forget_by_hand, locked
from tests.support.sandbox import Sandbox, ask, paths

__all__ = ["blocked"]


@pytest.fixture
def copied(blocked: Memory) -> Memory:
    """Return a memory whose index is locked and that a copy answers for."""
    assert paths(ask(blocked, "okapi")) == ["later.md"]
    assert blocked.index_handle.opened().file is not None
    return blocked


def test_a_copy_that_is_given_up_is_closed(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each stayed in memory for as long as the process."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT_MS", WAIT_MS)
    memory = sandbox.memory()
    memory.sync()
    sandbox.save("later.md", "The okapi hides.\n")
    before = {id(connection) for connection in apsw.connections()}
    with locked(sandbox):
        ask(memory, "okapi")
        copies = [
            connection
            for connection in apsw.connections()
            if id(connection) not in before and not connection.filename
        ]
    ask(memory, "okapi")

    open_now = {id(connection) for connection in apsw.connections()}
    assert copies
    assert [copy for copy in copies if id(copy) in open_now] == []


def test_a_refused_sync_keeps_the_copy(copied: Memory) -> None:
    """Every search after it waited for the lock and copied the index again."""
    copy = copied.index_handle.opened()
    with pytest.raises(IndexBusyError, match="kept the index locked"):
        copied.sync()

    assert copy.file is not None
    assert copied.index_handle.opened().index is copy.index


def test_a_copy_is_given_up_when_the_index_file_is_gone(
    copied: Memory, sandbox: Sandbox
) -> None:
    """It answered for as long as the process, and no file was made again."""
    for ending in ("", "-wal", "-shm"):
        Path(f"{sandbox.index_file}{ending}").unlink(missing_ok=True)

    assert paths(ask(copied, "okapi")) == ["later.md"]
    assert copied.index_handle.opened().file is None
    assert sandbox.index_file.exists()


@pytest.mark.parametrize("is_purged", [True, False])
def test_results_while_typing_show_nothing_that_the_notes_no_longer_say(
    copied: Memory, sandbox: Sandbox, *, is_purged: bool
) -> None:
    """They came from the copy, or from an index that was behind."""
    query = Query(text="tuesdays train")
    assert len(copied.search(query, is_fresh=False).hits) == 2
    if is_purged:
        (sandbox.notes / "deploy.md").unlink()
    else:
        forget_by_hand(sandbox, "deploy.md")

    typed = copied.search(query, is_fresh=False)

    assert paths(typed) == ["ship.md"]
    assert "Tuesdays" not in repr(typed)
