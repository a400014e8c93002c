"""Whether an agent has the tools: what the section may speak of."""

from __future__ import annotations

import io
import json
import os
import subprocess
from contextlib import chdir, redirect_stdout
from pathlib import Path
from unittest import mock

import pytest

from hivemind_memory.cli import main
from tests.connect.conftest import FILES, PROGRAMS, Machine
from tests.support.tiers import mostly_thorough


def section(machine: Machine, folder: Path, agent: str) -> str:
    """What would be injected for an agent, as a command in this process prints it."""
    words = ("inject", str(folder), "--agent", agent, "--dry-run")
    printed = io.TextIOWrapper(io.BytesIO())
    with (
        mock.patch.dict(os.environ, machine.env, clear=True),
        chdir(machine.root),
        redirect_stdout(printed),
    ):
        assert main.main(words) == 0
    printed.flush()
    return printed.buffer.getvalue().decode()


@pytest.fixture
def shop(machine: Machine) -> Path:
    """A repository, and a memory with a note."""
    machine.put(".hivemind/memory/global.md", "Tabs are four spaces.\n")
    folder = machine.root / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, env=machine.env, check=True)
    return folder


@pytest.mark.parametrize("name", mostly_thorough(FILES, every=3))
def test_tools_are_named_to_the_agent_that_is_connected_and_to_no_other(
    machine: Machine, shop: Path, name: str
) -> None:
    """The section is for the agent that reads it."""
    machine.install(*PROGRAMS, "cursor")

    assert "memory_" not in section(machine, shop, name)

    assert machine.run("connect", name, "--yes").code == 0
    assert "`memory_search(query)`" in section(machine, shop, name)
    others = [one for one in FILES if one != name]
    for other in (*others, "aider", "my-own"):
        assert "memory_" not in section(machine, shop, other)
    assert machine.run("disconnect", name, "--yes").code == 0
    assert "memory_" not in section(machine, shop, name)


@pytest.mark.parametrize("name", FILES)
def test_a_project_connects_the_agents_that_work_in_it(
    machine: Machine, shop: Path, name: str
) -> None:
    """Such a file counts where it lies, and nowhere else."""
    done = machine.run("connect", name, "--project", "--yes", cwd=shop)
    assert done.code == 0, done.err
    other = machine.root / "other"
    other.mkdir()

    assert "`memory_search(query)`" in section(machine, shop, name)
    assert "memory_" not in section(machine, other, name)


@pytest.mark.parametrize(
    ("text", "has_tools"),
    [
        ('{"mcpServers": {"mem": {"command": "/x/hm", "args": ["mcp"]}}}', True),
        ('{"projects": {"SHOP": {"mcpServers": {"hivemind": {}}}}}', True),
        ('{"mcpServers": {"hm": {"command": "/x/hmm", "args": ["mcp"]}}}', False),
        ('{"mcpServers": {"hivemind": {"enabled": false}}}', False),
        ('{"mcpServers": ["hivemind"]}', False),
        ("not JSON", False),
    ],
)
def test_what_a_person_registered_counts_too(
    machine: Machine, shop: Path, text: str, has_tools: bool
) -> None:
    """By the agent's own command, under another name, or for one folder."""
    machine.put(FILES["claude"], text.replace('"SHOP"', json.dumps(str(shop))))

    assert ("memory_" in section(machine, shop, "claude")) == has_tools
