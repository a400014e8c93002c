"""What is written without a scope stays with its project, whoever writes it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory import environment, opening
from hivemind_memory.access.rules import Caller, home_scope
from hivemind_memory.cli.main import main
from hivemind_memory.errors import ScopeError, UsageError
from hivemind_memory.mcp_server import server
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.curation import NewMemory
from hivemind_memory.model.query import Query
from hivemind_memory.model.save_hints import GlobalScopeHint

Agent = Callable[[str], Memory]


@pytest.fixture(autouse=True)
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own, and no scope from outside."""
    for name in ("PROJECT", "TEAM", "WORKSPACE", "DEFAULT_SCOPE"):
        monkeypatch.delenv(f"HIVEMIND_{name}", raising=False)
    monkeypatch.setenv("HIVEMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home" / "memory").mkdir(parents=True)


@pytest.fixture
def repository(tmp_path: Path) -> Callable[[str], Path]:
    """Return what makes a repository of a name."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        if not folder.exists():
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
            origin = f"git@example.com:me/{name}.git"
            words = ["git", "-C", str(folder), "remote", "add", "origin", origin]
            subprocess.run(words, check=True)
        return folder

    return make


@pytest.fixture
def agent(repository: Callable[[str], Path]) -> Agent:
    """Return what opens the memory as an agent's server in a repository does."""

    def open_in(name: str) -> Memory:
        return opening.open_memory(
            scope_request=environment.agent_scope_request(),
            folder=str(repository(name)),
        )

    return open_in


def save(memory: Memory, content: str, **more: str) -> str:
    """Save the key that every repository has, and return where it went."""
    wanted = NewMemory(key="deploy-target", content=content, **more)  # type: ignore[arg-type]
    return memory.save(wanted).path


def found(memory: Memory, text: str) -> list[str]:
    """Return the notes that a search finds."""
    return [hit.path for hit in memory.search(Query(text=text, min_score=0)).hits]


def test_agents_of_two_repositories_do_not_share_a_drawer(
    agent: Agent, repository: Callable[[str], Path]
) -> None:
    """Neither found, nor injected, nor in the way of a key."""
    with agent("a") as first, agent("b") as second:
        saved = save(first, "The harbour host is deployed to.")
        written = first.write("The harbour host needs a VPN.")
        own = save(second, "The lighthouse host is deployed to.")

        assert saved == "projects/a/deploy-target.md"
        assert written.path.startswith("projects/a/")
        assert written.scope == "projects/a"
        assert own == "projects/b/deploy-target.md"
        assert set(found(first, "harbour host")) == {saved, written.path}
        assert found(second, "harbour") == []
        assert found(second, "host") == [own]
    with opening.open_memory() as memory:
        injector = opening.open_injector(memory)
        injector.inject(str(repository("b")))
    section = (repository("b") / "CLAUDE.md").read_text()
    assert "lighthouse" in section
    assert "harbour" not in section


def test_what_is_global_is_found_by_all(agent: Agent) -> None:
    """And the answer hints at it for what is about the user."""
    with agent("a") as first, agent("b") as second:
        wanted = NewMemory(key="tabs", content="Prefers tabs.", type="preference")
        kept = first.save(wanted)
        everywhere = first.save(
            NewMemory(
                key="editor", content="Prefers vim.", type="preference", scope="global"
            )
        )
        first.write("The kettle is blue.", scope="global")
        first.write("The kettle is old.", file="global.md")

        assert kept.hints == (GlobalScopeHint(scope=kept.scope),)
        assert everywhere.hints == ()
        assert everywhere.path == "editor.md"
        assert len(found(second, "kettle")) == 2
        assert found(second, "prefers tabs") == ["editor.md"]


@pytest.mark.parametrize(
    ("given", "scope"),
    [
        ({"workspace": "workspaces/web", "project": "projects/a"}, "workspaces/web"),
        ({"project": "projects/a", "teams": ("teams/red",)}, "projects/a"),
        ({"teams": ("teams/red", "teams/blue")}, "teams/red"),
        ({}, ""),
    ],
)
def test_a_write_without_a_scope_goes_to_the_narrowest_of_the_caller(
    given: dict[str, Any], scope: str
) -> None:
    """Its workspace, else its project, else its first team, else the global scope."""
    assert home_scope(Caller(**given)) == scope


