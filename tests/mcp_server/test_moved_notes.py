"""The notes folder is a link, and leads elsewhere while a server or a watcher runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.files.places import places_of
from hivemind_memory.mcp_server import client_memory
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.memory.memory import Memory
from tests.support.sandbox import ask, paths
from tests.support.waiting import wait_until


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose notes folder leads to one of two folders."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"The zebra of the {name}.\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / "memory").symlink_to(tmp_path / "first")
    monkeypatch.setenv("HIVEMIND_HOME", str(home))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    monkeypatch.chdir(tmp_path)
    return home


def move(home: Path) -> None:
    """Have the link lead to the other folder, in one step."""
    (home / "new").symlink_to(home.parent / "second")
    os.replace(home / "new", home / "memory")


def leader_of(home: Path, name: str) -> str:
    """Return who watches one of the folders."""
    places = places_of(str(home), str(home.parent / name), "")
    return KernelLock(places.leader_lock).holder()


def open_project(project: str) -> Memory:
    return client_memory.open_connection_memory(project)


@pytest.mark.parametrize("project", [None, "shop"])
def test_the_next_call_of_a_server_sees_the_other_notes(
    home: Path, project: str | None
) -> None:
    """It answered from the folder that the link led to when it was started."""
    state = ServerState(opening.open_memory, open_project=open_project)
    with state.memory(project) as memory:
        assert paths(ask(memory, "zebra")) == ["first.md"]
        memory.write("The okapi hides.", scope="global")

    move(home)

    with state.memory(project) as memory:
        assert paths(ask(memory, "zebra")) == ["second.md"]
        written = memory.write("The quagga is gone.", scope="global")
    state.close(5)
    assert (home.parent / "second" / written.path).exists()
    assert "okapi" not in (home.parent / "second" / written.path).read_text()


def test_the_watcher_of_a_server_goes_to_the_other_notes(home: Path) -> None:
    """It watched the old folder for as long as the server ran."""
    state = ServerState(opening.open_memory, opening.open_watcher)
    state.start()
    assert wait_until(lambda: leader_of(home, "first"))

    move(home)

    assert wait_until(lambda: leader_of(home, "second"))
    assert not leader_of(home, "first")
    state.close(5)


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and signals")
def test_hm_watch_goes_to_the_other_notes(home: Path) -> None:
    """In a process of its own, until it is told to end."""
    watch = subprocess.Popen([Path(sys.executable).with_name("hm"), "watch"])
    try:
        assert wait_until(lambda: leader_of(home, "first"))
        move(home)
        assert wait_until(lambda: leader_of(home, "second"))
        assert not leader_of(home, "first")
    finally:
        watch.send_signal(signal.SIGTERM)
        assert watch.wait(10) == 0
