"""While another process has the index locked, a copy answers, and changes are made.

Where no copy can be made, readers answer from what there is and say what may lack.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from hivemind_memory.cli.main import main
from hivemind_memory.context.briefing import find_briefing
from hivemind_memory.errors import (
    ForgottenError,
    IndexBusyError,
    MemoryNotFoundError,
    NotSavedError,
)
from hivemind_memory.index.sqlite import engine
from hivemind_memory.memory import freshness
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import MemorySelector, NewMemory, UnfinishedPurge
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.sqlite import connection as sqlite_connection
from tests.support.sandbox import Sandbox, ask, difference_from_fresh, paths

WAIT_MS = 600
BEHIND = "Recent changes may be missing: another process kept the index locked"


@contextmanager
def locked(sandbox: Sandbox) -> Iterator[None]:
    """Hold SQLite's lock of the index, as another process would."""
    holder = apsw.Connection(str(sandbox.index_file))
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


@pytest.fixture
def blocked(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """Return a memory whose index lacks a change and is locked."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT_MS", WAIT_MS)
    memory = sandbox.memory()
    memory.curation.save(NewMemory(key="deploy", content="On Tuesdays.", type="goal"))
    memory.curation.save(NewMemory(key="ship", content="By train.", type="goal"))
    memory.sync()
    sandbox.save("later.md", "The okapi hides.\n")
    with locked(sandbox):
        yield memory


def forget_by_hand(sandbox: Sandbox, name: str) -> None:
    """Mark a memory as forgotten, as another process does that need not index it."""
    note = sandbox.notes / name
    note.write_text(note.read_text().replace("\n---\n", "\nforgotten: yes\n---\n", 1))


def test_a_copy_of_a_locked_index_lacks_nothing(
    blocked: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers lacked what had changed, and each waited for the lock again."""
    waits: list[object] = []
    real = sqlite_connection.write_transaction.__enter__

    def entered(transaction: sqlite_connection.write_transaction) -> None:
        waits.append(transaction)
        real(transaction)

    found = ask(blocked, "okapi")
    monkeypatch.setattr(sqlite_connection.write_transaction, "__enter__", entered)
    again = ask(blocked, "okapi")
    listed = blocked.curation.list_memories(MemoryFilter())

    assert paths(found) == paths(again) == ["later.md"]
    assert found.report.is_fresh
    assert any("made from a copy" in said for said in found.report.warnings)
    assert again.report.is_fresh
    assert not again.report.warnings
    assert len(listed) == 2
    assert find_briefing(blocked, "global").warning == ""
    assert waits == []


def test_a_copy_is_given_up_once_the_lock_is_free(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has learned from the notes has to come into the file as well."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT_MS", WAIT_MS)
    memory = sandbox.memory()
    memory.sync()
    sandbox.save("later.md", "The okapi hides.\n")
    with locked(sandbox):
        assert paths(ask(memory, "okapi")) == ["later.md"]

    assert paths(ask(memory, "okapi")) == ["later.md"]
    assert memory.index_handle.opened().file is None
    assert difference_from_fresh(sandbox, memory, ("okapi",)) == []


@pytest.mark.parametrize("may_copy", [True, False])
def test_what_is_forgotten_while_the_index_is_locked_is_in_no_answer(
    blocked: Memory,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    *,
    may_copy: bool,
) -> None:
    """A search showed its text, and its versions named its path as missing."""
    if not may_copy:
        monkeypatch.setattr(engine, "MAX_COPY_BYTES", 0)
    forget_by_hand(sandbox, "deploy.md")

    found = ask(blocked, "tuesdays train")

    assert paths(found) == ["ship.md"]
    assert "Tuesdays" not in repr(found)
    try:
        history = blocked.curation.history("deploy")
    except ForgottenError:
        assert may_copy
    else:
        assert not may_copy
        assert (history.memories, history.missing) == ((), ())


def test_changes_are_made_while_the_index_is_locked(
    blocked: Memory, sandbox: Sandbox
) -> None:
    """They were refused, each after ten seconds."""
    curation = blocked.curation
    curation.save(NewMemory(key="other", content="The heron waits.", type="fact"))
    curation.save(
        NewMemory(key="deploy", content="On Fridays.", type="goal", reason="moved")
    )
    curation.link("ship", "deploy", "related_to")
    curation.unlink("ship", "deploy", "related_to")
    curation.link("ship", "other", "related_to")
    curation.forget(MemorySelector(name="other"))
    curation.restore(MemorySelector(name="other"))
    claim = blocked.write("The lynx sleeps.", source="external", scope="global")
    pending = [waits.path for waits in curation.pending()]
    curation.reject(pending[0])

    assert claim.path in pending
    assert paths(ask(blocked, "heron")) == ["other.md"]
    with pytest.raises(IndexBusyError, match="kept the index locked"):
        blocked.sync()


def test_a_purge_while_the_index_is_locked_says_what_is_left_and_is_finished_later(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was refused. What it cannot remove from the file it must not call removed."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT_MS", WAIT_MS)
    memory = sandbox.memory()
    text = "Zanzibarquux wombatopolis keeps flimmerkeks."
    memory.curation.save(NewMemory(key="secretk", content=text, type="fact"))
    memory.sync()
    sandbox.save("later.md", "The okapi hides.\n")
    with locked(sandbox):
        receipt = memory.curation.purge(MemorySelector(name="secretk"))

        assert not (sandbox.notes / "secretk.md").exists()
        assert [item.what for item in receipt.left] == ["index"]
        assert "kept the index locked" in receipt.left[0].why
        assert receipt.finish

    name = receipt.finish.rpartition(" ")[2]
    finished = memory.curation.purge(UnfinishedPurge(id=name))

    assert finished.is_complete
    left = [
        file
        for file in sandbox.home.rglob("*")
        if file.is_file() and b"wombatopolis" in file.read_bytes()
    ]
    assert left == []


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="tells no holder")
def test_who_keeps_the_index_locked_is_named(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who waited ten seconds was told that another process did it."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT_MS", 100)
    memory = sandbox.memory()
    memory.sync()
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(sandbox.index_file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    try:
        holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED)
        sandbox.save("later.md", "The okapi hides.\n")

        with pytest.raises(IndexBusyError) as refused:
            memory.sync()
    finally:
        holder.kill()
        holder.communicate()

    assert f"process {holder.pid} (" in str(refused.value)
    assert "stopped) kept the index locked" in str(refused.value)
    assert f"`kill {holder.pid}`" in refused.value.hint


