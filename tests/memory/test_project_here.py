"""Which project a process writes to, in homes and repositories as they come."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from hivemind_memory import environment, opening
from hivemind_memory.errors import GitError
from hivemind_memory.git import worktree
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.listing import MemoryFilter
from tests.support.sandbox import ask, paths


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home in which nothing is yet."""
    for name in environment.SCOPE_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "home"


@pytest.fixture
def weblog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository without a remote, the current folder."""
    folder = tmp_path / "weblog"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    return folder


class Agents:
    """An agent's server in the current folder."""

    def __init__(self) -> None:
        request = environment.agent_scope_request()
        self.state = ServerState(lambda: opening.open_memory(scope_request=request))

    def memory(self) -> Memory:
        """Return the memory as a call gets it."""
        with self.state.memory() as memory:
            return memory


def slow_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a git in front that takes its time to tell an origin."""
    script = '#!/bin/sh\ncase "$*" in *remote.origin.url*) exec sleep 20;; esac\n'
    real = subprocess.run(
        ["sh", "-c", "command -v git"], capture_output=True, text=True, check=True
    )
    folder.mkdir()
    (folder / "git").write_text(f'{script}exec {real.stdout.strip()} "$@"\n')
    (folder / "git").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_the_first_write_of_a_home_gets_the_short_name(
    home: Path, weblog: Path
) -> None:
    """A name that it gets then, it has for ever."""
    with opening.open_memory() as memory:
        written = memory.write("shell says florble")

    assert written.scope == "projects/weblog"
    assert (home / "memory/projects/weblog/.project").exists()


def test_an_agent_that_starts_before_the_notes_folder_is_in_its_project(
    home: Path, weblog: Path
) -> None:
    """Its server lives longer than the first moment."""
    server = Agents()
    assert server.memory().here.notice() == ""
    assert not home.joinpath("memory").exists()
    with opening.open_memory() as memory:
        memory.write("shell says florble")

    hits = paths(ask(server.memory(), "florble"))
    written = server.memory().write("agent says quuxly")

    assert hits
    assert written.scope == "projects/weblog"
    assert paths(ask(Agents().memory(), "quuxly"))


def test_the_first_write_of_a_home_may_be_an_agents(home: Path, weblog: Path) -> None:
    """And a second repository of the name is not let in."""
    written = Agents().memory().write("agent says quuxly")

    assert written.scope == "projects/weblog"
    assert (home / "memory/projects/weblog/.project").exists()


def test_a_git_that_is_slow_is_an_error_and_no_other_project(
    home: Path, weblog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not known is not missing: a second project would hide the first."""
    subprocess.run(["git", "remote", "add", "origin", "a@github.com:a/b"], check=True)
    with opening.open_memory() as memory:
        memory.write("fast")
    before = sorted(home.joinpath("memory/projects").iterdir())
    slow_git(tmp_path / "bin", monkeypatch)
    monkeypatch.setattr(worktree, "_IDENTITY_TIMEOUT_S", 0.2)

    with opening.open_memory() as memory:
        with pytest.raises(GitError, match="did not name the origin") as raised:
            memory.write("slow")
        kept = memory.write("slow", scope="global")

    assert "-g" in raised.value.hint
    assert kept.scope == ""
    assert sorted(home.joinpath("memory/projects").iterdir()) == before
    with pytest.raises(GitError, match="did not name the origin"):
        Agents().memory()


def test_without_git_a_sentence_says_so(
    home: Path, weblog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what needs no project goes on."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with opening.open_memory() as memory:
        with pytest.raises(GitError) as raised:
            memory.write("anything")
        assert memory.write("anything", scope="global").scope == ""
        assert ask(memory, "anything").hits
        said = opening.describe_project(memory)

    assert "git is not installed" in str(raised.value)
    assert "Install git." in raised.value.hint
    assert "git is not installed" in said


def test_every_list_takes_the_project_for_a_scope(home: Path, weblog: Path) -> None:
    """As a search and a write do."""
    from hivemind_memory.model.curation import NewMemory

    with opening.open_memory() as memory:
        memory.write("an entry")
        memory.write("elsewhere", scope="global")
        memory.save(NewMemory(key="port", type="fact", content="It is 8080."))

        log = memory.curation.log(MemoryFilter(scope="project"))
        listed = memory.curation.list_memories(MemoryFilter(scope="project"))

    assert {item.scope for item in log} == {"projects/weblog"}
    assert [item.key for item in listed] == ["port"]
