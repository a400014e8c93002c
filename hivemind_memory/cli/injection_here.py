"""Says for ``hm status`` what agents are told of the memory in the current folder."""

from __future__ import annotations

import os

from hivemind_memory.cli.dates import minute_text
from hivemind_memory.errors import HivemindError, StateTooNewError
from hivemind_memory.model.display import count_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hivemind_memory.inject.injector import Injector
    from hivemind_memory.memory import Memory

_NONE_CONNECTED = "none connected; `hm connect` does it"
_TURNED_OFF = "off for this repository; `hm inject --on` turns it on"
_NO_SECTION = "no section; `hm inject` writes one"


def agents_text(memory: Memory, connected: Sequence[str]) -> str:
    """Return the titles of connected agents, those with a session hook marked."""
    import shutil

    from hivemind_memory.connect.agents import AGENTS
    from hivemind_memory.connect.connector import Connector
    from hivemind_memory.connect.plans import HostEnvironment

    host = HostEnvironment(
        home=memory.places.home,
        user_home=os.path.expanduser("~"),
        environ=os.environ,
        find_program=shutil.which,
    )
    connector = Connector(host)
    titles = []
    for agent in AGENTS:
        if agent.title in connected:
            has_hook = connector.plan_disconnect(agent).has_hook
            titles.append(f"{agent.title}{' (with its hook)' if has_hook else ''}")
    return ", ".join(titles) or _NONE_CONNECTED


def injection_text(memory: Memory) -> str:
    """Return whether the current folder has a section, or why it gets none."""
    from hivemind_memory import opening

    try:
        return _text(opening.open_injector(memory), os.getcwd())
    except StateTooNewError:  # the status has said it
        return "unknown"
    except (HivemindError, OSError) as error:
        return f"unknown: {error}"


def _text(injector: Injector, folder: str) -> str:
    """Return what a folder has, and whether new worktrees get it too."""
    from hivemind_memory.inject.git_settings import GitSettings

    repository = injector.repository_of(folder)
    if repository and not GitSettings(repository).is_on():
        return _TURNED_OFF
    text = _section_text(injector.why(folder))
    return (
        f"{text}; new worktrees get one" if repository and _has_hook(folder) else text
    )


def _section_text(record: dict[str, Any] | None) -> str:
    """Return where the memories of a record are, and since when."""
    if not record or not record["is_there"]:
        return _NO_SECTION
    count = count_text(len(record["memories"]), "memory", "memories")
    when = minute_text(record["seen_at"] or record["at"])
    if not record["file"]:
        return f"{count}, told to a session at {when}"
    return f"{count} in {record['file']}, checked {when}"


def _has_hook(folder: str) -> bool:
    """Return whether the hook that injects into new worktrees is installed."""
    from hivemind_memory.environment import git_environ
    from hivemind_memory.launch import new_worktree_hook

    try:
        return new_worktree_hook.state(folder, git_environ()).is_installed
    except HivemindError:
        return False
