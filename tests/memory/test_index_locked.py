"""While another process has the index locked, readers answer and say what may lack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from hivemind_memory.cli.main import main
from hivemind_memory.context.briefing import find_briefing
from hivemind_memory.errors import MemoryNotFoundError, NotSavedError
from hivemind_memory.memory import freshness
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.listing import MemoryFilter
from hivemind_memory.sqlite import connection as sqlite_connection
from tests.support.sandbox import Sandbox

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
def behind(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Memory, list[str]]]:
    """Return a memory whose index lacks a change and is locked, and who waited."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT_MS", WAIT_MS)
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
    [["list"], ["list", "--memories"], ["show", "deploy"], ["history", "deploy"]],
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
    note = sandbox.notes / "deploy.md"
    note.write_text(note.read_text().replace("\n---\n", "\nforgotten: yes\n---\n", 1))

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
    memory = sandbox.memory()
    memory.sync()
    sandbox.save("later.md", "The okapi hides.\n")
    with locked(sandbox):
        assert find_briefing(memory, "global").is_stale
    monkeypatch.setattr(freshness, "REFUSED_S", 0.0)

    assert not find_briefing(memory, "global").is_stale
