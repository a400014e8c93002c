"""Finds entries of our server that keep an agent from starting, for ``hm doctor``.

Codex refuses to start if an entry has a program and an address. It merges the entry of
a project with its user's of the same name, so that the two may make one of both kinds.
"""

from __future__ import annotations

import os
from shlex import quote

from hivemind_memory.connect.agents import AGENTS, SERVER, ConnectableAgent
from hivemind_memory.connect.connection import read_settings
from hivemind_memory.connect.entries import is_mixed
from hivemind_memory.errors import HivemindError
from hivemind_memory.git.repository import find_repository
from hivemind_memory.model.results import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def entry_findings(
    user_home: str, environ: Mapping[str, str], git_environ: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Return a finding for each agent whose entry names a program and an address.

    Args:
        user_home: Home folder of the user.
        environ: The agents' environment.
        git_environ: That of git, which finds the repository of the current folder.
    """
    repository = _repository_here(git_environ)
    found = []
    for agent in AGENTS:
        user_file = agent.servers.find(user_home, environ)
        user = _entry(agent, user_file)
        if is_mixed(user):
            found.append(
                _finding(agent, f"the entry {SERVER} in {user_file}", is_project=False)
            )
        if not repository:
            continue
        project_file = agent.project_servers.find(repository, {})
        project = _entry(agent, project_file)
        if is_mixed(project):
            where = f"the entry {SERVER} in {project_file}"
            found.append(_finding(agent, where, is_project=True))
        elif (
            agent.merges_entries
            and not is_mixed(user)
            and is_mixed({**user, **project})
        ):
            where = f"the entries {SERVER} in {user_file} and {project_file} together"
            found.append(_finding(agent, where, is_project=True))
    return tuple(found)


def _repository_here(git_environ: Mapping[str, str]) -> str:
    """Return the top folder of the repository here; empty: none that can be read."""
    try:
        found = find_repository(os.path.realpath(os.curdir), git_environ)
    except (HivemindError, OSError):
        return ""
    return found.top if found else ""


def _entry(agent: ConnectableAgent, path: str) -> dict[str, Any]:
    """Return our entry in a file; empty: there is none."""
    servers = read_settings(agent, path).get(agent.table)
    entry = servers.get(SERVER) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else {}


def _finding(agent: ConnectableAgent, where: str, *, is_project: bool) -> Finding:
    """Return the finding that an entry is of both kinds."""
    names = "name" if where.startswith("the entries") else "names"
    does = "does not start" if agent.merges_entries else "may not find the memory"
    remedy = (
        f"`hm disconnect {quote(agent.name)}`, then `hm connect {quote(agent.name)}`"
    )
    if is_project:
        remedy = f"`hm disconnect {quote(agent.name)} --project`"
    return Finding(
        name="agent settings",
        is_ok=False,
        detail=f"{agent.title} {does}: {where} {names} a program and an address",
        hint=f"{remedy} fixes it.",
    )
