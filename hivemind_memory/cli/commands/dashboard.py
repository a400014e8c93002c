"""hm dashboard: opens the pages that show a person what the agents know."""

from __future__ import annotations

import os
import socket
from shlex import quote

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.options import PORT
from hivemind_memory.cli.output import print_line, print_notices
from hivemind_memory.errors import UsageError

START_S = 15.0
_WHAT = "`hm dashboard`"


@command(
    "dashboard",
    description=(
        "Opens the memory in your browser, logged in. If hm serve isn't running, it"
        " is started, and runs until hm dashboard --stop. The link works once, within a"
        " minute. Over SSH the link is printed, with the command that forwards the"
        " port."
    ),
    flags=(
        Flag(
            ("--port",),
            "int",
            f"Port of the server ({PORT}).",
            metavar="N",
            low=1,
            high=65535,
        ),
        Flag(("--no-open",), "flag", "Print the link instead of opening it."),
        Flag(("--stop",), "flag", "Stop every server that hm dashboard started."),
    ),
    examples=("hm dashboard", "hm dashboard --no-open"),
)
def dashboard(request: CommandRequest) -> int:
    """Open the pages."""
    from hivemind_memory import environment, opening
    from hivemind_memory.access.rules import check_owner, check_person
    from hivemind_memory.cli.dashboard_server import (
        ask_for_link,
        start_server,
        stop_servers,
    )
    from hivemind_memory.files import places
    from hivemind_memory.mcp_server.token_file import read_token

    values = request.values
    port = PORT if values["port"] is None else values["port"]
    home = environment.resolve_home(None)
    with opening.open_memory(memory_dir=request.memory_dir) as memory:
        check_person(memory.caller, _WHAT)
        check_owner(memory.caller, _WHAT)
        notes = memory.places.notes
    if values["stop"]:
        stopped = stop_servers(home)
        for used in stopped:
            print_line(f"stopped the server on port {used}")
        if not stopped:
            print_line("no server that hm dashboard started is running")
        return 0
    token = read_token(places.token_file(home))
    code = ask_for_link(port, token, notes)
    is_new = code is None
    if is_new:
        start_server(home, port, request.memory_dir)
        code = ask_for_link(port, token, notes, wait_s=START_S)
    if code is not None and is_new:
        print_notices([f"started a server on port {port}; hm dashboard --stop ends it"])
    if code is None:
        raise UsageError(
            f"The server on port {port} did not start.",
            hint=f"`hm serve --port {quote(str(port))}` says why.",
        )
    link = f"http://127.0.0.1:{port}/memory/login?code={code}"
    is_remote = bool(os.environ.get("SSH_CONNECTION"))
    if values["no_open"] or is_remote or not _is_opened(link):
        print_line(link, keep=[link])
    if is_remote:
        forward = f"ssh -N -L {port}:127.0.0.1:{port} {quote(socket.gethostname())}"
        print_notices(
            [f"over SSH: run `{forward}` on your own machine and open the link there"]
        )
    return 0


def _is_opened(link: str) -> bool:
    """Open a link in the browser; return whether there is one with a window."""
    import sys
    import webbrowser

    is_headless = sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if is_headless:
        return False
    try:
        return webbrowser.open(link)
    except webbrowser.Error:
        return False
