"""What a rebuild leaves when its process is stopped, and who removes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hivemind_memory.files.locks import KernelLock
from hivemind_memory.memory.memory import Memory
from tests.support.sandbox import Sandbox, ask, difference_from_fresh
from tests.support.tiers import mostly_thorough

NOTES = 6
MOMENTS = ("opened", "reading", "second pass", "copied vectors", "swapped")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)

PAUSES = """
import signal, sys
from hivemind_memory.index.sqlite import engine, swap
from hivemind_memory.cli import main
from hivemind_memory.cli.progress import ProgressDisplay
from hivemind_memory.memory.sync import Syncer

moment = sys.argv.pop(1)
# A parent without a terminal may have switched Ctrl-C off.
signal.signal(signal.SIGINT, signal.default_int_handler)

def stop_here(name):
    if moment == name:
        print("here", flush=True)
        # Until the test ends this process or lets it go on.
        sys.stdin.readline()

def after(owner, attribute, name):
    real = getattr(owner, attribute)
    def wrapped(*args, **kwargs):
        result = real(*args, **kwargs)
        stop_here(name)
        return result
    setattr(owner, attribute, wrapped)

after(engine.SqliteEngine, "_open_rebuild_file", "opened")
after(swap, "copy_vectors", "copied vectors")
after(swap, "replace_index", "swapped")
after(Syncer, "sync", "second pass")
def show(self, phase, done, total):
    if done == 3:
        stop_here("reading")
ProgressDisplay.__call__ = show
sys.exit(main.main(sys.argv[1:]))
"""


@pytest.fixture
def sandbox(sandbox: Sandbox) -> Sandbox:
    for number in range(NOTES):
        sandbox.save(f"{number:02}.md", f"# Note {number}\n\nsomething common\n")
    with sandbox.memory() as memory:
        memory.sync()
    return sandbox


def rebuild_until(sandbox: Sandbox, moment: str) -> subprocess.Popen[str]:
    """Start ``hm rebuild`` in a process of its own; return once it is there."""
    environment = {**os.environ, "HIVEMIND_HOME": str(sandbox.home)}
    environment["HIVEMIND_EMBEDDING_PROVIDER"] = "none"
    process = subprocess.Popen(
        [sys.executable, "-c", PAUSES, moment, "rebuild"],
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n", process.communicate()[1]
    return process


def rebuild_files(sandbox: Sandbox) -> list[str]:
    """Return what lies there of a rebuild; its lock file stays when it is free."""
    found = sorted(Path(sandbox.places.index).glob("rebuild.db*"))
    return [file.name for file in found if not file.name.endswith(".lock")]


def answers(memory: Memory) -> int:
    return len(ask(memory, "common", max_results=99).hits)


@pytest.fixture
def other(sandbox: Sandbox) -> Iterator[Memory]:
    """The memory as another process has it open."""
    with sandbox.memory() as memory:
        yield memory


@pytest.mark.parametrize("moment", mostly_thorough(MOMENTS, every=2))
@pytest.mark.parametrize("stop", SIGNALS)
def test_nothing_of_an_interrupted_rebuild_stays(
    sandbox: Sandbox, other: Memory, moment: str, stop: signal.Signals
) -> None:
    """A sync or a doctor leaves a running one alone, and clears a dead one's files."""
    process = rebuild_until(sandbox, moment)
    running = rebuild_files(sandbox)
    assert "rebuild.db" in running

    other.sync()
    other.diagnose()

    assert rebuild_files(sandbox) == running, "a rebuild that runs is not disturbed"
    assert answers(other) == NOTES
    process.send_signal(stop)
    _, said = process.communicate()
    assert process.returncode in (130, -stop)
    if process.returncode == 130:
        assert "stopped: no note was changed, and the old index still" in said
    assert answers(other) == NOTES

    if stop == signal.SIGTERM:
        found = {finding.name: finding for finding in other.diagnose().findings}
        assert found["interrupted rebuild"].is_ok
        assert "removed" in found["interrupted rebuild"].detail
    else:
        other.sync()

    assert rebuild_files(sandbox) == []
    assert answers(other) == NOTES
    assert difference_from_fresh(sandbox, other, ("common",)) == []


def test_a_rebuild_that_runs_ends_whatever_syncs_meanwhile(
    sandbox: Sandbox, other: Memory
) -> None:
    """And leaves nothing itself."""
    process = rebuild_until(sandbox, "reading")
    sandbox.save("new.md", "# New\n\nsomething common\n")
    other.sync()
    other.diagnose()

    _, said = process.communicate("go on\n")

    assert (process.returncode, said) == (0, "")
    assert rebuild_files(sandbox) == []
    assert answers(other) == NOTES + 1
    assert difference_from_fresh(sandbox, other, ("common",)) == []


def test_the_next_rebuild_leaves_nothing_either(
    sandbox: Sandbox, other: Memory
) -> None:
    """It goes on with what the killed one had done."""
    process = rebuild_until(sandbox, "second pass")
    process.kill()
    process.communicate()
    assert rebuild_files(sandbox)

    assert other.rebuild().unchanged == NOTES

    assert rebuild_files(sandbox) == []


@pytest.mark.parametrize("left", ["rebuild.db-wal", "rebuild.db-shm"])
def test_a_lone_log_is_removed_too(sandbox: Sandbox, other: Memory, left: str) -> None:
    """Who removed the database may have been killed before its log."""
    (Path(sandbox.places.index) / left).write_text("left")

    other.sync()

    assert rebuild_files(sandbox) == []


def test_a_sync_does_not_wait_for_a_rebuild(sandbox: Sandbox, other: Memory) -> None:
    """The lock is asked once, and what its holder uses stays."""
    (Path(sandbox.places.index) / "rebuild.db").write_text("in use")
    lock = KernelLock(f"{sandbox.places.rebuild_file}.lock")
    assert lock.try_acquire()

    other.sync()
    assert rebuild_files(sandbox) == ["rebuild.db"]

    lock.release()
    other.sync()
    assert rebuild_files(sandbox) == []
