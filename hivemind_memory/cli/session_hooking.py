"""The command that agents run when a session starts: hook session-start.

It must never stand in an agent's way: it always ends with 0, within seconds, and says
at most one line on standard error.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from hivemind_memory import wiring
from hivemind_memory.cli.escape import escape_line
from hivemind_memory.cli.streams import (
    is_terminal,
    read_stdin,
    write_stderr,
    write_stdout,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.cli.parse import CommandRequest

TIMEOUT_S = 5.0
"""Asking the memory takes a tenth of a second; an agent waits for nothing longer."""


def session_start(request: CommandRequest) -> int:
    """Print the section as the agent's hook wants it; nothing if there is none."""
    answers: list[str] = []
    asking = threading.Thread(target=_ask, args=(request, answers), daemon=True)
    asking.start()
    asking.join(TIMEOUT_S)
    if asking.is_alive():
        _say(f"nothing came within {TIMEOUT_S:g} s")
        _leave()
    if answers:
        _print(answers[0])
    return 0


def _ask(request: CommandRequest, answers: list[str]) -> None:
    """Put the section into *answers*."""
    from hivemind_memory.inject.session_hook import session_start_section

    try:
        worktree = _worktree()
        with wiring.open_memory(memory_dir=request.memory_dir) as memory:
            injector = wiring.open_injector(memory)
            agent = request.values["agent"] or "claude"
            answers.append(session_start_section(injector, worktree, agent))
    # Whatever it is: the agent starts all the same.
    except Exception as error:  # noqa: BLE001
        _say(str(error) or type(error).__name__)


def _worktree() -> str:
    """Return the folder of the session, which comes as JSON on standard input."""
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
        _say(str(error) or type(error).__name__)
        _leave()


def _say(reason: str) -> None:
    """Say why there is nothing, on one line."""
    write_stderr(f"hivemind: no memories at this start: {escape_line(reason)}\n")


def _leave() -> None:
    """End at once: Python would wait for the thread, and complain about the pipe."""
    os._exit(0)
