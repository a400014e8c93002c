"""Real processes: killed leaders, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hivemind_memory.watch.events import Following, Leading
from tests.watch.fakes import SOON_S, FolderMemory, make_watcher, running

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def watching(
    folder: Path, *rest: str, until: str, within: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[str]]:
    """Run a watcher in a process of its own, from when it printed *until*."""
    lock = str(folder.parent / "index" / "leader.lock")
    script = str(Path(__file__).with_name("watch_process.py"))
    with subprocess.Popen(
        [*within, sys.executable, script, str(folder), lock, *rest],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith(until):
                    break
            yield process
        finally:
            process.kill()


class CountedWaits(threading.Event):
    """Remembers how long each wait may last."""

    def __init__(self) -> None:
        super().__init__()
        self.waits_s: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waits_s.append(timeout)
        return super().wait(timeout)


def test_a_killed_leader_is_replaced_within_a_second(folder: Path) -> None:
    """It waits half a second at most, twice if it has just looked.

    And it sees what changed in between.
    """
    memory = FolderMemory(folder)
    stop = CountedWaits()
    with (
        watching(folder, until="Synced") as leader,
        running(make_watcher(memory), stop) as events,
    ):
        assert events.wait_for(
            lambda event: event == Following(leader=f"pid {leader.pid}")
        )

        leader.kill()
        (folder / "note.md").write_text("between two leaders")
        leader.wait()
        before = len(stop.waits_s)
        assert events.wait_for_type(Leading)
        after = len(stop.waits_s)

        assert before >= 1
        assert after - before <= 1
        assert sum(stop.waits_s[before - 1 : after]) <= 1.0
        assert memory.holds(note="between two leaders")


@pytest.mark.parametrize("rest", [(), ("3600",)], ids=["at rest", "in a sync"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_does_not_wait_for_a_sync(
    folder: Path, rest: tuple[str, ...], number: signal.Signals
) -> None:
    """Also in the midst of a first index of thousands of notes."""
    with watching(folder, *rest, until="syncing" if rest else "Synced") as process:
        process.send_signal(number)
        out = process.communicate(timeout=SOON_S)[0]

    if number == signal.SIGTERM:
        assert process.returncode == 0
        assert "stopped with MainThread\n" in out
    assert not (folder.parent / "index" / "leader.lock.state").exists()


@pytest.mark.parametrize(("limit", "left"), [("watches", 2), ("instances", 0)])
def test_at_a_real_limit_of_the_system_edits_are_seen(
    folder: Path, limit: str, left: int
) -> None:
    """Found within one poll interval. A user namespace has limits of its own."""
    (folder / "a" / "b").mkdir(parents=True)
    command = f'echo {left} > /proc/sys/user/max_inotify_{limit} && exec "$@"'
    within = ("unshare", "--user", "--map-root-user", "sh", "-c", command, "sh")
    try:
        subprocess.run([*within, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no user namespaces here")

    with watching(folder, until="Synced", within=within) as process:
        (folder / "a" / "b" / "new.md").write_text("text")

        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any("added=1" in line and "poll" in line for line in lines)

        process.terminate()
        assert "Traceback" not in process.communicate(timeout=SOON_S)[0]
