"""A repository in which git hangs, on a server that serves others too."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory import opening
from hivemind_memory.errors import GitError
from hivemind_memory.git import repository as git_repository
from hivemind_memory.mcp_server import client_memory, project_memory
from hivemind_memory.mcp_server.call_limits import MAX_CALLS
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from hivemind_memory.memory.memory import Memory
from tests.mcp_server import test_http_sessions
from tests.mcp_server.test_projects import ask, repository
from tests.support.waiting import wait_until

GIT = """\
#!/bin/sh
case "$*" in *stuck*)
    echo asked >>"{log}"
    while [ ! -e "{released}" ]; do sleep 0.05; done
    exit 1
esac
exec "{git}" "$@"
"""


class StuckGit:
    """A git that hangs in the folder *stuck*, until it is released."""

    def __init__(self, folder: Path) -> None:
        self.log, self.released = folder / "asked", folder / "released"
        self.stuck = str(repository(folder / "stuck"))
        self.well = str(repository(folder / "well"))
        path = folder / "bin" / "git"
        path.parent.mkdir()
        git = shutil.which("git")
        path.write_text(GIT.format(log=self.log, released=self.released, git=git))
        path.chmod(0o755)

    def count_asked(self) -> int:
        """Return how often git was started in the folder in which it hangs."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.fixture
def git(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[StuckGit]:
    monkeypatch.delenv("HIVEMIND_PROJECT")
    monkeypatch.setattr(git_repository, "_END_S", 0.1)
    git = StuckGit(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    yield git
    git.released.touch()


def state_of_connections() -> ServerState:
    """As ``hm mcp --http`` makes it."""
    return ServerState(
        opening.open_memory, open_project=client_memory.open_connection_memory
    )


def test_a_repository_in_which_git_hangs_stops_no_other_client(
    git: StuckGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One lock was held while git was asked: for 30 s a call, nobody was answered.

    More calls than there are threads for wait here, and git is started once.
    """
    monkeypatch.setattr(git_repository, "_FIND_TIMEOUT_S", 20.0)
    state = state_of_connections()
    server = make_server(state, "5e551017")
    answers: list[dict[str, Any]] = []

    def write(project: str) -> None:
        header = {"Hivemind-Project": project}
        answers.append(ask(served, "memory_write", header, content=project))

    with test_http_sessions.serving(server) as served:
        hanging = [
            threading.Thread(target=write, args=(git.stuck,))
            for _ in range(3 * MAX_CALLS)
        ]
        for thread in hanging:
            thread.start()
        wait_until(git.count_asked)
        write(git.well)
        before = list(answers)
        are_hanging = all(thread.is_alive() for thread in hanging)
        asked = git.count_asked()
        git.released.touch()
        for thread in hanging:
            thread.join()

    assert are_hanging
    assert asked == 1
    [answer] = before
    assert not answer["isError"]
    assert answer["structuredContent"]["scope"] == "projects/well"
    assert all(answer["isError"] for answer in answers[1:])
    assert state.close(5)


def test_a_git_that_has_hung_is_not_asked_again_at_once(
    git: StuckGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call waited for the whole time limit again."""
    monkeypatch.setattr(git_repository, "_FIND_TIMEOUT_S", 0.1)
    monkeypatch.setattr(project_memory, "SLOW_S", 0.1)
    state = state_of_connections()

    for _ in range(3):
        with pytest.raises(GitError, match="did not finish"), state.memory(git.stuck):
            pass

    assert git.count_asked() == 1
    monkeypatch.setattr(project_memory, "FAILURE_S", 0.0)
    with pytest.raises(GitError), state.memory(git.stuck):
        pass
    assert git.count_asked() == 2


def test_a_project_that_goes_while_it_is_looked_up_is_closed_by_its_call(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else knows it any more."""
    opened = opening.open_memory(home=str(home))
    closed: list[Memory] = []

    def close(memory: Memory) -> None:
        closed.append(memory)

    monkeypatch.setattr(Memory, "close", close)
    lender = project_memory.ProjectMemory(lambda: (lender.drop(), opened)[1])

    lent = lender.lend()
    before = list(closed)
    lender.give_back(lent)

    assert before == []
    assert closed == [opened]
