"""The agents themselves, where they are installed: they read what we write.

    HIVEMIND_CLIENTS=FOLDER python -m pytest tests/connect/test_real_clients.py

FOLDER is where npm installed them, with the Node.js that they need. No agent needs a
key or the network: where a model is asked, it is a script on loopback. Cursor cannot be
tried.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.real_clients.agents import QWEN_WORDS, qwen_env
from benchmarks.real_clients.programs import run
from benchmarks.real_clients.stand_in import ScriptedCall, StandIn, playing
from tests.connect.conftest import FILES, PROGRAMS, Machine

pytestmark = pytest.mark.thorough

HEADING = "## Hivemind Memory (auto-injected, do not edit)"
FACT = "The lighthouse keeper's quartzline editor wraps at 77 columns."
KEY = "no-key-is-needed"
LISTED = {
    "claude": "hivemind: {hm} mcp - ✔ Connected",
    "codex": "hivemind",
    "gemini": "✓ hivemind: {hm} mcp (stdio) - Connected",
    "opencode": "✓ hivemind connected",
    "qwen": "✓ hivemind: {hm} mcp (stdio) - Connected",
}
"""What each agent's own list says of a server that answers; Codex does not try it."""


@pytest.fixture
def real(machine: Machine) -> Machine:
    """A machine with the agents of this one."""
    given = os.environ.get("HIVEMIND_CLIENTS", "")
    folders = [
        str(folder)
        for folder in (Path(given) / "node_modules" / ".bin", Path(given))
        if given and folder.is_dir()
    ]
    own = machine.hm.parent.with_name("tools")
    machine.hm.parent.rename(own)  # their lists do not quote a space
    machine.env |= {
        "PATH": os.pathsep.join([str(own), *folders, os.environ.get("PATH", "")]),
        "NO_COLOR": "1",
        "CI": "1",
        "NO_PROXY": "127.0.0.1,localhost",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
        "TMPDIR": str(machine.root),
    }
    machine.put(".hivemind/memory/global.md", f"{FACT}\n")
    (machine.root / "work").mkdir()
    return machine


def need(machine: Machine, program: str) -> None:
    """Skip without a program."""
    if shutil.which(program, path=machine.env["PATH"]) is None:
        pytest.skip(f"{program} is not installed (HIVEMIND_CLIENTS)")


def hm(machine: Machine, *words: str) -> str:
    """Run our command and return what it printed."""
    done = run(
        [str(machine.root / "tools" / "hm"), *words],
        env=machine.env,
        cwd=machine.root / "work",
    )
    assert done.code == 0, done.text
    return done.text


def client(machine: Machine, *words: str, **env: str) -> str:
    """Run an agent's program and return what it printed, without colours."""
    program = shutil.which(words[0], path=machine.env["PATH"])
    assert program is not None
    done = run([program, *words[1:]], env=machine.env | env, cwd=machine.root / "work")
    return re.sub(r"\x1b\[[\d;]*m", "", done.text)


@pytest.mark.parametrize("name", PROGRAMS)
def test_its_own_list_shows_it_connected_and_then_gone(
    real: Machine, name: str
) -> None:
    """The only reader that counts is the agent itself."""
    need(real, name)
    client(real, name, "mcp", "list")  # it makes files of its own at its first start
    wanted = LISTED[name].format(hm=real.root / "tools" / "hm")

    hm(real, "connect", name, "--yes")

    assert wanted in client(real, name, "mcp", "list")
    again = hm(real, "connect", name, "--yes")
    assert "already connected" in again
    assert "+++" not in again
    hm(real, "disconnect", name, "--yes")
    assert "hivemind" not in client(real, name, "mcp", "list").replace(
        str(real.root), ""
    )