_HOLD = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture
def behind(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Memory, list[str]]]:
    """Return a memory whose index lacks a change and is locked, and who waited.

    It is too large to be copied.
    """
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT_MS", WAIT_MS)
    monkeypatch.setattr(engine, "MAX_COPY_BYTES", 0)
    monkeypatch.setattr(freshness, "REFUSED_S", 0.5)
    memory = sandbox.memory()
    memory.curation.save(NewMemory(key="deploy", content="On Tuesdays.", type="goal"))
    memory.sync()
    sandbox.save("later.md", "The okapi hides.\n")
    with locked(sandbox):
        waited: list[str] = []
        real = freshness.FreshnessCheck._ensure_fresh

        def counted(*given: Any, **more: Any) -> freshness.Freshness:
            waited.append("waited")
            return real(*given, **more)

        monkeypatch.setattr(freshness.FreshnessCheck, "_ensure_fresh", counted)
        yield memory, waited


def test_what_reads_answers_waits_once_and_says_that_it_may_be_behind(
    behind: tuple[Memory, list[str]],
) -> None:
    """They were refused, or waited 10 s each, or said nothing."""
    memory, waited = behind

    briefing = find_briefing(memory, "global")
    shown = memory.curation.show("deploy")
    history = memory.curation.history("deploy")
    listed = memory.curation.list_memories(MemoryFilter())
    notes = memory.list()

    assert waited == ["waited"]
    assert (briefing.body, briefing.is_stale) == ("Goal: On Tuesdays.", True)
    assert briefing.warning.startswith(BEHIND)
    assert shown.memory.text.strip() == "On Tuesdays."
    assert shown.warnings[0].startswith(BEHIND)
    assert [memory.key for memory in history.memories] == ["deploy"]
    assert history.warning.startswith(BEHIND)
    assert [memory.key for memory in listed] == ["deploy"]
    assert "later.md" in {note.path for note in notes}
    assert memory.index_handle.why_behind


def test_what_writes_is_refused_and_nothing_is_changed(
    behind: tuple[Memory, list[str]],
) -> None:
    """A save must not replace what it does not see."""
    memory, _ = behind
    find_briefing(memory, "global")

    with pytest.raises(NotSavedError, match="kept the index locked"):
        memory.curation.save(NewMemory(key="other", content="No.", type="goal"))


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["list", "--memories"],
        ["show", "deploy"],
        ["history", "deploy"],
        ["get", "deploy"],
    ],
    ids=" ".join,
)
def test_commands_say_it_too(
    behind: tuple[Memory, list[str]],
    words: list[str],
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A person would take a list for all there is."""
    monkeypatch.setenv("HIVEMIND_HOME", str(sandbox.home))

    assert main(words) == 0

    printed = capsys.readouterr()
    assert "deploy" in printed.out
    assert BEHIND in printed.err


def test_what_was_forgotten_meanwhile_is_not_shown(
    behind: tuple[Memory, list[float]], sandbox: Sandbox
) -> None:
    """The index still calls it active, but its note is read, and says otherwise."""
    memory, _ = behind
    forget_by_hand(sandbox, "deploy.md")

    assert find_briefing(memory, "global").body == ""
    assert memory.curation.list_memories(MemoryFilter()) == ()
    assert memory.curation.list_page(MemoryFilter()).memories == ()
    assert memory.curation.history("deploy").memories == ()
    with pytest.raises(MemoryNotFoundError):
        memory.curation.show("deploy")


def test_once_the_lock_is_free_nothing_is_said(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was refused once must not be remembered for long."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT_MS", WAIT_MS)
    monkeypatch.setattr(freshness, "REFUSED_S", 0.5)
    monkeypatch.setattr(engine, "MAX_COPY_BYTES", 0)
    memory = sandbox.memory()
    memory.sync()
    sandbox.save("later.md", "The okapi hides.\n")
    with locked(sandbox):
        assert find_briefing(memory, "global").is_stale
    monkeypatch.setattr(freshness, "REFUSED_S", 0.0)

    assert not find_briefing(memory, "global").is_stale
