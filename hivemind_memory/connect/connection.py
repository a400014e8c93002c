"""Whether an agent has our tools: looks for the server in the files that it reads.

Only reads. A file that cannot be read says nothing: the agent counts as not connected.
"""

from __future__ import annotations

import json

from hivemind_memory.connect.agents import AGENTS, SERVER, ConnectableAgent
from hivemind_memory.connect.entries import (
    is_for_program,
    is_foreign,
    runs_hm,
    switched_off_by,
)
from hivemind_memory.connect.jsonc import BrokenTextError
from hivemind_memory.connect.settings_file import read_client_file
from hivemind_memory.errors import NotConnectedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


def is_connected(
    name: str, root: str, user_home: str, environ: Mapping[str, str]
) -> bool:
    """Return whether an agent that works in *root* has a server of hm.

    Args:
        name: The agent's name; empty: Claude Code.
        root: Folder of the worktree.
        user_home: Home folder of the user.
        environ: The agent's environment.
    """
    return any(True for _ in _our_entries(name, root, user_home, environ))


def connected_titles(
    root: str, user_home: str, environ: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the titles of the agents that have a server of hm in a folder.

    Args:
        root: As for ``is_connected``, and so are the others.
        user_home: Home folder of the user.
        environ: The agents' environment.
    """
    return tuple(
        agent.title
        for agent in AGENTS
        if is_connected(agent.name, root, user_home, environ)
    )


def is_connected_over_http(
    name: str, root: str, user_home: str, environ: Mapping[str, str]
) -> bool:
    """Return whether such a server of hm is one that runs already.

    Args:
        name: As for ``is_connected``, and so are the others.
        root: Folder of the worktree.
        user_home: Home folder of the user.
        environ: The agent's environment.
    """
    entries = _our_entries(name, root, user_home, environ)
    return not all(map(is_for_program, entries))


def starts_server(
    name: str, root: str, user_home: str, environ: Mapping[str, str]
) -> bool:
    """Return whether an agent starts a server of hm with each of its sessions.

    Args:
        name: As for ``is_connected``, and so are the others.
        root: Folder of the worktree.
        user_home: Home folder of the user.
        environ: The agent's environment.
    """
    return any(map(is_for_program, _our_entries(name, root, user_home, environ)))


def _our_entries(
    name: str, root: str, user_home: str, environ: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the entries of hm that are switched on for an agent."""
    agent = next(
        (
            known_agent
            for known_agent in AGENTS
            if known_agent.name == (name.lower() or "claude")
        ),
        None,
    )
    if agent is None:
        return
    user = read_settings(agent, agent.servers.find(user_home, environ))
    project = read_settings(agent, agent.project_servers.find(root, {}))
    tables = [user.get(agent.table), project.get(agent.table)]
    # Claude Code keeps servers of one folder in the file of its user.
    folders = user.get("projects")
    own = folders.get(root) if isinstance(folders, dict) else None
    tables.append(own.get(agent.table) if isinstance(own, dict) else None)
    for server in _entries(tables):
        is_off = any(switched_off_by(rules, "", server[0]) for rules in (user, project))
        if _is_ours(server) and not is_off:
            yield server[1]


def read_settings(agent: ConnectableAgent, path: str) -> dict[str, Any]:
    """Return what a settings file says; nothing if it cannot be read."""
    try:
        text = read_client_file(path).text
        if not text:
            return {}
        if agent.dialect is None:
            # An injection looks here, and most agents have JSON.
            from hivemind_memory.connect.toml_edit import parse_toml

            return parse_toml(text)
        try:
            value = json.loads(text)  # far quicker, and these files can be large
        except ValueError:
            from hivemind_memory.connect.json_edit import value_at

            value = value_at(text, (), agent.dialect)
    except (NotConnectedError, BrokenTextError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _entries(tables: list[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each server: its name and its entry."""
    for table in tables:
        if isinstance(table, dict):
            for name, entry in table.items():
                if isinstance(entry, dict):
                    yield name, entry


def _is_ours(server: tuple[str, dict[str, Any]]) -> bool:
    """Whether a server is this program and is switched on, whatever it is called."""
    name, entry = server
    if entry.get("enabled") is False or entry.get("disabled") is True:
        return False
    return runs_hm(entry) or (name == SERVER and not is_foreign(entry))