@pytest.mark.parametrize("tool", ["memory_write", "memory_save", "memory_learn"])
def test_the_tools_say_what_is_global(tool: str) -> None:
    """An agent reads it before its first call."""
    prebuilt = Path(server.__file__).with_name("tools.json").read_text()
    [described] = _objects(json.loads(prebuilt), tool)

    scope = described["inputSchema"]["properties"]["scope"]

    assert "about the user or the machine: global" in scope["description"]


def _objects(value: Any, name: str) -> list[dict[str, Any]]:
    """Return the tools of a name in the prebuilt answers, each once."""
    found: dict[str, dict[str, Any]] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if one.get("name") == name and "inputSchema" in one:
                found[json.dumps(one, sort_keys=True)] = one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return list(found.values())


def test_project_and_status_say_which_project_this_is_and_why(
    repository: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also in a folder of it, before and after its first write."""
    said = []
    for folder in ("", "deep"):
        (repository("shop") / folder).mkdir(exist_ok=True)
        monkeypatch.chdir(repository("shop") / folder)
        for command in ("project", "status"):
            assert main((command,)) == 0
            said.append(capsys.readouterr().out)
        assert main(("write", "The shop is open.")) == 0
        capsys.readouterr()

    for shown in said[::2]:
        assert re.match(r"projects/shop  example\.com/me/shop  \(\w.+\)\n", shown)
    for shown in said[1::2]:
        assert re.search(r"^project here: projects/shop \(\w.+\)$", shown, re.MULTILINE)


def test_a_file_with_a_folder_sets_the_scope(agent: Agent) -> None:
    """A conflict with a scope that is named is refused, and nothing is saved."""
    with agent("a") as memory, opening.open_memory() as owner:
        bare = memory.write("one", file="setup.md")
        full = memory.write("two", file="projects/a/setup.md")
        with pytest.raises(UsageError, match="is in the global scope, not in project"):
            memory.write("three", file="notes/setup.md", scope="project")
        with pytest.raises(UsageError, match="is in projects/shop, not in global"):
            owner.write("four", file="projects/shop/a.md", scope="global")
        with pytest.raises(ScopeError):
            memory.write("five", scope="project/b")

        assert bare.path == full.path == "projects/a/setup.md"


@pytest.mark.parametrize("where", ["", "deep/down"])
def test_a_shell_in_a_repository_writes_to_its_project(
    repository: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    where: str,
) -> None:
    """Every command that writes, and -g or --scope say otherwise."""
    folder = repository("a") / where
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)

    def hm(*words: str) -> str:
        code = main(words)
        said = capsys.readouterr()
        return said.out + said.err if not code else f"{code}: {said.err}"

    assert "saved projects/a/" in hm("write", "kettle one")
    assert "saved projects/a/k.md" in hm("save", "k", "kettle two")
    assert "projects/a/" in hm("save", "--scope", "project", "s", "x")
    assert "saved g.md" in hm("save", "-g", "g", "kettle three")
    assert "saved global.md" in hm("write", "-g", "--file", "global.md", "kettle four")
    assert "saved teams/red/" in hm("write", "--scope", "team/red", "kettle five")
    assert "2: error: -g and --scope" in hm("write", "-g", "--scope", "team/red", "x")
    said = json.loads(hm("write", "--json", "kettle six"))
    assert said["scope"] == "projects/a"
    found_all = json.loads(hm("search", "--json", "--min-score", "0", "kettle"))
    assert len(found_all["hits"]) == 6


def test_a_shell_outside_a_repository_writes_to_the_global_scope(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As do all that have no project."""
    assert main(("save", "k", "text")) == 0
    assert capsys.readouterr().out.startswith("saved k.md")


def test_the_option_default_scope_restores_the_global_scope(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a person who wants one drawer for all repositories."""
    monkeypatch.setenv("HIVEMIND_DEFAULT_SCOPE", "global")
    with agent("a") as memory:
        assert save(memory, "The harbour host.") == "deploy-target.md"
