"""What the commands that start or announce a server for agents share.

What such a server is made of, which scopes it may have, and how it ends.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from hivemind_memory.cli.output import write_stderr
from hivemind_memory.errors import HivemindError
from hivemind_memory.model.display import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.access.callers import ScopeRequest
    from hivemind_memory.curation.access_tokens import AccessTokens
    from hivemind_memory.mcp_server.server_state import ActivityParts, ServerState
    from hivemind_memory.state.tokens import Token
    from hivemind_memory.transcripts.activity import Activity

CLOSE_S = 0.8
"""How long closing may take; the client has left, and nothing depends on it."""


def require_sdk() -> None:
    """Raise, and say what to install, if the SDK is missing.

    Of pydantic, which it brings, no plugins are used: to look for them in all packages
    takes a while, and they would read what the server is asked and answers.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise HivemindError(
            "The SDK for the Model Context Protocol is not installed.",
            hint="Install hivemind-memory again: the SDK comes with it.",
        )


def check_workspace(name: str) -> None:
    """Refuse a workspace that the server of an agent could not have.

    Nothing says which there are without a tree of them: a new one is named as such.

    Raises:
        ScopeError: There is no such workspace in config.json, or this shell is limited
            to others.
        ConfigError: config.json cannot be used.
    """
    from hivemind_memory import environment, opening
    from hivemind_memory.files.near_scope import workspace_notice
    from hivemind_memory.model.value import replaced

    scope_request = environment.agent_scope_request(workspace=name, project="none")
    # The refusal is for the one who types this, not for the agent of the server.
    asked = replaced(
        scope_request,
        is_agent=environment.is_agents_shell(),
        is_typed_by_owner=environment.shell_scope_request() is None,
    )
    with opening.open_memory(scope_request=asked) as memory:
        notes, scope = memory.places.notes, memory.caller.workspace
        has_tree = bool(memory.settings.workspaces)
    if notice := workspace_notice(notes, scope, has_tree=has_tree):
        write_stderr(f"{escape_line(notice)}\n")
    check_not_wider(environment.agent_scope_request(workspace=name), None)


def check_not_wider(scope_request: ScopeRequest, memory_dir: str | None) -> None:
    """Refuse scopes that a limited shell does not have.

    Raises:
        ScopeError: There are some.
    """
    from hivemind_memory import environment, opening
    from hivemind_memory.access import callers

    if not environment.names_scopes():
        return
    limit = environment.agent_scope_request()
    if scope_request == limit:
        return
    seen = []
    for request in (scope_request, limit):
        with opening.open_memory(
            memory_dir=memory_dir, scope_request=request
        ) as memory:
            seen.append(memory.caller)
    callers.check_not_wider(*seen)


def warn_of_new_project(name: str, memory_dir: str | None) -> None:
    """Say so if a project without notes is named like one that has some."""
    if not name:
        return
    from hivemind_memory import environment
    from hivemind_memory.files.near_scope import nearest_scope
    from hivemind_memory.files.places import notes_folder

    notes = memory_dir or notes_folder(environment.resolve_home())
    if near := nearest_scope(notes, f"projects/{name}"):
        meant = near.partition("/")[2]
        write_stderr(
            f"projects/{escape_line(name)} has no notes yet;"
            f" did you mean --project {escape_line(meant)}?\n"
        )


def toolsets_of(text: str | None) -> tuple[str, ...]:
    """Return the toolsets that a flag names; without it, those of the options.

    Raises:
        ConfigError: The flag names one that does not exist.
    """
    from hivemind_memory import environment
    from hivemind_memory.cli.text_input import split_items

    flags = {} if text is None else {"toolsets": list(split_items(text))}
    return tuple(environment.load_settings(flags=flags).toolsets)


def activity_of(memory_dir: str | None) -> ActivityParts:
    """Return what the options say of activity: what to search, and what records."""
    from hivemind_memory import environment
    from hivemind_memory.mcp_server.server_state import ActivityParts

    settings = environment.load_settings()
    has_activity = bool(settings.activity or settings.session_sources)
    if not settings.activity:
        return ActivityParts(has_activity)
    from hivemind_memory.mcp_server.activity_recorder import ActivityRecorder

    def open_activity() -> Activity:
        from hivemind_memory import opening
        from hivemind_memory.access.callers import ScopeRequest

        memory = opening.open_memory(
            memory_dir=memory_dir, scope_request=ScopeRequest(is_agent=True)
        )
        return opening.open_activity(memory)

    return ActivityParts(has_activity, ActivityRecorder(open_activity))


def find_token(memory_dir: str | None) -> Callable[[str], Token | None]:
    """Return what finds whom a secret stands for, opened with its first use."""
    from functools import cache

    @cache
    def tokens() -> AccessTokens:
        from hivemind_memory import opening
        from hivemind_memory.access.callers import ScopeRequest
        from hivemind_memory.curation.access_tokens import AccessTokens

        memory = opening.open_memory(
            memory_dir=memory_dir, scope_request=ScopeRequest(is_agent=True)
        )
        return AccessTokens(memory.state(), memory.clocks, memory.caller)

    return lambda secret: tokens().admit(secret)


def leave(server_state: ServerState) -> None:
    """Close what can be closed at once, and exit the process."""
    server_state.close(CLOSE_S)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    # Python would wait for a call whose client has left, and take apart the modules
    # for longer than all of the above. The notes are safe at every moment, and the
    # system frees the locks.
    os._exit(0)
