"""hm serve: one server for agents and for other programs, on this machine only."""

from __future__ import annotations

import sys
from contextlib import ExitStack

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.options import PORT
from hivemind_memory.cli.output import write_stderr
from hivemind_memory.errors import UsageError
from hivemind_memory.model.display import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hivemind_memory.mcp_server.http_sessions import App

MAX_CONNECTIONS = 4096
_WHAT = "`hm serve`"
_LOCAL = ("127.0.0.1", "localhost")


@command(
    "serve",
    description=(
        "Serves agents over MCP and other programs over a REST API, on 127.0.0.1 only,"
        " until Ctrl-C. A request must send a token as Authorization: Bearer TOKEN: the"
        " server's own, which sees everything, or one from hm token add. With"
        " --public, requests without one may read what is public: the global memory,"
        " and projects whose visibility is public in config.json. With --plugin, it is"
        " also a memory plugin for agent platforms, at /v1. While it runs it keeps the"
        " index up to date, as hm watch does."
    ),
    flags=(
        Flag(
            ("--port",),
            "int",
            f"Port ({PORT}); 0 picks any free port.",
            metavar="N",
            low=0,
            high=65535,
        ),
        Flag(
            ("--host",),
            "text",
            "Address to listen on; only 127.0.0.1 is accepted.",
            metavar="ADDRESS",
        ),
        Flag(
            ("--token-file",),
            "path",
            "File with the server's own token, created if it does not exist (mcp-token"
            " in the home folder).",
            metavar="FILE",
        ),
        Flag(
            ("--public",), "flag", "Let requests without a token read what is public."
        ),
        Flag(("--plugin",), "flag", "Serve memory-plugin v1 at /v1."),
        Flag(
            ("--socket",),
            "path",
            "Serve the plugin on this Unix socket too, without a token: only your own"
            " processes can connect to it.",
            metavar="PATH",
        ),
        Flag(
            ("--no-token",),
            "flag",
            "Let every process on this machine use the plugin without a token.",
        ),
    ),
    examples=(
        "hm serve",
        "hm serve --port 8800 --public",
        "hm serve --plugin --socket ~/.hivemind/plugin.sock",
    ),
)
def serve(request: CommandRequest) -> int:
    """Serve until the process is told to exit."""
    import logging

    from hivemind_memory import environment, opening
    from hivemind_memory.cli.agent_server import (
        CLOSE_S,
        activity_of,
        find_token,
        leave,
        require_sdk,
        toolsets_of,
    )

    values = request.values
    _check_address(values["host"] or _LOCAL[0])
    if (values["socket"] or values["no_token"]) and not values["plugin"]:
        raise UsageError("--socket and --no-token need --plugin.")
    with opening.open_memory(memory_dir=request.memory_dir) as memory:
        from hivemind_memory.access.rules import check_owner, check_person

        check_person(memory.caller, _WHAT)
        check_owner(memory.caller, _WHAT)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    require_sdk()
    from hivemind_memory.files import places
    from hivemind_memory.http_api.app import refuse
    from hivemind_memory.mcp_server import client_memory
    from hivemind_memory.mcp_server.http_listen import serve_app
    from hivemind_memory.mcp_server.server_state import ServerState
    from hivemind_memory.mcp_server.token_file import read_token

    memory_dir = request.memory_dir
    state = ServerState(
        lambda: opening.open_memory(
            memory_dir=memory_dir,
            scope_request=environment.agent_scope_request(project="none"),
        ),
        opening.open_watcher,
        lambda named: client_memory.open_connection_memory(
            named, memory_dir=memory_dir
        ),
        open_for_token=lambda named, token: client_memory.open_token_memory(
            named, token, memory_dir=memory_dir
        ),
        toolsets=toolsets_of(None),
        activity=activity_of(memory_dir),
    )
    token_file = values["token_file"] or places.token_file(
        environment.resolve_home(None)
    )
    token = read_token(token_file)
    is_public = values["public"]

    mounts: dict[str, App] = {}

    session = environment.new_session()

    def make(port: int) -> App:
        from hivemind_memory.dashboard.mount import dashboard_mount
        from hivemind_memory.http_api.app import make_app
        from hivemind_memory.http_api.mounts import make_mounts, plugin_mount

        mounts.update(
            make_mounts(state, port, token, memory_dir=memory_dir, session=session)
        )
        mounts.update(
            dashboard_mount(
                state,
                token,
                find_token(memory_dir),
                memory_dir=memory_dir,
                is_public=is_public,
            )
        )
        if values["plugin"]:
            mounts.update(plugin_mount(state, memory_dir=memory_dir, session=session))
        return make_app(
            mounts,
            port,
            token,
            find_token=find_token(memory_dir),
            is_public=is_public,
            is_plugin_open=values["no_token"],
        )

    port = PORT if values["port"] is None else values["port"]
    _allow_files()
    try:
        with ExitStack() as stack:
            also_on = []
            if values["socket"]:
                from hivemind_memory.http_api.plugin_clients import unix_socket

                also_on.append(stack.enter_context(unix_socket(values["socket"])))
            state.start()
            serve_app(
                make,
                port,
                lambda address: _announce(
                    address,
                    token_file,
                    plugin=_plugin_lines(values, address),
                    is_public=is_public,
                ),
                max_connections=MAX_CONNECTIONS,
                refuse=refuse,
                also_on=also_on,
                before_end=lambda: _end_streams(mounts),
            )
    except BaseException:
        state.close(CLOSE_S)
        raise
    leave(state)
    return 0


def _end_streams(mounts: Mapping[str, App]) -> None:
    """End the streams of events: the server waits for all answers to end."""
    from hivemind_memory.http_api.app import LazyApp

    for app in mounts.values():
        if isinstance(app, LazyApp):
            app.end_streams()


def _check_address(address: str) -> None:
    """Refuse any address but that of this machine itself.

    Raises:
        UsageError: It is another one.
    """
    if address not in _LOCAL:
        raise UsageError(
            f"hm serve listens on 127.0.0.1 only, not on {address[:100]}: it has no"
            " TLS, so a token and every note would cross the network unencrypted.",
            hint="To reach it from another machine, use an SSH tunnel:"
            f" ssh -L {PORT}:127.0.0.1:{PORT} HOST.",
        )


def _allow_files() -> None:
    """Allow as many open files as the system lets this process have, within reason."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * MAX_CONNECTIONS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _plugin_lines(values: Mapping[str, Any], address: str) -> list[str]:
    """Return what is said of the plugin when the server starts."""
    if not values["plugin"]:
        return []
    lines = [f"memory plugin: {address}/v1"]
    if values["socket"]:
        path = escape_line(values["socket"])
        lines.append(f"memory plugin without a token: unix:{path}")
    if values["no_token"]:
        lines.append(
            "warning: every process on this machine can read and change all memories"
            f" at {address}/v1"
        )
    return lines


def _announce(
    address: str, token_file: str, *, plugin: Sequence[str], is_public: bool
) -> None:
    """Say where the server is, where its token is, and what it serves."""
    lines = [
        f"serving {address}",
        f"token in {escape_line(token_file)}",
        f"agents: {address}/mcp",
        *plugin,
        f"people: {address}/memory, which hm dashboard opens",
        f"programs: {address}/api/v1, described in {address}/api/v1/docs",
    ]
    if is_public:
        lines.append("without a token: what is public can be read")
    write_stderr("".join(f"{line}\n" for line in lines))
