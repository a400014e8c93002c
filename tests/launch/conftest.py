"""A person's machine: a home with notes, a repository, agents, and its own tmux."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from hivemind_memory.cli import main
from hivemind_memory.cli.commands import launch
from tests.inject.conftest import environ, make_home
from tests.inject.repos import make_repo
from tests.support.waiting import HANG_S, wait_until

__all__ = ["environ"]  # git of nobody, for every test here

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 120.0

READER = """\
#!/bin/sh
echo "in $(pwd)"
echo "words: $*"
cat CLAUDE.md AGENTS.md 2>/dev/null | grep -h Tuesdays || echo no memories
exec sleep 1000
"""
"""An agent that prints what it was given and what it reads, and stays."""


class Machine:
    """What a test has to do with."""

    def __init__(self, folder: Path, sockets: Path) -> None:
        self.folder = folder
        self.home = make_home(folder / "home")
        self.repo = make_repo(folder / "shop", text=None)
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.sockets = sockets
        self.program("claude", READER)
        # As pip installs it.
        entry_point = "from hivemind_memory.cli.main import run; run()"
        path = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
        self.program("hm", f"#!{sys.executable}\n{path}\n{entry_point}\n")

    def program(self, name: str, text: str) -> Path:
        """Install a program."""
        path = self.tools / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def tmux(self, *words: str, check: bool = True) -> str:
        """Return what tmux prints."""
        command = ["tmux", "-u", *words]
        done = subprocess.run(command, capture_output=True, check=check, timeout=HANG_S)
        return done.stdout.decode("utf-8", "replace").rstrip("\n")

    def screen(self, session: str) -> str:
        """Return what stands in a session's pane."""
        # What scrolled off included: tmux does that when it says that a pane is dead.
        words = ("capture-pane", "-p", "-J", "-S", "-50")
        return self.tmux(*words, "-t", f"={session}:")

    def shows(self, session: str, *texts: str) -> str:
        """Wait until a session shows some texts; return all that it shows."""
        until(lambda: all(text in self.screen(session) for text in texts))
        return self.screen(session)

    def ended(self, session: str) -> None:
        """Wait until the program in a session's pane has ended.

        tmux draws "Pane is dead" only where it has a client or redraws for another
        reason, so its own record is asked.
        """
        words = ("display-message", "-p", "-t", f"={session}:", "#{pane_dead}")
        until(lambda: self.tmux(*words) == "1")


class Said:
    """What a command said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err


def until(is_so: Callable[[], object]) -> None:
    """Wait until something is so."""
    wait_until(is_so)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A machine; what runs in its tmux ends with it."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    # A socket's path may be about a hundred characters long, and tmp_path is longer.
    sockets = Path(mkdtemp(prefix="hm-"))
    monkeypatch.setenv("TMUX_TMPDIR", str(sockets))
    for name in ("TMUX", "TMUX_PANE", "HIVEMIND_AGENTS", "HIVEMIND_MEMORY_DIR"):
        monkeypatch.delenv(name, raising=False)
    machine = Machine(tmp_path, sockets)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HIVEMIND_HOME", str(machine.home))
    monkeypatch.setenv("PATH", f"{machine.tools}:{_system_path()}")
    monkeypatch.chdir(machine.repo)
    monkeypatch.setattr(launch, "_WATCH_S", 0.1)
    yield machine
    for socket in ("default", "outer"):
        machine.tmux("-L", socket, "kill-server", check=False)
    shutil.rmtree(sockets, ignore_errors=True)


@pytest.fixture
def hm(capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Call a command in this process."""

    def call(*words: str) -> Said:
        capfd.readouterr()
        code = main.main(words)
        return Said(code, *capfd.readouterr())

    return call


def _system_path() -> str:
    """Return where git, tmux and the rest are, and no agent."""
    programs = ("git", "tmux", "sh", "sleep", "env", "sed")
    places = (shutil.which(name) for name in programs)
    return ":".join(dict.fromkeys(str(Path(place).parent) for place in places if place))
