"""What ``hm undo`` undoes without an id, and what it says of it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory import environment
from hivemind_memory.cli import output, text_input
from hivemind_memory.cli.commands import inject
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

    def typed(self, *words: str, stdin: bytes = b"") -> str:
        """Run a command that a person types; return what it prints."""
        with self._patch.context() as patch:
            for module in (output, text_input, inject):  # each has its own name
                patch.setattr(module, "is_person", lambda: True)
            ran = self._hm(*words, stdin=stdin)
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


@pytest.mark.parametrize(
    ("command", "back"),
    [
        ("config set min_score 0.5", "config unset min_score"),
        ("config set agents.quick claude", "config unset agents.quick"),
        ("config unset max_results", "config set max_results 7"),
        ("connect claude --yes", "disconnect claude"),
        ("inject --yes", "eject {repo}"),
        ("inject --off", "inject --on {repo}"),
        ("git-hook install", "git-hook remove {repo}"),
        ("project adopt shop", ""),
        ("token add ci", "token revoke ci"),
        ("vault set PORT", "vault delete PORT"),
    ],
)
def test_an_undo_stops_at_a_command_that_changed_no_memory(
    command: str, back: str, shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It used to undo an older change without a word; reversed, it goes on."""
    repo = home.parent / "shop"
    _prepare(home, repo, monkeypatch)
    shell.typed("config", "set", "max_results", "7")
    shell.typed("save", "use-pg", "We use Postgres 16.")
    back = back.format(repo=repo)
    recorded = " ".join(word for word in command.split()[:3] if word != "--yes")

    shell.typed(*command.split(), stdin=b"5432")

    said = shell.typed("undo")
    assert f"Your last change is `hm {recorded}" in said
    assert "`, which changed no memory. Nothing was undone." in said
    assert "undoes your last save" in said
    assert "Postgres" in shell.typed("show", "use-pg")
    assert f"hm {recorded}" in shell.typed("log", "--changes")
    if back:
        assert f"hint: `hm {back}` undoes it; `hm undo 0" in said
        yes = ["--yes"] if back.startswith("disconnect") else []
        shell.typed(*back.split(), *yes)
        assert "(use-pg): We use Postgres 16.\n" in shell.typed("undo", "--dry-run")


def _prepare(home: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter a repository, on a machine that has an agent."""
    run = subprocess.run
    run(["git", "init", "-q", str(repo)], check=True)
    git = ("git", "-C", str(repo), "-c", "user.name=A", "-c", "user.email=a@b.example")
    run([*git, "commit", "-q", "--allow-empty", "-m", "Start"], check=True)
    person = home.parent / "person"
    (person / ".claude").mkdir(parents=True)
    programs = home.parent / "programs"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\n")
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.chdir(repo)


def test_what_a_command_set_is_recorded_only_if_it_is_no_text(
    shell: Shell, home: Path
) -> None:
    """The log of changes holds no text, and no secret."""
    shell.typed("write", "Lunch is at 12.")
    shell.typed("config", "set", "agents.quick", "claude --secretive")
    shell.typed("config", "set", "agents.quick", "claude --other")

    said = shell.typed("undo")

    assert "`hm config set agents.quick`" in said
    assert b"secretive" not in (home / "state.db").read_bytes()


@pytest.mark.parametrize("name", ["used", "skill promote"])
def test_a_command_about_a_memory_is_recorded_without_its_key(
    name: str, shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A purge of the memory would not find it there."""
    _prepare(home, home.parent / "shop", monkeypatch)
    steps = "To ship the shop safely:\n\n1. Run the tests.\n2. Push the tag."
    shell.typed("save", "--source", "human", "ship-it", "--type", "lesson", steps)

    shell.typed(*name.split(), "ship-it")

    assert f"Your last change is `hm {name}`, which" in shell.typed("undo")


def test_a_program_that_sets_options_leaves_nothing_to_undo(shell: Shell) -> None:
    """It may do so a thousand times, and the log would keep nothing else."""
    shell.typed("write", "Lunch is at 12.")
    shell.enter("")

    shell.piped("config", "set", "min_score", "0.5")

    assert "undid the write" in shell.typed("undo")


@pytest.mark.parametrize("command", ["config set min_score 0.5", "project rename a b"])
def test_a_restore_does_not_offer_an_undo_that_is_refused(
    command: str, shell: Shell
) -> None:
    """`hm undo ID` would only say that it cannot."""
    shell.typed("save", "--scope", "project/a", "use-pg", "We use Postgres 16.")
    shell.typed(*command.split())
    made = shell.typed("log", "--changes").splitlines()[0].split("\t")[1]

    said = shell.typed("restore", made)

    assert ", not a forget." in said
    assert "hm undo" not in said


def test_a_setting_made_before_anything_was_written_makes_no_state(
    shell: Shell, home: Path
) -> None:
    """There is nothing older to undo."""
    shell.typed("config", "set", "min_score", "0.5")

    assert not (home / "state.db").exists()


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


def test_a_restore_of_nothing_names_the_list_of_what_is_forgotten(shell: Shell) -> None:
    """A search and a list of what is active have none of it."""
    shell.typed("write", "Lunch is at 12.")
    for words in (("zebra",), ("--day", "yesterday")):
        said = shell.typed("restore", *words)

        assert "hint: `hm list --forgotten` lists what can be restored." in said