ADDING = {
    "claude": ("claude", "mcp", "add", "--scope", "user", "hivemind", "--"),
    "codex": ("codex", "mcp", "add", "hivemind", "--"),
    "gemini": ("gemini", "mcp", "add", "--scope", "user", "hivemind"),
    "opencode": ("opencode", "mcp", "add", "hivemind", "--"),
    "qwen": ("qwen", "mcp", "add", "--scope", "user", "hivemind"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_we_write_what_its_own_command_writes(real: Machine, name: str) -> None:
    """So a new version of an agent that writes something else is noticed here."""
    need(real, name)
    client(real, *ADDING[name], str(real.root / "tools" / "hm"), "mcp")
    assert "hivemind" in (real.home / FILES[name]).read_text()

    shown = hm(real, "connect", name, "--dry-run")

    if name == "codex":  # its command knows no variables to pass on
        added = [line for line in shown.splitlines() if line.startswith("+")]
        assert added[1:] == ['+env_vars = ["HIVEMIND_WORKSPACE"]']
    else:
        assert "already connected" in shown
        assert "+++" not in shown
    hm(real, "disconnect", name, "--yes")
    file = real.home / FILES[name]
    assert not file.exists() or "hivemind" not in file.read_text()


@contextmanager
def serving(machine: Machine) -> Iterator[str]:
    """Serve over HTTP on a free port; yield the port."""
    with subprocess.Popen(
        [str(machine.root / "tools" / "hm"), "mcp", "--http", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=machine.env,
    ) as process:
        assert process.stderr is not None
        try:
            found = re.search(r":(\d+)/mcp", process.stderr.readline())
            assert found is not None
            process.stderr.readline()
            yield found[1]
        finally:
            process.terminate()


def test_over_http_the_token_is_accepted(real: Machine) -> None:
    """Each agent sends headers in its own way."""
    installed = [name for name in PROGRAMS if shutil.which(name, path=real.env["PATH"])]
    if not installed:
        pytest.skip("no agent is installed (HIVEMIND_CLIENTS)")
    with serving(real) as port:
        hm(real, "connect", *installed, "--http", "--port", port, "--yes")
        listed = {name: client(real, name, "mcp", "list") for name in installed}
        (real.home / ".hivemind" / "mcp-token").write_text("another-token-of-hours")
        hm(real, "connect", *installed, "--http", "--port", port, "--yes")
        refused = {name: client(real, name, "mcp", "list") for name in installed}

    wanted = {
        "claude": ("✔ Connected", "401"),
        "codex": ("Bearer token", "Bearer token"),  # it does not ask the server
        "gemini": ("(http) - Connected", "(http) - Disconnected"),
        "opencode": ("✓ hivemind connected", "✗ hivemind"),
        "qwen": ("(http) - Connected", "(http) - Disconnected"),
    }
    for name in installed:
        assert wanted[name][0] in listed[name], name
        assert wanted[name][1] in refused[name], name


def play_claude(machine: Machine, model: StandIn) -> str:
    """Run Claude Code against the scripted model."""
    env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
    return client(machine, "claude", "-p", "How wide?", **env)


def play_gemini(machine: Machine, model: StandIn) -> str:
    """Run Gemini CLI against the scripted model."""
    env = {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": KEY}
    words = ("--model", "gemini-2.5-flash", "--prompt", "How wide?")
    return client(machine, "gemini", *words, **env)


def play_qwen(machine: Machine, model: StandIn) -> str:
    """Run Qwen Code against the scripted model."""
    words = (*QWEN_WORDS, "--prompt", "How wide?")
    return client(machine, "qwen", *words, **qwen_env(model))


PLAYS = {"claude": play_claude, "gemini": play_gemini, "qwen": play_qwen}


@pytest.mark.parametrize("name", PLAYS)
def test_the_hook_puts_the_section_into_the_first_prompt(
    real: Machine, name: str
) -> None:
    """Without any file, and once."""
    need(real, name)
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    real.put(FILES["gemini"], json.dumps(auth))
    hm(real, "connect", name, "--hooks", "--yes")
    play = PLAYS[name]

    with playing() as model:
        printed = play(real, model)

    told = [one for one in model.first_prompts if HEADING in one]
    assert told, printed
    assert told[0].count(HEADING) == 1
    assert FACT in told[0].replace("\\", "")
    assert list((real.root / "work").iterdir()) == []
    hm(real, "disconnect", name, "--yes")
    with playing() as model:
        play(real, model)
    assert not [one for one in model.first_prompts if HEADING in one]


def test_what_is_allowed_is_called_without_asking(real: Machine) -> None:
    """Nobody is there to say yes; and writing is not among it."""
    need(real, "claude")
    search = ScriptedCall(tool="memory_search", arguments={"query": "editor columns"})
    write = ScriptedCall(
        tool="memory_write", arguments={"content": "Nobody allowed this."}
    )
    hm(real, "connect", "claude", "--allow", "--yes")

    with playing(search, write) as model:
        printed = play_claude(real, model)

    assert len(model.answers) == 2, printed
    found, written = model.answers
    assert "quartzline" in found
    assert "permission" in written
    notes = list((real.home / ".hivemind" / "memory").rglob("*.md"))
    assert [note.name for note in notes] == ["global.md"]
