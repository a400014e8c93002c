"""What starts in a shell that is limited to some scopes has no more than these."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.access.rules import AGENT_VARIABLES
from hivemind_memory.cli.main import main

TREE = {
    "web": {"parent": "office"},
    "ui": {"parent": "web", "teams": ["red"]},
    "docs": {"parent": "web"},
}
MCP = ("mcp",)
UI = {"HIVEMIND_WORKSPACE": "ui"}
SHOP = {"HIVEMIND_PROJECT": "shop"}
RED = {"HIVEMIND_TEAM": "red"}

WIDER = [
    (UI, (*MCP, "--workspace", "docs"), "workspaces/docs"),
    (UI, (*MCP, "--workspace", "office"), "workspaces/office"),
    (UI, (*MCP, "--team", "blue"), "teams/blue"),
    (UI, (*MCP, "--team", "red,blue"), "teams/blue"),
    (UI, (*MCP, "--project", "shop"), "projects/shop"),
    (SHOP, (*MCP, "--project", "site"), "projects/site"),
    (SHOP, (*MCP, "--workspace", "ui"), "workspaces/ui"),
    (RED, (*MCP, "--team", "blue"), "teams/blue"),
    (RED, (*MCP, "--workspace", "ui"), "workspaces/ui"),
    (UI, (*MCP, "--http", "--project", "shop"), "projects/shop"),
    (UI, ("launch", "sleep", "--workspace", "docs"), "workspaces/docs"),
    (SHOP, ("launch", "sleep", "--workspace", "ui"), "workspaces/ui"),
    (UI, ("connect", "claude", "--workspace", "docs", "--yes"), "workspaces/docs"),
]
ALLOWED = [
    ({}, (*MCP, "--workspace", "docs", "--project", "shop", "--team", "blue")),
    (UI, MCP),
    (UI, (*MCP, "--workspace", "ui")),
    (UI, (*MCP, "--project", "none")),
    (UI, (*MCP, "--team", "red")),
    (UI, (*MCP, "--team", "web")),
    (UI | SHOP, (*MCP, "--project", "shop")),
    (SHOP, (*MCP, "--project", "none")),
]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A home with a tree of workspaces, and a folder without a project."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"memory": {"workspaces": TREE}}))
    (tmp_path / "empty").mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HIVEMIND_") and name not in AGENT_VARIABLES
    }
    return kept | {
        "HOME": str(tmp_path),
        "HIVEMIND_HOME": str(home),
        "HIVEMIND_EMBEDDING_PROVIDER": "none",
    }


def run(
    environ: dict[str, str], words: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    """Run the command in the folder without a project, with nothing on its input."""
    return subprocess.run(
        [sys.executable, "-m", "hivemind_memory.cli", *words],
        env=environ,
        cwd=Path(environ["HOME"], "empty"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(("limit", "words", "wider"), WIDER)
def test_no_option_widens_what_a_limited_shell_sees(
    environ: dict[str, str],
    limit: dict[str, str],
    words: tuple[str, ...],
    wider: str,
    tmp_path: Path,
) -> None:
    """One sentence says why, and nothing is started or written."""
    done = run(environ | limit, words)

    assert done.returncode == 2
    assert done.stdout == ""
    assert f"limit this shell, so nothing that starts here may have {wider}." in (
        done.stderr
    )
    assert not (tmp_path / ".claude.json").exists()


@pytest.mark.parametrize(("limit", "words"), ALLOWED)
def test_what_a_limited_shell_sees_may_be_named(
    environ: dict[str, str], limit: dict[str, str], words: tuple[str, ...]
) -> None:
    """Its own scopes, those that config.json adds to its workspace, and fewer."""
    done = run(environ | limit, words)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_limited_shell_cannot_lift_its_limit_in_config_json(
    environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Teams of a workspace are there, so who could add one would see it."""
    for name, text in (environ | UI).items():
        monkeypatch.setenv(name, text)
    for name in AGENT_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))

    assert main(("config", "set", "workspaces.ui.teams", '["blue"]')) != 0

    assert "you can only see part of the memory" in capsys.readouterr().err
    written = json.loads(Path(environ["HIVEMIND_HOME"], "config.json").read_text())
    assert written == {"memory": {"workspaces": TREE}}
