"""Opens the memory as a client over HTTP sees it: its connection and token decide."""

from __future__ import annotations

import os

from hivemind_memory import opening
from hivemind_memory.access.rules import Caller
from hivemind_memory.environment import agent_scope_request
from hivemind_memory.memory.memory import Memory
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.state.tokens import Token


def open_connection_memory(
    project: str,
    *,
    memory_dir: str | None = None,
    workspace: str = "",
    teams: str = "",
    is_read_only: bool = False,
) -> Memory:
    """Return the memory as an agent that is connected over HTTP sees it.

    *project* is ``none``, a name, or the absolute path of a folder, which stands for
    the project of its repository. *teams* are separated by commas.
    """
    folder = project if os.path.isabs(project) else None
    request = agent_scope_request(
        workspace=workspace,
        teams=teams,
        project="auto" if folder else project,
        is_read_only=is_read_only,
    )
    return opening.open_memory(
        memory_dir=memory_dir,
        scope_request=request,
        folder=folder,
        is_look=is_read_only,  # a project that is new would get a folder
    )


def open_token_memory(
    project: str,
    token: Token,
    *,
    memory_dir: str | None = None,
    workspace: str = "",
    teams: str = "",
) -> Memory:
    """Return the memory as the client of a named token sees it.

    Args:
        project: As the connection names it; empty: it names none.
        token: Its own scopes come first.
        memory_dir: Folder of notes; None: that of the home folder.
        workspace: Workspace of the server.
        teams: Teams of the server, separated by commas.
    """
    return open_connection_memory(
        token.project or project or "none",
        memory_dir=memory_dir,
        workspace=token.workspace or workspace,
        teams=",".join(token.teams) or teams,
        is_read_only=token.is_read_only,
    )


def open_owner_connection_memory(memory_dir: str | None = None) -> Memory:
    """Return the memory as a program sees it that its owner gave all rights to.

    It sees every scope, and may not do what only a person may decide. No folder says
    which project it means.
    """
    with opening.open_memory(memory_dir=memory_dir) as memory:
        return _as_seen_by(memory, replaced(memory.caller, is_agent=True))


def open_person_memory(memory_dir: str | None = None) -> Memory:
    """Return the memory as its owner sees it, who decides what only a person may."""
    with opening.open_memory(memory_dir=memory_dir) as memory:
        return _as_seen_by(memory, memory.caller)


def open_visitor_memory(memory_dir: str | None = None) -> Memory:
    """Return the memory as whoever has no token sees it: what is public, to read."""
    with opening.open_memory(memory_dir=memory_dir) as memory:
        caller = Caller(
            is_root=False,
            is_member=False,
            is_agent=True,
            is_read_only=True,
            public_projects=memory.settings.public_projects(),
        )
        return _as_seen_by(memory, caller)


def _as_seen_by(memory: Memory, caller: Caller) -> Memory:
    """Return the same memory for a caller that is in no folder."""
    parts = (memory.places, memory.settings, memory.provider, memory.clocks)
    return Memory(*parts, caller=caller, open_worktrees=opening.open_worktrees)
