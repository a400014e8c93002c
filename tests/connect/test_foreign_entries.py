"""A server of somebody else under our name, and entries that name two servers."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.connect.conftest import FILES, Machine

FOREIGN = {
    "claude": '{"mcpServers": {"hivemind": {"command": "npx", "args": ["other"]}}}',
    "codex": '[mcp_servers.hivemind]\nurl = "https://example.com/sse"\n',
    "opencode": '{"mcp": {"hivemind": {"type": "local", "command": ["bee"]}}}',
    "vscode": '{"servers": {"hivemind": {"type": "http", "url": "http://bee/mcp"}}}',
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_entry_is_neither_replaced_nor_deleted(
    machine: Machine, name: str
) -> None:
    """Not even with --yes; its words say which file has it."""
    machine.install(name)
    file = machine.put(FILES[name], FOREIGN[name])

    connecting = machine.run("connect", name, "--yes")
    leaving = machine.run("disconnect", name, "--yes")

    assert connecting.code == 1
    assert f"{file} has another server that is called hivemind" in connecting.err
    assert leaving.code == 0, leaving.err
    assert "it was left alone" in leaving.err
    assert file.read_text() == FOREIGN[name]


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "/old/bin/hm", "args": ["mcp"]},
        {"command": "uvx", "args": ["--from", "hivemind-memory", "hm", "mcp"]},
        {"command": "bash", "args": ["-lc", "exec hm mcp"]},
        {"command": "python", "args": ["-m", "hivemind_memory.cli", "mcp"]},
        {"type": "http", "url": "http://localhost:9000/mcp"},
        {"url": "https://box.example.com/mcp", "headers": {"hivemind-project": "a"}},
        {"disabled": True},
        "nonsense",
    ],
)
def test_every_form_of_our_own_entry_is_replaced_and_deleted(
    machine: Machine, entry: object
) -> None:
    """People start it in many ways."""
    machine.install("claude")
    text = json.dumps({"mcpServers": {"hivemind": entry}})
    file = machine.put(FILES["claude"], text)

    assert machine.run("connect", "claude", "--yes").code == 0
    assert "mcp" in file.read_text()
    assert machine.run("disconnect", "claude", "--yes").code == 0
    assert "hivemind" not in file.read_text()


def test_doctor_finds_an_entry_that_names_a_program_and_an_address(
    machine: Machine,
) -> None:
    """Codex does not start then, and does not say which entry it is."""
    mixed = '[mcp_servers.hivemind]\ncommand = "hm"\nargs = ["mcp"]\nurl = "x"\n'
    machine.run("init")
    machine.install("codex")
    machine.put(FILES["codex"], mixed)

    found = machine.run("doctor")

    assert "Codex does not start: the entry hivemind in" in found.out
    assert "`hm disconnect codex`, then `hm connect codex` fixes it." in found.out
    machine.run("disconnect", "codex", "--yes")
    assert machine.run("connect", "codex", "--yes").code == 0
    assert "Codex" not in machine.run("doctor").out


def test_doctor_finds_entries_that_codex_merges_into_one_of_both_kinds(
    machine: Machine,
) -> None:
    """One is the user's, and one is the project's."""
    machine.run("init")
    shop = machine.root / "shop"
    (shop / ".codex").mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=shop, env=machine.env, check=True)
    machine.put(FILES["codex"], '[mcp_servers.hivemind]\ncommand = "hm"\n')
    url = 'url = "http://127.0.0.1:1/mcp"'
    (shop / ".codex" / "config.toml").write_text(f"[mcp_servers.hivemind]\n{url}\n")

    assert "together name a program" in machine.run("doctor", cwd=shop).out
    assert "Codex" not in machine.run("doctor").out


def test_vscode_has_its_own_table_and_is_told_the_folder(machine: Machine) -> None:
    """It reads no file of another agent."""
    machine.install("vscode")

    assert machine.run("connect", "vscode", "--yes").code == 0
    file = machine.home / FILES["vscode"]
    entry = json.loads(file.read_text())["servers"]["hivemind"]
    assert (entry["type"], entry["args"]) == ("stdio", ["mcp"])
    assert machine.run("connect", "vscode", "--http", "--yes").code == 0
    entry = json.loads(file.read_text())["servers"]["hivemind"]
    assert entry["headers"]["Hivemind-Project"] == "${workspaceFolder}"
    assert machine.run("disconnect", "vscode", "--yes").code == 0
    assert not file.exists()
