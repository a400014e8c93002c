"""The entry of our server in an agent's settings, and what of an old one stays.

An entry is for a program or for an address. What says how the server is reached is
written whole, because some agents refuse to start if an entry has keys of both kinds.
Everything else in an entry is the user's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from hivemind_memory.connect.agents import AGENTS, ConnectableAgent, EntryForm
from hivemind_memory.files.home import HOME_VARIABLE
from hivemind_memory.model.agents import PROJECT_HEADER
from hivemind_memory.model.value import value
from hivemind_memory.patterns.lazy_pattern import lazy_re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@value
class LocalServer:
    """The server as a program that each agent starts."""

    command: tuple[str, ...]
    home: str = ""
    """HIVEMIND_HOME for it: agents pass few variables on. Empty: the default."""


@value
class RemoteServer:
    """The server as a running one, reached over HTTP."""

    url: str
    token: str


def server_entry(
    agent: ConnectableAgent, server: LocalServer | RemoteServer
) -> dict[str, Any]:
    """Return the entry for the server in an agent's file.

    >>> server_entry(AGENTS[0], LocalServer(command=("hm", "mcp")))
    {'type': 'stdio', 'command': 'hm', 'args': ['mcp']}
    """
    form = agent.form
    if isinstance(server, RemoteServer):
        kind = {"type": form.remote_type} if form.remote_type else {}
        headers = {"Authorization": f"Bearer {server.token}"}
        if form.project:
            headers[PROJECT_HEADER] = form.project
        return {
            **kind,
            form.url: server.url,
            form.headers: headers,
            **form.remote_extra,
            **form.extra,
        }
    entry: dict[str, Any] = {"type": form.local_type} if form.local_type else {}
    if form.has_one_list:
        entry["command"] = list(server.command)
    else:
        entry |= {"command": server.command[0], "args": list(server.command[1:])}
    env = {form.env: {HOME_VARIABLE: server.home}} if server.home else {}
    return entry | env | {**form.local_extra, **form.extra}


def merged(old: Any, wanted: Mapping[str, Any], form: EntryForm) -> dict[str, Any]:
    """Return the wanted entry, with everything else that the user set there.

    >>> merged({"command": "old", "timeout": 5}, {"command": "hm"}, EntryForm())
    {'command': 'hm', 'timeout': 5}
    """
    if not isinstance(old, Mapping):
        return dict(wanted)
    new = dict(wanted)
    is_local = is_for_program(wanted)
    if is_local:
        for key in sorted({known.env for known in (form, *_FORMS)}):
            kept = _mapping(old.get(key))
            kept.pop(HOME_VARIABLE, None)
            if kept:
                new[key] = kept | _mapping(new.get(key))
        for key, ours in form.local_extra.items():
            if isinstance(ours, list) and isinstance(old.get(key), list):
                new[key] = [*old[key], *(name for name in ours if name not in old[key])]
    transport = _transport_keys(form) | (_OF_ADDRESSES if is_local else set())
    return new | {key: value for key, value in old.items() if key not in transport}


def is_same(old: Any, wanted: Mapping[str, Any], form: EntryForm) -> bool:
    """Return whether an entry already says what is wanted."""
    if not isinstance(old, Mapping):
        return False
    new = merged(old, wanted, form)
    return _without_defaults(old, form) == _without_defaults(new, form)


def is_for_program(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry names a program, rather than an address."""
    return "command" in entry


def is_mixed(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry names both a program and an address."""
    return is_for_program(entry) and any(form.url in entry for form in _FORMS)


def runs_hm(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is for this program.

    >>> runs_hm({"command": "/bin/hm", "args": ["mcp"]}), runs_hm({"command": "npx"})
    (True, False)
    """
    command, args = entry.get("command"), entry.get("args")
    words = [command] if isinstance(command, str) else list(command or ())
    words += args if isinstance(args, list) else []
    texts = [word for word in words if isinstance(word, str)]
    is_named = any(os.path.basename(text) in _PROGRAMS for text in texts)
    # A shell that runs it has the whole command in one word.
    return (is_named and "mcp" in texts) or any("hm mcp" in text for text in texts)


def is_foreign(entry: Any) -> bool:
    """Return whether an entry under our name was certainly not written by hm.

    Our server over HTTP is on this machine, or is told the project.

    >>> is_foreign({"url": "https://example.com/sse"}), is_foreign({"enabled": False})
    (True, False)
    """
    if not isinstance(entry, Mapping):
        return False
    if is_for_program(entry):
        return not runs_hm(entry)
    urls = [entry[form.url] for form in _FORMS if isinstance(entry.get(form.url), str)]
    if not urls:
        return False
    keys = {*(form.headers for form in _FORMS), "env_http_headers"}
    headers = {name.lower() for key in keys for name in _mapping(entry.get(key))}
    return PROJECT_HEADER.lower() not in headers and not _LOCAL_URL.match(urls[0])


def switched_off_by(settings: Any, table: str, name: str) -> str:
    """Return the setting that switches a server off; empty: it is on.

    >>> switched_off_by({"mcp": {"excluded": ["hm"]}}, "mcpServers", "hm")
    'mcp.excluded'
    """
    whole = _mapping(settings)
    entry = _mapping(_mapping(whole.get(table)).get(name))
    rules = _mapping(whole.get("mcp"))
    excluded, allowed = rules.get("excluded"), rules.get("allowed")
    if entry.get("enabled") is False:
        return f"{table}.{name}.enabled"
    if entry.get("disabled") is True:
        return f"{table}.{name}.disabled"
    if isinstance(excluded, list) and name in excluded:
        return "mcp.excluded"
    if isinstance(allowed, list) and allowed and name not in allowed:
        return "mcp.allowed"
    return ""


_FORMS = tuple(agent.form for agent in AGENTS)

_PROGRAMS = frozenset({"hm", "hm.exe", "hivemind_memory.cli"})
"""What runs this program: its name, or its module."""

_LOCAL_URL = lazy_re(r"https?://(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?::\d+)?/mcp")

_FIXED_KEYS = frozenset({"args", "bearer_token_env_var", "command", "cwd", "type"})
"""Keys of how the server is reached that are the same wherever an agent has them."""

_OF_ADDRESSES = frozenset({"oauth", "oauth_resource"})
"""Keys that are the user's for an address, and that Codex refuses for a program."""


def _transport_keys(form: EntryForm) -> set[str]:
    """Return the keys of how the server is reached; all others are the user's.

    Those of every agent, because people copy an entry from one agent to another.
    """
    keys = set(_FIXED_KEYS)
    for known in (form, *_FORMS):
        keys |= {known.env, known.url, known.headers}
        keys |= {*known.local_extra, *known.remote_extra}
    return keys


def _without_defaults(entry: Mapping[str, Any], form: EntryForm) -> dict[str, Any]:
    """Return an entry without values that equal the default."""
    may_be_empty = {"args"}
    for known in (form, *_FORMS):
        may_be_empty |= {known.env, known.headers}
    return {
        key: value
        for key, value in entry.items()
        if (key, value) != ("type", "stdio") and (value or key not in may_be_empty)
    }


def _mapping(value: Any) -> dict[str, Any]:
    """Return a value if it is a mapping, else an empty one."""
    return dict(value) if isinstance(value, Mapping) else {}
