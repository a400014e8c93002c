"""What an agent can be given beside the server: a hook at its start, and permissions.

Edits a draft of the file where both are kept. Hooks and rules of others stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hivemind_memory.connect.draft import Draft
from hivemind_memory.errors import NotConnectedError

READING_TOOLS = ("memory_search", "memory_get", "memory_list", "memory_history")
"""Those that change nothing. ``memory_write`` is not among them: what one session
writes, every later one reads, so a person should see it, or decide so in the agent."""

RULES = tuple(f"mcp__hivemind__{tool}" for tool in READING_TOOLS)

HOOKED = ("claude", "gemini")
"""Agents with a hook at the start of a session that was tried."""

ALLOWED = ("claude",)

_EVENT = ("hooks", "SessionStart")
_ALLOW = ("permissions", "allow")
_OURS = re.compile(
    r"(?:\bhm(?:\.exe)?|hivemind_memory\.cli)['\"]? hook session-start\b"
)
_TIMEOUT_S = 10


def put_hook(draft: Draft, agent: str, command: str, *, is_wanted: bool) -> str:
    """Add our hook, or renew one that is there; return what was done: a word or none.

    Args:
        draft: Of the agent's settings.
        agent: Its name.
        command: What the hook runs, for a shell.
        is_wanted: Whether to add one; an old one of ours is renewed in any case.
    """
    found = list(_hooks_of_ours(draft))
    if not found:
        if not is_wanted:
            return ""
        place = len(draft.value_at(_EVENT) or ())
        draft.put((*_EVENT, place), {"hooks": [_hook(agent, command)]})
        return "hook added"
    group, at, hook = found[0]
    if hook["command"] == command:
        return ""
    draft.put((*_EVENT, group, "hooks", at, "command"), command)
    return "hook renewed"


def has_hook(draft: Draft) -> bool:
    """Whether a hook of ours is there."""
    return next(_hooks_of_ours(draft), None) is not None


def drop_hooks(draft: Draft) -> None:
    """Take every hook of ours away."""
    # From the last one on, so that the places of the others stay true.
    for group, at, _ in reversed(list(_hooks_of_ours(draft))):
        hooks = draft.value_at((*_EVENT, group, "hooks"))
        draft.drop((*_EVENT, group, *(("hooks", at) if len(hooks) > 1 else ())))


def put_rules(draft: Draft) -> None:
    """Allow the tools that only read."""
    for rule in RULES:
        rules = _list_at(draft, _ALLOW)
        if rule not in rules:
            draft.put((*_ALLOW, len(rules)), rule)


def drop_rules(draft: Draft) -> None:
    """Take those permissions away."""
    rules = _list_at(draft, _ALLOW)
    for at in reversed(range(len(rules))):
        if rules[at] in RULES:
            draft.drop((*_ALLOW, at))


def _hook(agent: str, command: str) -> dict[str, Any]:
    """Return a hook as an agent writes it; only one of them counts in seconds."""
    if agent == "gemini":
        named = {"name": "hivemind", "type": "command", "command": command}
        return named | {"timeout": _TIMEOUT_S * 1000}
    return {"type": "command", "command": command, "timeout": _TIMEOUT_S}


def _hooks_of_ours(draft: Draft) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield each hook of ours: number of its group, its own, and what it says."""
    for group, value in enumerate(_list_at(draft, _EVENT)):
        hooks = value.get("hooks") if isinstance(value, dict) else None
        for at, hook in enumerate(hooks if isinstance(hooks, list) else ()):
            command = hook.get("command") if isinstance(hook, dict) else None
            if isinstance(command, str) and _OURS.search(command):
                yield group, at, hook


def _list_at(draft: Draft, path: tuple[str, ...]) -> list[Any]:
    """Return a list of the settings; empty when it is not there."""
    value = draft.value_at(path)
    if value is None:
        return []
    if not isinstance(value, list):
        message = f"{'.'.join(path)} is not a list in the agent's settings."
        raise NotConnectedError(message, hint="Repair the file, then try again.")
    return value
