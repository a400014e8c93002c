"""``hm connect --project``: a repository's files, and what is not put into them."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.connect.conftest import Machine

FILES = {
    "claude": ".mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "opencode": "opencode.json",
    "qwen": ".qwen/settings.json",
    "vscode": ".vscode/mcp.json",
}
"""Where each agent reads a project's servers: seen, or for Cursor and VS Code
documented."""


@pytest.fixture
def shop(machine: Machine) -> Path:
    """A repository with a settings file of its own."""
    folder = machine.root / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}\n')
    subprocess.run(["git", "init", "-q"], cwd=folder, env=machine.env, check=True)
    return folder


def content(folder: Path, name: str) -> Any:
    """What an agent reads."""
    text = (folder / FILES[name]).read_text()
    return tomllib.loads(text) if name == "codex" else json.loads(text)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file of a repository."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def test_every_agent_finds_the_server_in_the_project_and_all_goes_to_the_byte(
    machine: Machine, shop: Path
) -> None:
    """Agents that are named need not be installed: others work there too."""
    before, home = snapshot(shop), machine.snapshot()

    done = machine.run("connect", *FILES, "--project", "--yes", cwd=shop / "src")

    assert done.code == 0, done.err
    assert "not ignored by git" in done.err
    assert "None of the supported agents" not in done.err
    for name in FILES:
        found = content(shop, name)
        tables = {"codex": "mcp_servers", "opencode": "mcp", "vscode": "servers"}
        table = tables.get(name, "mcpServers")
        assert "mcp" in json.dumps(found[table]["hivemind"]), name
    assert content(shop, "claude")["mcpServers"]["other"] == {"command": "x"}
    assert machine.snapshot() == home
    again = machine.run("connect", *FILES, "--project", "--json", cwd=shop)
    assert {one["state"] for one in again.json["agents"]} == {"connected"}
    gone = machine.run("disconnect", "--project", "--yes", cwd=shop)
    assert gone.code == 0, gone.err
    assert snapshot(shop) == before
    assert not (shop / ".codex").exists()


def test_what_can_be_committed_names_the_program_and_not_a_path_of_this_machine(
    machine: Machine, shop: Path
) -> None:
    """Else it works for one person alone."""
    (machine.programs / "hm").symlink_to(machine.hm)
    program = str(machine.programs / "hm")

    subprocess.run(
        [program, "connect", "claude", "--project", "--yes"],
        cwd=shop,
        env=machine.env,
        check=True,
        capture_output=True,
    )

    server = content(shop, "claude")["mcpServers"]["hivemind"]
    assert server == {"type": "stdio", "command": "hm", "args": ["mcp"]}


def test_paths_of_this_machine_are_named_before_they_are_committed(
    machine: Machine, shop: Path
) -> None:
    """Here hm is not on the PATH, so its path is all that works."""
    done = machine.run("connect", "claude", "--project", "--yes", cwd=shop)

    assert "a path on this machine" in done.err


@pytest.mark.parametrize("flag", ["--http", "--hooks", "--allow"])
def test_what_is_personal_does_not_go_into_a_project(
    machine: Machine, shop: Path, flag: str
) -> None:
    """A token would be committed."""
    before = snapshot(shop)

    refused = machine.run("connect", "claude", "--project", flag, "--yes", cwd=shop)

    assert refused.code == 2
    assert f"--project and {flag} cannot be combined" in refused.err
    assert snapshot(shop) == before


def test_a_project_is_a_repository(machine: Machine) -> None:
    """Elsewhere the files would be read in every folder below, or in none."""
    refused = machine.run("connect", "claude", "--project", "--yes")

    assert refused.code == 2
    assert "needs a git repository" in refused.err


def test_codex_never_gets_a_program_and_an_address_in_two_files_that_it_merges(
    machine: Machine, shop: Path
) -> None:
    """Codex merges the two entries, refuses the result, and does not start."""
    machine.install("codex")
    machine.put(
        ".codex/config.toml",
        '[mcp_servers.hivemind]\nurl = "http://127.0.0.1:1/mcp"\nenabled = false\n',
    )

    refused = machine.run("connect", "codex", "--project", "--yes", cwd=shop)
    local = machine.run("connect", "codex", "--yes", cwd=shop)
    project = machine.run("connect", "codex", "--project", "--yes", cwd=shop)
    mixed = machine.run("connect", "codex", "--http", "--yes", cwd=shop)

    assert refused.code == 1
    assert "would not start: it merges" in refused.err
    assert "hm disconnect codex" in refused.err
    assert "not use hivemind: it is switched off by mcp_servers.hivemind.enabled" in (
        local.err
    )
    assert "connected, but switched off" in local.out
    assert project.code == 0, project.err
    assert mixed.code == 0
    assert "Codex does not start in this repository" in mixed.err


def test_a_link_out_of_the_project_is_not_followed(
    machine: Machine, shop: Path
) -> None:
    """A repository could point at any file of the user."""
    secret = machine.put("elsewhere.json", "{}")
    (shop / ".cursor").mkdir()
    (shop / ".cursor" / "mcp.json").symlink_to(secret)

    refused = machine.run("connect", "cursor", "--project", "--yes", cwd=shop)

    assert refused.code == 1
    assert "leads out of the project" in refused.err
    assert secret.read_text() == "{}"


def test_a_workspace_is_passed_to_the_server_and_the_hook(machine: Machine) -> None:
    """Each agent can have a private memory of its own."""
    machine.install("claude")
    machine.put(
        ".hivemind/config.json", '{"memory": {"workspaces": {"a": {"parent": "root"}}}}'
    )

    done = machine.run("connect", "claude", "--workspace", "a", "--hooks", "--yes")

    assert done.code == 0, done.err
    server = json.loads((machine.home / ".claude.json").read_text())["mcpServers"]
    assert server["hivemind"]["args"] == ["mcp", "--workspace", "a"]
    hooks = (machine.home / ".claude/settings.json").read_text()
    assert "HIVEMIND_WORKSPACE=a " in hooks
    # Like its server, the hook has the project of the folder too.
    assert r"HIVEMIND_PROJECT=\"${HIVEMIND_PROJECT:-auto}\" " in hooks
    assert machine.run("disconnect", "claude", "--yes").code == 0
    assert not (machine.home / ".claude/settings.json").exists()


def test_a_workspace_that_is_not_there_is_refused(machine: Machine) -> None:
    """Its server would refuse every call."""
    machine.install("claude")
    machine.put(
        ".hivemind/config.json", '{"memory": {"workspaces": {"a": {"parent": "root"}}}}'
    )

    refused = machine.run("connect", "claude", "--workspace", "typo", "--yes")
    http = machine.run("connect", "claude", "--workspace", "a", "--http", "--yes")

    assert refused.code != 0
    assert "typo" in refused.err
    assert http.code == 2
    assert "hm mcp --http --workspace a" in http.err
    assert not (machine.home / ".claude.json").exists()
