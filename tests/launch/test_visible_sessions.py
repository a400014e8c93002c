"""A caller of some scopes finds the agents of its own worktrees, and no others.

A session in a worktree that the caller may not use does not exist for it: it is
neither listed, nor named by a hint or a completion, nor shown, nor ended.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.inject.conftest import environ
from tests.inject.repos import make_repo
from tests.launch.conftest import READER, Machine

__all__ = ["environ"]  # git of nobody, for every test here

pytestmark = pytest.mark.usefixtures("environ")

CALLERS = {
    "agent": {"CLAUDECODE": "1"},
    "agent of none": {"CLAUDECODE": "1", "HIVEMIND_PROJECT": "none"},
    "project": {"HIVEMIND_PROJECT": "shop"},
    "team": {"HIVEMIND_TEAM": "red"},
    "workspace": {"HIVEMIND_WORKSPACE": "web"},
}
LIMITED = pytest.mark.parametrize("caller", CALLERS)


@pytest.fixture
def site(machine: Machine, hm) -> Path:
    """A worktree of another project, in which the owner launched an agent."""
    machine.program("owl", READER)
    folder = make_repo(machine.folder / "site", text=None)
    for worktree in (folder, machine.repo):
        assert hm("project", "show", str(worktree)).code == 0
    assert hm("launch", "owl", "--detach", "--worktree", str(folder)).code == 0
    return folder


def become(monkeypatch: pytest.MonkeyPatch, caller: str) -> None:
    """Set what a caller's shell has in its environment."""
    for name, text in CALLERS[caller].items():
        monkeypatch.setenv(name, text)


def names(machine: Machine) -> list[str]:
    """Return the sessions that tmux has."""
    return machine.tmux("list-sessions", "-F", "#{session_name}").splitlines()


@LIMITED
def test_sessions_of_another_project_do_not_exist_for_a_limited_caller(
    machine, hm, site, monkeypatch, caller
) -> None:
    """Every word is the one for a session that nobody started."""
    become(monkeypatch, caller)

    listed = hm("sessions", "--json")
    shown = hm("sessions")
    said = {
        (verb, name): hm(verb, name, *yes)
        for verb, yes in (("kill", ("--yes",)), ("attach", ()))
        for name in ("hm-site-owl", "owl", "nosuch")
    }
    completed = [hm("__complete", "--", verb, "") for verb in ("kill", "attach")]

    assert json.loads(listed.out) == {"sessions": []}
    assert shown.out == ""
    for (verb, name), one in said.items():
        unknown = said[verb, "nosuch"]
        assert one.code == 1
        assert one.err.replace(name, "nosuch") == unknown.err
        assert "site" not in one.out + one.err.replace(name, "")
    assert [one.out for one in completed] == ["", ""]
    assert names(machine) == ["hm-site-owl"]


@LIMITED
def test_a_hint_names_the_sessions_of_the_callers_worktree_only(
    machine, hm, site, monkeypatch, caller
) -> None:
    """It finds its own, and those of others are not among them."""
    hm("launch", "claude", "--detach")
    become(monkeypatch, caller)

    said = hm("kill", "nosuch", "--yes")

    assert "Name one: hm-shop-claude.\n" in said.err
    assert hm("__complete", "--", "kill", "").out == "hm-shop-claude\n"
    assert hm("kill", "hm-shop-claude", "--yes").out == "hm-shop-claude: ended\n"
    assert names(machine) == ["hm-site-owl"]


@LIMITED
def test_a_launch_finds_no_agent_of_another_project(
    machine, hm, site, monkeypatch, caller
) -> None:
    """It starts its own, without memories, and says nothing of the other."""
    become(monkeypatch, caller)

    said = hm("launch", "owl", "--detach", "--worktree", str(site))

    assert said.code == 0
    assert "already runs" not in said.err
    assert len(names(machine)) == 2


def test_a_launch_leaves_an_ended_agent_of_another_project_alone(
    machine, hm, site, monkeypatch
) -> None:
    """Its last lines wait for the person who launched it."""
    machine.tmux("set-option", "-p", "-t", "=hm-site-owl:", "remain-on-exit", "on")
    pid = machine.tmux("display-message", "-p", "-t", "=hm-site-owl:", "#{pane_pid}")
    # Not by run-shell: tmux may miss that one of two children exits, and waits for it.
    os.kill(int(pid), signal.SIGTERM)
    machine.ended("hm-site-owl")
    become(monkeypatch, "agent")

    hm("launch", "owl", "--detach", "--worktree", str(site))

    assert "hm-site-owl" in names(machine)


def test_the_owner_sees_and_ends_every_session(machine, hm, site) -> None:
    """A shell in which nothing is set is the owner's."""
    assert hm("__complete", "--", "kill", "").out == "hm-site-owl\n"
    [found] = json.loads(hm("sessions", "--json").out)["sessions"]
    assert found["worktree"] == str(site)
    assert hm("kill", "owl", "--yes").out == "hm-site-owl: ended\n"
