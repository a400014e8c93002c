"""hm mcp: starts the server for agents, and makes sure that it exits."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.options import PORT
from hivemind_memory.cli.output import is_terminal, write_stderr
from hivemind_memory.errors import HivemindError, UsageError
from hivemind_memory.model.display import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.access.callers import ScopeRequest
    from hivemind_memory.files.server_start import ServerStart


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
            f"Port for --http ({PORT}); 0 picks any free port.",
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
            "Project whose memory is read and written: a name, none, or auto (the"
            " default), the project of the folder in which the server starts.",
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
    from hivemind_memory.cli.agent_server import (
        CLOSE_S,
        activity_of,
        check_not_wider,
        find_token,
        leave,
        require_sdk,
        toolsets_of,
        warn_of_new_project,
    )
    from hivemind_memory.files.server_start import ServerStart

    values = request.values
    is_http = values["http"]
    if not is_http and (values["port"] is not None or values["token_file"]):
        raise UsageError("--port and --token-file need --http.")
    start = ServerStart(environment.resolve_home(None), os.getppid())
    if not is_http:
        _end_when_told(start)
        start.begin()
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
    check_not_wider(scope_request, request.memory_dir)
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
            serve_standard_streams(
                server_state,
                session,
                start.tools_listed,
                asks_for_roots=is_nowhere,
            )
    except BaseException:
        start.end()
        server_state.close(CLOSE_S)
        raise
    start.end()
    leave(server_state)
    return 0


def _end_when_told(start: ServerStart) -> None:
    """Leave no file of the start if the process is told to end before it serves."""
    import signal

    def end(number: int, _frame: object) -> None:
        start.end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    with suppress(ValueError):  # only the main thread may heed signals
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, end)


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


def _current_folder() -> str:
    """Return the folder in which the server starts; empty if it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _announce(url: str, token_file: str) -> None:
    """Say where the server is and where its token is."""
    write_stderr(f"serving {url}\ntoken in {escape_line(token_file)}\n")
