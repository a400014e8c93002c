"""The agents: their names, the files they keep servers in, and the form of an entry.

An entry is what the agent's own command for adding a server writes. Each was verified
with the versions that docs/agents.md names; Cursor's is from its documentation.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hivemind_memory.connect.jsonc import Dialect

SERVER = "hivemind"
"""The server's name in every agent's settings."""

HOME_VARIABLE = "HIVEMIND_HOME"


STRICT_JSON = Dialect()
COMMENTED = Dialect(has_comments=True)
LENIENT = Dialect(has_comments=True, has_last_commas=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectableAgent:
    """A program that speaks the Model Context Protocol."""

    name: str
    """As typed."""

    title: str
    program: str
    also: str = ""
    """Another sign of it, below the user's home: a program, or a folder it creates."""

    file: str = ""
    """Its file below the user's home, if no variable moves it."""

    table: str = "mcpServers"
    """The key that holds its servers."""

    dialect: Dialect | None = STRICT_JSON
    """How it reads its file; None: TOML."""

    beginning: str = "{}\n"
    """Content of a new file."""


AGENTS = (
    # Where its former installer put the program.
    ConnectableAgent(
        name="claude",
        title="Claude Code",
        program="claude",
        also=".claude/local/claude",
    ),
    ConnectableAgent(
        name="codex",
        title="Codex",
        program="codex",
        table="mcp_servers",
        dialect=None,
        beginning="",
    ),
    ConnectableAgent(
        name="gemini",
        title="Gemini CLI",
        program="gemini",
        dialect=COMMENTED,
    ),
    ConnectableAgent(
        name="cursor",
        title="Cursor",
        program="cursor",
        also=".cursor",
        file=".cursor/mcp.json",
        dialect=LENIENT,
    ),
    ConnectableAgent(
        name="opencode",
        title="OpenCode",
        program="opencode",
        table="mcp",
        dialect=LENIENT,
        # It adds this itself at its next start.
        beginning='{\n  "$schema": "https://opencode.ai/config.json"\n}\n',
    ),
    ConnectableAgent(
        name="qwen",
        title="Qwen Code",
        program="qwen",
        dialect=COMMENTED,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """The server as a program that each agent starts."""

    command: tuple[str, ...]
    home: str = ""
    """HIVEMIND_HOME for it: agents pass few variables on. Empty: the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteServer:
    """The server as a running one, reached over HTTP."""

    url: str
    token: str


def servers_file(
    agent: ConnectableAgent, user_home: str, environ: Mapping[str, str]
) -> str:
    """Return the file in which an agent keeps the servers of its user."""
    if agent.name == "claude":
        return os.path.join(
            environ.get("CLAUDE_CONFIG_DIR") or user_home, ".claude.json"
        )
    if agent.name == "codex":
        codex = environ.get("CODEX_HOME") or os.path.join(user_home, ".codex")
        return os.path.join(codex, "config.toml")
    if agent.name == "gemini":
        above = environ.get("GEMINI_CLI_HOME") or user_home
        return os.path.join(above, ".gemini", "settings.json")
    if agent.name == "qwen":
        qwen = environ.get("QWEN_HOME") or os.path.join(user_home, ".qwen")
        return os.path.join(os.path.expanduser(qwen), "settings.json")
    if agent.file:
        return os.path.join(user_home, agent.file)
    above = environ.get("XDG_CONFIG_HOME") or os.path.join(user_home, ".config")
    folder = os.path.join(above, "opencode")
    # The order in which it looks for a file to write; the first is the one it makes.
    names = ("opencode.jsonc", "opencode.json", "config.json")
    files = [os.path.join(folder, name) for name in names]
    return next((file for file in files if os.path.lexists(file)), files[0])


def hooks_file(
    agent: ConnectableAgent, user_home: str, environ: Mapping[str, str]
) -> str:
    """Return the file in which an agent keeps hooks and permissions."""
    if agent.name == "claude":
        folder = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(user_home, ".claude")
        return os.path.join(folder, "settings.json")
    return servers_file(agent, user_home, environ)


def server_entry(
    agent: ConnectableAgent, server: LocalServer | RemoteServer
) -> dict[str, Any]:
    """Return the entry for the server in an agent's file.

    >>> server_entry(AGENTS[0], LocalServer(command=("hm", "mcp")))
    {'type': 'stdio', 'command': 'hm', 'args': ['mcp']}
    """
    if isinstance(server, RemoteServer):
        return _remote_entry(agent, server)
    env = {HOME_VARIABLE: server.home} if server.home else {}
    if agent.name == "opencode":
        entry: dict[str, Any] = {"type": "local", "command": list(server.command)}
        return entry | ({"environment": env} if env else {})
    entry = {"type": "stdio"} if agent.name == "claude" else {}
    entry |= {"command": server.command[0], "args": list(server.command[1:])}
    return entry | ({"env": env} if env else {})


def merged(old: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the wanted entry, with everything else that the user set there.

    >>> merged({"command": "old", "timeout": 5}, {"command": "hm"})
    {'command': 'hm', 'timeout': 5}
    """
    if not isinstance(old, Mapping):
        return dict(wanted)
    new = dict(wanted)
    for key in ("env", "environment"):
        kept = {k: v for k, v in _mapping(old.get(key)).items() if k != HOME_VARIABLE}
        if kept and ("command" in wanted):
            new[key] = kept | _mapping(new.get(key))
    return new | {key: value for key, value in old.items() if key not in _TRANSPORT}


def is_same(old: Any, wanted: Mapping[str, Any]) -> bool:
    """Return whether an entry already says what is wanted."""
    if not isinstance(old, Mapping):
        return False
    new = merged(old, wanted)
    return _without_defaults(old) == _without_defaults(new)


_TRANSPORT = frozenset(
    {
        "args",
        "bearer_token_env_var",
        "command",
        "cwd",
        "env",
        "env_http_headers",
        "environment",
        "headers",
        "http_headers",
        "httpUrl",
        "type",
        "url",
    }
)
"""How the server is reached; everything else in an entry is the user's."""


_EMPTY_BY_DEFAULT = frozenset({"args", "env", "environment", "headers"})


def _remote_entry(agent: ConnectableAgent, server: RemoteServer) -> dict[str, Any]:
    """Return the entry for a server over HTTP."""
    headers = {"Authorization": f"Bearer {server.token}"}
    if agent.name == "codex":
        # It tells no roots, so a header names the folder in which it was started.
        folder = {"Hivemind-Project": "PWD"}
        return {
            "url": server.url,
            "http_headers": headers,
            "env_http_headers": folder,
        }
    if agent.name == "qwen":
        return {"httpUrl": server.url, "headers": headers}
    if agent.name == "cursor":
        return {"url": server.url, "headers": headers}
    kind = {"type": "remote" if agent.name == "opencode" else "http"}
    return {**kind, "url": server.url, "headers": headers}


def _without_defaults(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry without values that equal the default."""
    return {
        key: value
        for key, value in entry.items()
        if (key, value) != ("type", "stdio") and (value or key not in _EMPTY_BY_DEFAULT)
    }


def _mapping(value: Any) -> dict[str, Any]:
    """Return a value if it is a mapping, else an empty one."""
    return dict(value) if isinstance(value, Mapping) else {}
