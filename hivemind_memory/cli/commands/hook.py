"""hm hook: run by agents when a session starts, ends or stops.

It must never get in an agent's way: it always exits with 0, within seconds, and prints
at most one line to standard error, and one about options that it does not know. At the
end of a session it only adds a job for the process that watches the notes.
"""

from __future__ import annotations

import json
import os
import sys

from hivemind_memory.cli import output
from hivemind_memory.cli.command import CommandRequest, Flag, command
from hivemind_memory.cli.output import (
    is_terminal,
    read_stdin_bytes,
    write_stderr,
    write_stdout,
)
from hivemind_memory.model.display import escape_line

TIMEOUT_S = 5.0
"""A search takes a tenth of a second; no agent is kept waiting longer than this."""

_COMPRESSION, _PROMPT = "PreCompress", "BeforeAgent"
_EVENTS = ("SessionStart", "SubagentStart", _PROMPT)
"""What is answered by its own name; anything else by the first."""

_BEFORE_SERVER = ("startup", "resume")
"""Sources of a session with which Claude Code starts its servers, too."""

_END, _STOP = "SessionEnd", "Stop"


@command(
    "hook session-start",
    description=(
        "Reads the agent's JSON from standard input and answers in JSON. Serves each"
        " event that hm connect --hooks registers: the start of a session and of a"
        " subagent, and the first prompt after Gemini CLI has compressed a session."
        " Prints nothing if injection is off, or if a file that the agent reads already"
        " has the section. When Claude Code starts, it then waits until the server that"
        " Claude Code starts as well has listed its tools, for three seconds at most."
        " An option that this version does not know is ignored, and"
        " named on standard error. Always exits with 0, within seconds."
    ),
    flags=(
        Flag(
            ("--agent",),
            "text",
            "The agent: claude (the default), codex, gemini or qwen.",
            metavar="NAME",
            completes="agents",
        ),
    ),
    is_hook=True,
)
def session_start(request: CommandRequest) -> int:
    """Print the section in the form that the agent's hook expects."""
    import threading

    answers: list[tuple[str, str]] = []
    payload: dict[str, object] = {}
    asking = threading.Thread(
        target=_ask, args=(request, payload, answers), daemon=True
    )
    asking.start()
    asking.join(TIMEOUT_S)
    if asking.is_alive():
        _report(f"no answer within {TIMEOUT_S:g} s")
        _leave()
    if answers:
        _print(*answers[0])
    _wait_for_server(request, payload)
    return 0


def _ask(
    request: CommandRequest, payload: dict[str, object], answers: list[tuple[str, str]]
) -> None:
    """Put what the agent sent into *payload*, and event and section into *answers*."""
    from hivemind_memory import opening
    from hivemind_memory.inject import session_hook
    from hivemind_memory.model.agents import check_agent, check_known_agent, guess_of
    from hivemind_memory.state.injection_log import InjectionLog

    try:
        agent = request.values["agent"] or "claude"
        check_agent(agent)
        payload.update(_payload())
        event = _text(payload, "hook_event_name")
        if event and event not in (*_EVENTS, _COMPRESSION):
            write_stderr(
                f"note: the event {escape_line(event[:60])} is unknown to this version;"
                f" it is treated as {_EVENTS[0]}\n"
            )
        if event == _COMPRESSION:  # Gemini CLI of an earlier `hm connect` asks so
            return
        transcript = _text(payload, "transcript_path")
        if event == _PROMPT and not session_hook.has_lost_section(transcript):
            return
        kind = _text(payload, "agent_type")
        with request.open_memory(is_reported=True) as memory:
            check_known_agent(agent, memory.settings.agents)
            reads_files = kind not in session_hook.WITHOUT_FILES
            section = session_hook.session_start_section(
                opening.open_injector(memory),
                _text(payload, "cwd") or os.curdir,
                agent,
                InjectionLog(memory.state()),
                reads_files=reads_files and not memory.settings.why_read_only(),
                note=lambda text: write_stderr(f"note: {escape_line(text)}\n"),
            )
        answers.append((event if event in _EVENTS else _EVENTS[0], section))
    # Whatever it is, the agent starts without memories.
    except Exception as error:  # noqa: BLE001
        problem = str(error) or type(error).__name__
        _report(f"{problem} {guess_of(error)}".strip())


