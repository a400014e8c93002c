"""hm hook session-start: run by agents when a session starts.

It must never get in an agent's way: it always exits with 0, within seconds, and prints
at most one line to standard error.
"""

from __future__ import annotations

import json
import os
import sys

from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.output import (
    is_terminal,
    read_stdin,
    write_stderr,
    write_stdout,
)
from hivemind_memory.model.escape import escape_line

TIMEOUT_S = 5.0
"""A search takes a tenth of a second; no agent is kept waiting longer than this."""


@command(
    "hook session-start",
    description=(
        "Reads the agent's JSON from standard input, uses only the folder in it, and"
        " answers in JSON. Writes no file. Prints nothing if injection is off, or if"
        " a file that the agent reads already has the section. Always exits with 0,"
        " within seconds."
    ),
    flags=(
        Flag(
            ("--agent",),
            "text",
            "The agent: claude (the default) or gemini.",
            metavar="NAME",
            completes="agents",
        ),
    ),
)
def session_start(request: CommandRequest) -> int:
    """Print the section in the form that the agent's hook expects."""
    import threading

    answers: list[str] = []
    asking = threading.Thread(target=_ask, args=(request, answers), daemon=True)
    asking.start()
    asking.join(TIMEOUT_S)
    if asking.is_alive():
        _report(f"no answer within {TIMEOUT_S:g} s")
        _leave()
    if answers:
        _print(answers[0])
    return 0


def _ask(request: CommandRequest, answers: list[str]) -> None:
    """Put the section into *answers*."""
    from hivemind_memory import wiring
    from hivemind_memory.inject.session_hook import session_start_section

    try:
        worktree = _worktree()
        with request.open_memory(is_reported=True) as memory:
            injector = wiring.open_injector(memory)
            agent = request.values["agent"] or "claude"
            answers.append(session_start_section(injector, worktree, agent))
    # Whatever it is, the agent starts without memories.
    except Exception as error:  # noqa: BLE001
        _report(str(error) or type(error).__name__)


def _worktree() -> str:
    """Return the folder of the session from the JSON on standard input."""
    try:
        payload = json.loads("" if is_terminal(sys.stdin) else read_stdin())
    except (ValueError, RecursionError):
        payload = None
    folder = payload.get("cwd") if isinstance(payload, dict) else None
    return folder if isinstance(folder, str) and folder else os.curdir


def _print(section: str) -> None:
    """Print a section as JSON, if there is one."""
    if not section:
        return
    said = {"hookEventName": "SessionStart", "additionalContext": section}
    try:
        write_stdout(json.dumps({"hookSpecificOutput": said}) + "\n")
    # The agent closed the pipe, or its disk is full.
    except Exception as error:  # noqa: BLE001
        _report(str(error) or type(error).__name__)
        _leave()


def _report(reason: str) -> None:
    """Print why there is nothing, on one line."""
    write_stderr(
        f"hivemind: this session starts without memories: {escape_line(reason)}\n"
    )


def _leave() -> None:
    """Exit at once: Python would wait for the thread, and complain about the pipe."""
    os._exit(0)
