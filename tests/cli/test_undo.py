"""What ``hm undo`` undoes without an id, and what it says of it."""

from __future__ import annotations

import os
import pty
import sys
from pathlib import Path

import pytest

from hivemind_memory import environment
from hivemind_memory.cli import output, text_input
from tests.cli.conftest import Hm

SCRIPT = """
import subprocess, sys
from hivemind_memory.environment import terminal_session
own = [sys.executable, "-c", "from hivemind_memory.environment import"
    " terminal_session; print(terminal_session())"]
def child(**more):
    return subprocess.run(own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        text=True, **more).stdout.strip()
print([bool(terminal_session()), child() == terminal_session(),
    child(start_new_session=True), child(process_group=0)])
"""


class Shell:
    """Runs commands as one that a person types, a pipe and an agent's server do."""

    def __init__(self, hm: Hm, monkeypatch: pytest.MonkeyPatch) -> None:
        self._hm, self._patch = hm, monkeypatch
        self.enter("7-100")

    def enter(self, terminal: str) -> None:
        """Go to another terminal."""
        self._patch.setattr(environment, "terminal_session", lambda: terminal)

    def typed(self, *words: str) -> str:
        """Run a command that a person types; return what it prints."""
        with self._patch.context() as patch:
            for module in (output, text_input):
                patch.setattr(module, "is_person", lambda: True)
            ran = self._hm(*words)
        return ran.out + ran.err

    def piped(self, *words: str) -> str:
        """Run a command whose input or output is a pipe; return what it prints."""
        ran = self._hm(*words)
        return ran.out + ran.err

    def agent(self, *words: str) -> str:
        """Run a command as an agent, which is in no terminal of a person."""
        with self._patch.context() as patch:
            patch.setenv("CLAUDECODE", "1")
            patch.setattr(environment, "terminal_session", str)
            ran = self._hm(*words)
        return ran.out + ran.err


@pytest.fixture
def shell(hm: Hm, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A person's terminal."""
    return Shell(hm, monkeypatch)


def test_an_undo_takes_back_what_was_piped_in_the_same_terminal(
    shell: Shell, home: Path
) -> None:
    """It used to pass it by, and hid an older decision without a word."""
    shell.typed("save", "use-pg", "We use Postgres 16.")
    shell.piped("write", "Lunch is at 12.")

    said = shell.typed("undo")

    assert ": Lunch is at 12.\n" in said
    assert "newer" not in said
    assert "use-pg" in shell.typed("list", "--memories")
    assert "(use-pg): We use Postgres 16.\n" in shell.typed("undo")
    shell.typed("save", "use-my", "We use MySQL.")
    assert "We use MySQL." in shell.piped("undo", "--dry-run")


@pytest.mark.parametrize("writer", ["program", "agent"])
def test_an_undo_names_a_newer_change_that_it_passes_over(
    shell: Shell, writer: str
) -> None:
    """With the command that undoes that, and to the owner alone."""
    shell.typed("save", "use-pg", "We use Postgres 16.")
    shell.enter("8-200")
    for text in ("The seal is lunch.", "Lunch is at 12."):
        write = ("write", "-g", "--file", "global.md", text)
        written = (shell.agent if writer == "agent" else shell.piped)(*write)
        assert "saved global.md" in written
    shell.enter("7-100")

    said = shell.typed("undo")

    assert "(use-pg): We use Postgres 16." in said
    maker = "an agent's" if writer == "agent" else "a program's"
    assert f"2 newer changes are not yours; the latest: {maker} write of " in said
    assert " ago in global.md; `hm undo " in said
    newer = said.rpartition("`hm undo ")[2].partition("`")[0]
    assert ": Lunch is at 12." in shell.typed("undo", newer)
    nothing = shell.typed("undo")
    assert "no change left to undo" in nothing
    assert f"hint: The latest change is not yours: {maker} write of " in nothing


def test_an_undo_stops_at_a_renamed_project_and_names_the_way_back(
    shell: Shell,
) -> None:
    """It used to undo an older change without a word; renamed back, it goes on."""
    shell.typed("save", "--scope", "project/shop", "use-pg", "We use Postgres 16.")
    shell.typed("project", "rename", "shop", "store")

    said = shell.typed("undo")

    assert "Your last change is the rename of project shop to store." in said
    assert "`hm project rename store shop` undoes it; `hm undo 0" in said
    assert "Postgres" in shell.typed("show", "use-pg")
    assert "project shop -> store" in shell.typed("log", "--changes")
    shell.typed("project", "rename", "store", "shop")
    assert "(use-pg): We use Postgres 16.\n" in shell.typed("undo", "--dry-run")

    shell.typed("save", "--scope", "project/store", "use-my", "We use MySQL.")
    shell.typed("project", "merge", "store", "shop")

    said = shell.typed("undo")

    assert "is the merge of project store into shop, which cannot be undone" in said
    assert "undoes your last save" in said


def test_a_forget_of_several_shows_their_texts_before_it_asks(shell: Shell) -> None:
    """Places alone say nothing of what would be hidden."""
    shell.typed("save", "use-pg", "We use Postgres 16.")
    shell.typed("write", "Lunch is at 12.")

    said = shell.typed("forget", "--day", "today", "--dry-run")

    assert "(use-pg): We use Postgres 16.\n" in said
    assert ": Lunch is at 12.\n" in said


def test_what_an_undo_shows_of_a_text_is_short_and_masked(shell: Shell) -> None:
    """A terminal is watched and recorded."""
    token = "ghp_" + "a1B2c3D4" * 5
    path = Path(os.environ["HIVEMIND_HOME"]) / "memory" / "k.md"
    shell.typed("save", "k", "The harbour.")
    shell.typed("forget", "k")
    path.write_text(path.read_text().replace("The", f"Key {token} {'x' * 200}"))

    said = shell.typed("undo")

    assert "restored k.md" in said
    assert "Key " in said
    assert token not in said
    assert "x" * 100 not in said


@pytest.mark.skipif(sys.platform == "win32", reason="it has no controlling terminals")
def test_a_pipe_in_a_terminal_belongs_to_its_session() -> None:
    """Without a terminal, or in the background, a process belongs to none."""
    child, terminal = pty.fork()
    if child == 0:
        # Variables that say whose shell it is would make it an agent's.
        os.execve(sys.executable, [sys.executable, "-c", SCRIPT], {})
    said = b""
    try:
        while data := os.read(terminal, 1_000):
            said += data
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    os.waitpid(child, 0)

    assert said.decode().strip() == "[True, True, '', '']"
