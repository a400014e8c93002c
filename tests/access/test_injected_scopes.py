"""What is injected is never more than a search in the same shell finds.

Each combination of the variables that name scopes is tried, in a person's shell and in
an agent's.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.environment import SCOPE_VARIABLES
from tests.access.test_folders import run
from tests.cli.conftest import Hm, hm, home
from tests.support.tiers import part

__all__ = ["hm", "home"]

WORDS = {
    "global": "gnu",
    "project/site": "walrus",
    "project/shop": "yak",
    "team/red": "heron",
    "workspace/web": "newt",
}
"""Scope -> a word that only its memory has."""

NAMES = (("", "web"), ("", "red", "blue,red"), ("", "none", "auto", "site", "shop"))
"""What each of the variables may say, in their order."""

CALLERS = [*itertools.product(*NAMES, ("", "1"))]


@pytest.fixture
def site(home: Path, hm: Hm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A worktree of the project ``site``, which the test is in."""
    folder = tmp_path / "code" / "site"
    subprocess.run(["git", "init", "-q", folder], check=True)
    monkeypatch.chdir(folder)
    for scope, word in WORDS.items():
        text = f"The {word} is the animal of the house."
        line = ("save", f"{word}-key", "--scope", scope, "--type", "lesson", text)
        assert hm(*line).code == 0
    return folder


def words_in(text: str) -> set[str]:
    """Return the scopes whose memory a text shows."""
    return {scope for scope, word in WORDS.items() if word in text}


def found_by_search(hm: Hm) -> set[str]:
    """Return the scopes in which a search of this shell finds the memory."""
    return {
        scope for scope, word in WORDS.items() if word in hm("search", word, "-n1").out
    }


def become(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], agent: str = ""
) -> None:
    """Set what the environment of a shell names."""
    for name, text in zip(
        (*SCOPE_VARIABLES, "CLAUDECODE"), (*names, agent), strict=True
    ):
        monkeypatch.setenv(name, text)


@pytest.mark.sampled
def test_no_section_shows_more_than_a_search_of_the_same_shell(
    hm: Hm, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limited shell searches and injects with the same scopes."""
    for *names, agent in part(CALLERS, 0, of=7):
        become(monkeypatch, tuple(names), agent)

        found = found_by_search(hm)
        injected = words_in(hm("inject", "--dry-run").out)

        is_owner = not any((*names, agent))
        assert found == (set(WORDS) if is_owner else injected), (names, agent)
        assert injected <= found
        assert words_in(hm("hook", "session-start", stdin=b"{}").out) == injected


@pytest.mark.parametrize("names", [("web", "", ""), ("", "red", "")])
@pytest.mark.parametrize(
    "line",
    [
        ("inject", "--yes"),
        ("exec", "--agent", "claude", "--", "true"),
        ("git-hook", "run"),
        ("launch", "true"),
    ],
    ids=" ".join,
)
def test_a_workspace_or_team_alone_injects_nothing_of_the_project(
    hm: Hm,
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: tuple[str, ...],
    names: tuple[str, ...],
) -> None:
    """Into the file of an agent, whatever command writes it."""
    become(monkeypatch, names)

    if line[0] == "exec":
        program = (sys.executable, "-m", "hivemind_memory.cli", *line)
        subprocess.run(program, check=True)
    else:
        assert run(hm, line, site).code == 0

    [section] = list(site.glob("*.md"))
    own = "workspace/web" if names[0] else "team/red"
    assert words_in(section.read_text()) == {"global", own}


def test_an_agent_launched_for_a_workspace_is_shown_what_its_server_finds(
    hm: Hm, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its server has the workspace and the project of the folder."""
    become(monkeypatch, ("", "", ""))

    assert run(hm, ("launch", "true", "--workspace", "web"), site).code == 0

    shown = words_in((site / "AGENTS.md").read_text())
    become(monkeypatch, ("web", "", ""), agent="1")  # an agent's shell, as its server
    assert shown == found_by_search(hm) == {"global", "project/site", "workspace/web"}


def test_a_workspace_for_the_agent_widens_no_limited_shell(
    hm: Hm, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused, and nothing is injected."""
    become(monkeypatch, ("", "red", ""))

    ran = run(hm, ("launch", "true", "--workspace", "web"), site)

    assert (ran.code, ran.out) == (2, "")
    assert "workspaces/web" in ran.err
    assert not (site / "AGENTS.md").exists()


@pytest.mark.parametrize("names", [("web", "", ""), ("", "red", ""), ("", "", "shop")])
def test_a_section_for_another_scope_is_in_no_context_and_replaced_by_the_hook(
    hm: Hm, site: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """The file of an agent is shared by all that start in the folder."""
    become(monkeypatch, names)
    assert hm("inject", "--yes").code == 0
    [section] = list(site.glob("*.md"))
    before = section.read_bytes()
    own, others = {"global", "project/site"}, words_in(section.read_text())
    assert others - own
    become(monkeypatch, ("", "", ""), agent="1")

    task = f"{' '.join(WORDS.values())} in {section.name}"
    built = hm("context", "build", task.replace("animal", ""))
    told = hm("hook", "session-start", stdin=b"{}")

    assert words_in(built.out.replace(task, "")) == own
    assert words_in(told.out) == own
    assert section.name in told.err
    assert section.read_bytes() == before  # a hook writes no file
    become(monkeypatch, names)
    assert hm("hook", "session-start", stdin=b"{}").out == ""
