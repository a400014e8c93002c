"""What an error says: first what happened, then what that left."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.cli import main
from hivemind_memory.errors import (
    HivemindError,
    IndexDamagedError,
    StateUnusableError,
    UsageError,
)
from hivemind_memory.mcp_server.errors import unexpected_error
from tests.mcp_server.agents import environ


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("the disk is full.", "The disk is full. Nothing was saved."),
        ("no space left", "No space left. Nothing was saved."),
        ("pid 7 has the lock.", "pid 7 has the lock. Nothing was saved."),
        ("k.md is a link.", "k.md is a link. Nothing was saved."),
        ("'nono' is not a kind.", "'nono' is not a kind. Nothing was saved."),
    ],
)
def test_the_message_comes_before_the_effect(message: str, said: str) -> None:
    """A reader who stops after a few words has read what is wrong."""
    error = HivemindError(message, hint="Try again.", effect="Nothing was saved")

    assert str(error) == said
    assert (error.problem, error.hint) == (message, "Try again.")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            IndexDamagedError("the index i.db is damaged", hint="run `hm rebuild`"),
            "error: The index i.db is damaged.\nhint: Run `hm rebuild`.\n",
        ),
        (
            StateUnusableError("state.db is busy", hint="try again"),
            "error: state.db is busy.\nhint: Try again.\n",
        ),
        (
            UsageError("main is not a branch.", hint="Name one: a.md, b.md"),
            "error: main is not a branch.\nhint: Name one: a.md, b.md\n",
        ),
    ],
)
def test_a_command_says_an_error_and_its_hint_as_sentences(
    error: HivemindError,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Some began in lower case, without a period; names and paths stay as they are."""

    def refuse(_: object) -> None:
        raise error

    monkeypatch.setattr(main, "parse_request", refuse)

    assert main.main(["list"]) != 0
    assert capsys.readouterr().err == said


def test_an_error_without_an_effect_says_its_message_alone() -> None:
    assert str(HivemindError("There is no memory 'k'.")) == "There is no memory 'k'."


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EMFILE, "Too many open files", "/lib/hivemind_memory/port.py"),
        ImportError("apsw.so: cannot open shared object file: Too many open files"),
        OSError(errno.ENFILE, "Too many open files in system"),
    ],
    ids=["module", "library", "system"],
)
def test_an_agent_is_told_that_too_many_files_are_open(error: Exception) -> None:
    """A late import failed, and the answer spoke of an unexpected ImportError."""
    said = str(unexpected_error("memory_save", error))

    assert said.startswith("Too many files are open. It may or may not have been saved")
    assert "Error" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such limit")
def test_a_command_without_descriptors_says_so_in_a_sentence(tmp_path: Path) -> None:
    """It named a module of the program, or called it a bug."""
    (tmp_path / "memory").mkdir()
    limited = ("sh", "-c", 'ulimit -n "$1"; shift; exec "$@"', "sh")
    command = (sys.executable, "-m", "hivemind_memory.cli")
    said = set()
    for files in (5, 6, 7, 8):
        for words in (["search", "zebra"], ["save", "k", "It is striped."]):
            done = subprocess.run(
                [*limited, str(files), *command, *words],
                env=environ() | {"HIVEMIND_HOME": str(tmp_path)},
                capture_output=True,
                check=False,
                text=True,
            )
            assert ".py" not in done.stderr
            assert done.returncode == 0 or "oo many files are open" in done.stderr
            said.add(done.stderr.partition("\n")[0])

    assert "error: Too many files are open." in said