def _wait_for_server(request: CommandRequest, payload: dict[str, object]) -> None:
    """Wait until Claude Code knows our tools, if it has just started their server.

    Its first request to the model waits for its hooks, but not for its servers.
    """
    is_start = (
        (request.values["agent"] or "claude") == "claude"
        and _text(payload, "hook_event_name") == _EVENTS[0]
        and _text(payload, "source") in _BEFORE_SERVER
    )
    if not is_start:
        return
    from contextlib import suppress

    from hivemind_memory import environment
    from hivemind_memory.connect.connection import starts_server
    from hivemind_memory.files.server_start import wait_until_listed

    folder = _text(payload, "cwd") or os.curdir
    with suppress(OSError, ValueError):  # as with a NUL in the name of the folder
        if starts_server("claude", folder, os.path.expanduser("~"), os.environ):
            home = environment.resolve_home(None)
            wait_until_listed(home, environment.processes_above())


def _payload() -> dict[str, object]:
    """Return the JSON on standard input; empty if there is none."""
    try:
        data = b"" if is_terminal(sys.stdin) else read_stdin_bytes()
        payload = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _text(payload: dict[str, object], key: str) -> str:
    """Return a text of the payload; empty if it has none."""
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _print(event: str, section: str) -> None:
    """Print a section as JSON, if there is one."""
    if not section:
        return
    answer = {"hookEventName": event, "additionalContext": section}
    try:
        write_stdout(json.dumps({"hookSpecificOutput": answer}) + "\n")
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
    output.leave(0)


@command(
    "hook session-end",
    description=(
        "Reads the agent's JSON from standard input. When a session ends, a job that"
        " captures it is added, if the options capture and llm_provider are set. If"
        " capture is on without a language model, the agent is reminded once per"
        " session to save what it learned: Gemini CLI with a prompt, the others when"
        " they stop."
        " An option that this version does not know is ignored, and named on standard"
        " error. Always exits with 0, within seconds."
    ),
    flags=(
        Flag(
            ("--agent",),
            "text",
            "The agent: claude (the default), codex, gemini or qwen.",
            metavar="NAME",
            completes="agents",
        ),
    ),
    is_hook=True,
)
def session_end(request: CommandRequest) -> int:
    """Queue the capture of a session, or print a reminder."""
    import threading

    answers: list[str] = []
    work = threading.Thread(target=_capture, args=(request, answers), daemon=True)
    work.start()
    work.join(TIMEOUT_S)
    if work.is_alive():
        _report_capture(f"it was not done within {TIMEOUT_S:g} s")
        output.leave(0)
    if answers:
        try:
            write_stdout(answers[0] + "\n")
        # The agent closed the pipe, or its disk is full.
        except Exception as error:  # noqa: BLE001
            _report_capture(str(error) or type(error).__name__)
            output.leave(0)
    return 0


def _capture(request: CommandRequest, answers: list[str]) -> None:
    """Do what the event asks for; what is to be printed goes to *answers*."""
    from hivemind_memory import opening
    from hivemind_memory.model.agents import NO_CAPTURE, check_agent

    try:
        agent = request.values["agent"] or "claude"
        check_agent(agent)
        payload = _payload()
        event = _text(payload, "hook_event_name")
        session = _text(payload, "session_id")
        transcript = _text(payload, "transcript_path")
        if event not in (_END, _STOP, _PROMPT) or payload.get("stop_hook_active"):
            return
        folder = _text(payload, "cwd")
        if os.path.isdir(folder):
            os.chdir(folder)
        with request.open_memory(is_reported=True) as memory:
            settings = memory.settings
            if not settings.enabled or settings.capture == NO_CAPTURE:
                return
            if event == _END:
                from hivemind_memory.jobs.capture_queue import queue_capture

                if settings.llm_provider != "none":
                    queue_capture(memory, agent, session, transcript)
            if event == _END or settings.llm_provider != "none":
                return
            from hivemind_memory.jobs.reminder import find_reminder

            sessions = opening.open_sessions(memory)
            text = find_reminder(memory, sessions, agent, session, transcript)
        if text:
            answers.append(_answer(event, text))
    # Whatever it is, the agent goes on.
    except Exception as error:  # noqa: BLE001
        _report_capture(str(error) or type(error).__name__)


def _answer(event: str, text: str) -> str:
    """Return a reminder in the form that the agent's hook expects."""
    if event == _STOP:
        return json.dumps({"decision": "block", "reason": text})
    answer = {"hookEventName": event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": answer})


def _report_capture(reason: str) -> None:
    """Print why nothing was done, on one line."""
    write_stderr(f"hivemind: this session is not captured: {escape_line(reason)}\n")
