"""The command mcp: starts the server for agents, and sees to it that it ends."""

from __future__ import annotations

import logging
import os
import sys
import threading

from hivemind_memory import wiring
from hivemind_memory.cli.escape import escape_line
from hivemind_memory.cli.streams import is_terminal, write_stderr
from hivemind_memory.errors import HivemindError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.cli.parse import CommandRequest
    from hivemind_memory.mcp_server.server_state import ServerState

PORT = 8737
CLOSE_S = 0.8
"""So long may closing take; the client has left, and nothing depends on it."""


def mcp(request: CommandRequest) -> int:
    """Serve until the client leaves; with --http until the process is told to end."""
    values = request.values
    is_http = values["http"]
    if not is_http and (values["port"] is not None or values["token_file"]):
        raise UsageError("--port and --token-file need --http.")
    # Before the SDK, which would draw boxes.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    require_sdk()
    from hivemind_memory.mcp_server.server_state import ServerState

    scopes = {"workspace": values["workspace"] or "", "teams": values["team"] or ""}
    # Over HTTP each connection brings its project, unless the server was given one.
    given = wiring.given_project(values["project"] or "")
    project = given or ("none" if is_http else "")
    scope_request = wiring.agent_scope_request(project=project, **scopes)
    server_state = ServerState(
        lambda: wiring.open_memory(
            memory_dir=request.memory_dir, scope_request=scope_request
        ),
        wiring.open_watcher,
        None
        if given
        else lambda named: wiring.open_connection_memory(
            named, memory_dir=request.memory_dir, **scopes
        ),
    )
    session = wiring.new_session()
    try:
        if is_http:
            from hivemind_memory.mcp_server.http import serve_http
            from hivemind_memory.mcp_server.server import make_server

            home = wiring.resolve_home(None)
            token_file = values["token_file"] or os.path.join(home, "mcp-token")
            port = PORT if values["port"] is None else values["port"]
            server_state.start()
            serve_http(make_server(server_state, session), port, token_file, _announce)
        else:
            from hivemind_memory.mcp_server.startup import serve_standard_streams

            if is_terminal(sys.stdin):
                write_stderr(
                    "This is for agents: they speak JSON-RPC here. Ctrl-C ends it.\n"
                )
            serve_standard_streams(server_state, session)
    finally:
        _leave(server_state)
    return 0


def require_sdk() -> None:
    """Say what to install when the SDK is missing."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise HivemindError(
            "The SDK for the Model Context Protocol is not installed.",
            hint="pip install 'hivemind-memory[mcp]'",
        )


def _announce(url: str, token_file: str) -> None:
    """Say where the server is and where its token lies."""
    write_stderr(f"serving {url}\ntoken in {escape_line(token_file)}\n")


def _leave(server_state: ServerState) -> None:
    """Close what can be closed at once, and end the process if something cannot."""
    is_closed = server_state.close(CLOSE_S)
    others = [
        one
        for one in threading.enumerate()
        if one is not threading.main_thread() and not one.daemon
    ]
    # Python would wait for such a thread, that is for a call whose asker has left. The
    # notes are safe at every moment, and the system frees the locks.
    if others or not is_closed:
        os._exit(0)
