"""hm mcp: starts the server for agents, and makes sure that it exits."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.options import PORT
from hivemind_memory.cli.output import is_terminal, write_stderr
from hivemind_memory.errors import HivemindError, NotLaunchedError, UsageError
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


@command(
    "mcp",
    description=(
        "The agent that starts it talks to it over standard input and output, and it"
        " exits when the agent does. With --http it keeps running and serves any"
        " number of agents on this machine; each must send the token as Authorization:"
        " Bearer TOKEN. While it runs it keeps the index up to date, as hm watch does."
    ),
    flags=(
        Flag(("--http",), "flag", "Serve over HTTP, on 127.0.0.1 only."),
        Flag(
            ("--port",),
            "int",
            f"Port for --http ({PORT}); 0 takes any free one.",
            metavar="N",
            low=0,
            high=65535,
        ),
        Flag(
            ("--token-file",),
            "path",
            "File with the token for --http, created if it does not exist"
            " (mcp-token in the home folder).",
            metavar="FILE",
        ),
        Flag(
            ("--project",),
            "text",
            "Project whose memory is read and written: a name, none, or auto, the"
            " default: that of the folder in which the server starts.",
            metavar="NAME",
        ),
        Flag(
            ("--team",),
            "text",
            "Teams whose memory is read and written, separated by commas.",
            metavar="NAMES",
            is_list=True,
        ),
        Flag(
            ("--workspace",),
            "text",
            "Workspace whose memory is read and written.",
            metavar="NAME",
        ),
        Flag(
            ("--toolset",),
            "text",
            "Further tools to offer, separated by commas: context, briefing, skills.",
            metavar="NAMES",
            is_list=True,
        ),
    ),
    examples=("hm mcp", "hm mcp --http --port 8737"),
)
def mcp(request: CommandRequest) -> int:
    """Serve until the client leaves; with --http until the process is told to exit."""
    import logging

    from hivemind_memory import environment, opening

    values = request.values
    is_http = values["http"]
    if not is_http and (values["port"] is not None or values["token_file"]):
        raise UsageError("--port and --token-file need --http.")
    # Before the SDK, whose own handler would draw boxes.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    require_sdk()
    from hivemind_memory.mcp_server import client_memory
    from hivemind_memory.mcp_server.server_state import ServerState

    workspace, teams = values["workspace"] or "", values["team"] or ""
    # Over HTTP each connection brings its project, unless the server was given one.
    given = environment.given_project(values["project"] or "")
    project = given or ("none" if is_http else "")
    warn_of_new_project(given, request.memory_dir)
    scope_request = environment.agent_scope_request(
        project=project, workspace=workspace, teams=teams
    )
    _check_not_wider(scope_request, request.memory_dir)
    own_folder = "" if is_http or given else _current_folder()
    server_state = ServerState(
        lambda: opening.open_memory(
            memory_dir=request.memory_dir, scope_request=scope_request
        ),
        opening.open_watcher,
        None
        if given
        else lambda named: client_memory.open_connection_memory(
            named, memory_dir=request.memory_dir, workspace=workspace, teams=teams
        ),
        own_folder=own_folder,
        open_for_token=lambda named, token: client_memory.open_token_memory(
            given or named,
            token,
            memory_dir=request.memory_dir,
            workspace=workspace,
            teams=teams,
        ),
        more_scopes=_more_scopes(scope_request),
        toolsets=toolsets_of(values["toolset"]),
        activity=activity_of(request.memory_dir),
    )
    session = environment.new_session()
    try:
        if is_http:
            from hivemind_memory.files import places
            from hivemind_memory.mcp_server.http import serve_http
            from hivemind_memory.mcp_server.server import make_server

            home = environment.resolve_home(None)
            token_file = values["token_file"] or places.token_file(home)
            port = PORT if values["port"] is None else values["port"]
            server_state.start()
            serve_http(
                make_server(server_state, session),
                port,
                token_file,
                _announce,
                find_token(request.memory_dir),
            )
        else:
            from hivemind_memory.files.places import find_above
            from hivemind_memory.mcp_server.startup import serve_standard_streams

            if is_terminal(sys.stdin):
                write_stderr(
                    "This is for agents, which speak JSON-RPC here. Ctrl-C stops it.\n"
                )
            is_nowhere = bool(own_folder) and not find_above(own_folder, ".git")
            serve_standard_streams(server_state, session, asks_for_roots=is_nowhere)
    except BaseException:
        server_state.close(CLOSE_S)
        raise
    leave(server_state)
    return 0


def _more_scopes(scope_request: ScopeRequest) -> tuple[str, ...]:
    """Return the kinds of scopes that agents have besides project and global."""
    from hivemind_memory import environment
    from hivemind_memory.mcp_server.offered_scopes import kinds_of

    name, teams = scope_request.workspace, scope_request.teams
    try:
        has_tree = bool(name) and bool(environment.load_settings().workspaces)
    except HivemindError:
        has_tree = False  # each call says what is wrong with config.json
    return kinds_of(name, teams, has_tree=has_tree)


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


def _current_folder() -> str:
    """Return the folder in which the server starts; empty if it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def require_sdk() -> None:
    """Raise, and say what to install, if the SDK is missing."""
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
    _check_not_wider(environment.agent_scope_request(workspace=name), None)


def _check_not_wider(scope_request: ScopeRequest, memory_dir: str | None) -> None:
    """Refuse scopes that a limited shell does not have.

    Raises:
        ScopeError: There are some.
    """
    from hivemind_memory import environment, opening
    from hivemind_memory.access.callers import check_not_wider

    if not environment.names_scopes():
        return
    limit = environment.agent_scope_request()
    if scope_request == limit:
        return
    callers = []
    for request in (scope_request, limit):
        with opening.open_memory(
            memory_dir=memory_dir, scope_request=request
        ) as memory:
            callers.append(memory.caller)
    check_not_wider(*callers)


def _announce(url: str, token_file: str) -> None:
    """Say where the server is and where its token is."""
    write_stderr(f"serving {url}\ntoken in {escape_line(token_file)}\n")


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


def check_launch(agent: str, folder: str | None, workspace: str) -> None:
    """Refuse to start an agent for a workspace of which its tools would not know.

    Raises:
        NotLaunchedError: The agent is connected over HTTP.
    """
    from shlex import quote

    from hivemind_memory.connect.connection import is_connected_over_http

    root, home = os.path.realpath(folder or os.curdir), os.path.expanduser("~")
    if is_connected_over_http(agent, root, home, os.environ):
        raise NotLaunchedError(
            f"{agent} is connected over HTTP, so its tools would not use the workspace"
            f" {workspace}.",
            hint=f"Run `hm connect {quote(agent)}`, then try again.",
        )
