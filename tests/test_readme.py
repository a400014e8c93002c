"""The sessions, commands and programs in the README are run and compared."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory import opening
from hivemind_memory.mcp_server.server import make_server
from hivemind_memory.mcp_server.server_state import ServerState
from tests.mcp_server import agents
from tests.mcp_server.agents import text_of
from tests.support.console import (
    are_one_to_one,
    is_as_shown,
    pair_ids,
    player,
    sample_of,
    steps_of,
)
from tests.support.tree import copy_project

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TIMEOUT_S = 300


def commands() -> list[str]:
    """Return the two lines to run on a fresh machine."""
    return re.findall(r"^python3 -m venv .*$", README, re.MULTILINE)


def clean_environment(folder: Path) -> dict[str, str]:
    """Return an environment without options; ``python3`` is that of the tests."""
    tools = folder / "bin"
    tools.mkdir()
    python = tools / "python3"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    options = ("HIVEMIND_", "OPENAI_", "OLLAMA_", "PYTHON", "VIRTUAL_ENV", "GIT_")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(options)
    }
    return {
        **kept,
        "HIVEMIND_HOME": str(folder / "home"),
        "PATH": f"{tools}{os.pathsep}{kept['PATH']}",
    }


def test_the_sessions_of_the_first_screen_really_happen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One session saves and the next one finds, each with a server of its own."""
    [block] = re.findall(r"^```session\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    sessions = block.split("\n\n")
    assert len(sessions) == 2
    for name in list(os.environ):
        if name.startswith(("HIVEMIND_", "OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("HIVEMIND_PROJECT", "shop")  # the repository of both agents

    for session in sessions:
        results = play_session(session, home=tmp_path / "home")

        for shown in re.findall(r"^ +=> (.*)$", session, re.MULTILINE):
            assert any(shown in result for result in results), results


def play_session(session: str, *, home: Path) -> list[str]:
    """Make the calls of a session with a server of its own; return their results."""
    state = ServerState(lambda: opening.open_memory(home=str(home)))
    server = make_server(state, "5e551017")
    results = []
    for call in re.findall(r"^agent   (memory_\w+\(.*\))$", session, re.MULTILINE):
        tree = ast.parse(call, mode="eval").body
        assert isinstance(tree, ast.Call)
        given = {one.arg: ast.literal_eval(one.value) for one in tree.keywords}
        results.append(text_of(agents.call(server, ast.unparse(tree.func), **given)))
    assert results
    assert state.close(within_s=5)
    return results


def test_the_commands_of_the_first_screen_print_what_is_shown() -> None:
    """It is all that most readers see."""
    pairs = []
    with player() as person:
        for step in steps_of(README):
            printed = person.play(step)
            pairs += pair_ids(printed, step.shown)

            assert is_as_shown(printed, step.shown), "\n".join([step.command, *printed])
    assert are_one_to_one(pairs), "two entries have the same id, or one has two"


def test_the_sample_search_prints_what_is_shown() -> None:
    """A quick check; another test also installs."""
    step = sample_of(README)
    assert step is not None
    with player() as person:
        printed = person.play(step)

        assert is_as_shown(printed, step.shown), "\n".join(printed)


def test_the_python_program_runs(tmp_path: Path) -> None:
    """People paste it first."""
    [program] = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)

    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,  # in no repository, where it would write to the project
        env={**clean_environment(tmp_path), "HIVEMIND_EMBEDDING_PROVIDER": "none"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )

    assert ran.stderr == ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\d\.md 1 0\.\d+\n", ran.stdout)


@pytest.mark.online
@pytest.mark.thorough
def test_the_first_command_installs_searches_and_leaves_the_tree_clean(
    tmp_path: Path,
) -> None:
    """A newcomer pastes one line, and sees what the page shows."""
    clone = copy_project(tmp_path / "clone", as_repository=True)
    environment = clean_environment(tmp_path)
    [shown] = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)

    ran = subprocess.run(
        ["bash", "-c", commands()[0]],
        cwd=clone,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
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

    # pip may print warnings of its own; what hm prints is the last line.
    said = ran.stderr.rstrip("\n").rpartition("\n")[2]
    assert f"{ran.stdout}{said}\n" == shown, ran.stderr
    assert left == ""
    assert not (tmp_path / "home").exists()


def test_the_second_command_is_the_one_that_ci_runs() -> None:
    """It installs and runs the tests, so only .ci/run can run it."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    # The script reads it from the README, by a pattern that finds it alone.
    [pattern] = re.findall(r'grep -E "(.*)" README.md', script)
    assert re.findall(pattern, README, re.MULTILINE) == [commands()[1]]
    assert len(commands()) == 2


def test_the_commands_of_the_table_are_those_of_hm() -> None:
    """A new command must be listed, and a removed one must not."""
    from hivemind_memory.cli.table import command_names

    named = re.findall(r"^\| `hm ([a-z-]+)", README, re.MULTILINE)

    assert sorted(named) == sorted({one.split()[0] for one in command_names()})
