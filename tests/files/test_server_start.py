"""A hook waits for the server of its agent, for a bounded time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hivemind_memory.files import server_start
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.files.server_start import ServerStart, wait_until_listed
from tests.support.forked import HM, start
from tests.support.waiting import HANG_S, without_hanging

AGENT, OTHER = 12, 13

STARTING = """
import sys, time
from hivemind_memory.files.server_start import ServerStart
start = ServerStart(sys.argv[1], int(sys.argv[2]))
start.begin()
print(flush=True)
time.sleep(1e6)
"""


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for happens, however busy the machine is; what isn't, soon."""
    monkeypatch.setattr(server_start, "APPEARS_S", 0.05)
    monkeypatch.setattr(server_start, "LISTS_S", HANG_S)
    monkeypatch.setattr(server_start, "SETTLE_S", 0.0)


def waiting(home: Path, *agents: int) -> threading.Thread:
    """Wait for a server in a thread, which gets a moment to do so."""
    words = str(home), agents
    thread = threading.Thread(target=wait_until_listed, args=words, daemon=True)
    thread.start()
    thread.join(0.2)
    return thread


def locks(home: Path) -> list[str]:
    """The files of servers."""
    return sorted(file.name for file in (home / "locks").glob("server-*"))


def test_a_hook_waits_until_the_tools_are_listed(tmp_path: Path) -> None:
    """Whichever process above the hook is the agent."""
    start = ServerStart(str(tmp_path), AGENT)
    start.begin()
    hook = waiting(tmp_path, OTHER, AGENT)
    is_waiting = hook.is_alive()

    start.tools_listed()
    hook.join(HANG_S)

    assert is_waiting
    assert not hook.is_alive()
    without_hanging(lambda: wait_until_listed(str(tmp_path), [AGENT]))
    start.end()
    assert locks(tmp_path) == []


def test_a_hook_waits_for_a_server_that_starts_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent starts both at once."""
    monkeypatch.setattr(server_start, "APPEARS_S", HANG_S)
    hook = waiting(tmp_path, AGENT)
    is_waiting = hook.is_alive()
    start = ServerStart(str(tmp_path), AGENT)

    start.begin()
    start.tools_listed()
    hook.join(HANG_S)
    start.end()

    assert is_waiting
    assert not hook.is_alive()


def test_no_hook_waits_for_the_server_of_another_agent(tmp_path: Path) -> None:
    """Nor for one that does not come."""
    start = ServerStart(str(tmp_path), OTHER)
    start.begin()

    without_hanging(lambda: wait_until_listed(str(tmp_path), [AGENT]))

    assert locks(tmp_path) == [f"server-{OTHER}.lock"]
    start.end()


def test_a_hook_waits_no_longer_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server may hang."""
    monkeypatch.setattr(server_start, "LISTS_S", 0.05)
    start = ServerStart(str(tmp_path), AGENT)
    start.begin()

    without_hanging(lambda: wait_until_listed(str(tmp_path), [AGENT]))

    start.end()


def test_a_killed_server_is_not_waited_for_and_leaves_no_file_for_long(
    tmp_path: Path,
) -> None:
    """The kernel frees its lock, and the next server that ends removes the file."""
    words = [sys.executable, "-c", STARTING, str(tmp_path), str(AGENT)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as killed:
        assert killed.stdout
        killed.stdout.readline()
        killed.kill()
    running = ServerStart(str(tmp_path), OTHER)
    running.begin()

    without_hanging(lambda: wait_until_listed(str(tmp_path), [AGENT]))
    ServerStart(str(tmp_path), AGENT + OTHER).end()

    assert locks(tmp_path) == [f"server-{OTHER}.lock"]
    running.end()


def test_a_server_that_is_told_to_end_before_it_serves_leaves_no_file(
    tmp_path: Path,
) -> None:
    """Its file stayed until another server ended."""
    env = {**os.environ, "HIVEMIND_HOME": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with start([*HM, "mcp"], env=env, cwd=tmp_path, **pipes) as server:
        lock = KernelLock(str(tmp_path / "locks" / f"server-{os.getpid()}.lock"))
        while not lock.holder().startswith("pid"):
            assert server.poll() is None
        server.terminate()
        server.communicate()

    assert locks(tmp_path) == []


def test_a_second_server_of_an_agent_is_no_trouble(tmp_path: Path) -> None:
    """The first is waited for; the second changes nothing of its file."""
    first, second = (ServerStart(str(tmp_path), AGENT) for _ in range(2))
    first.begin()
    second.begin()
    second.tools_listed()
    second.end()
    hook = waiting(tmp_path, AGENT)
    is_waiting = hook.is_alive()

    first.tools_listed()
    hook.join(HANG_S)
    first.end()

    assert is_waiting
    assert not hook.is_alive()


def test_a_home_that_takes_no_file_stops_no_server(tmp_path: Path) -> None:
    """Nothing waits for it then."""
    home = tmp_path / "file"
    home.write_text("")
    start = ServerStart(str(home), AGENT)

    start.begin()
    start.tools_listed()
    start.end()

    without_hanging(lambda: wait_until_listed(str(home), [AGENT]))
    assert home.read_text() == ""
