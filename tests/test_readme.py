"""What the README promises to a newcomer is played, word for word."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.console import is_as_shown, player, sample_of, steps_of
from tests.support.tree import copy_project

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PATIENCE_S = 300


def commands() -> list[str]:
    """The two lines that do everything on a fresh machine."""
    return re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)


def clean_environment(folder: Path) -> dict[str, str]:
    """That of a person who has set nothing; ``python3`` is the one of the tests."""
    tools = folder / "bin"
    tools.mkdir()
    python = tools / "python3"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    wishes = ("HIVEMIND_", "OPENAI_", "OLLAMA_", "PYTHON", "VIRTUAL_ENV", "GIT_")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(wishes)
    }
    return {
        **kept,
        "HIVEMIND_HOME": str(folder / "home"),
        "PATH": f"{tools}{os.pathsep}{kept['PATH']}",
    }


def test_the_first_screen_shows_what_really_happens() -> None:
    """It is all that most readers see."""
    with player() as person:
        for step in steps_of(README):
            printed = person.play(step)

            assert is_as_shown(printed, step.shown), "\n".join([step.command, *printed])


def test_the_sample_search_prints_what_is_shown() -> None:
    """Noticed here at once; the next test also installs."""
    step = sample_of(README)
    assert step is not None
    with player() as person:
        printed = person.play(step)

        assert is_as_shown(printed, step.shown), "\n".join(printed)


def test_the_program_in_python_runs_as_it_stands(tmp_path: Path) -> None:
    """It is what somebody pastes first."""
    [program] = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)

    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        env={**clean_environment(tmp_path), "HIVEMIND_EMBEDDING_PROVIDER": "none"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert ran.stderr == ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d\.md 1 0\.\d+\n", ran.stdout)


@pytest.mark.online
@pytest.mark.slow
def test_the_first_command_installs_searches_and_leaves_the_tree_clean(
    tmp_path: Path,
) -> None:
    """A newcomer copies one line, and sees what the page shows."""
    clone = copy_project(tmp_path / "clone", as_repository=True)
    environment = clean_environment(tmp_path)
    [shown] = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)

    ran = subprocess.run(
        ["bash", "-c", commands()[0]],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    left = subprocess.run(
        ["git", "status", "--porcelain"],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    # pip may have things of its own to say; hm's talk is the last line.
    said = ran.stderr.rstrip("\n").rpartition("\n")[2]
    assert f"{ran.stdout}{said}\n" == shown, ran.stderr
    assert left == ""
    assert not (tmp_path / "home").exists()


def test_the_second_command_is_the_one_that_ci_runs() -> None:
    """It installs and runs the tests, so no test can play it; .ci/run does."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    # The script reads it from the README, by a pattern that finds it alone.
    [pattern] = re.findall(r'grep -E "(.*)" README.md', script)
    assert re.findall(pattern, README, re.MULTILINE) == [commands()[1]]
    assert len(commands()) == 2


def test_the_commands_of_the_table_are_those_of_hm() -> None:
    """A command that is new or gone must not be forgotten here."""
    from hivemind_memory.cli.spec import COMMANDS

    named = re.findall(r"^\| `hm ([a-z-]+)", README, re.MULTILINE)

    assert sorted(named) == sorted({one.name.split()[0] for one in COMMANDS})
