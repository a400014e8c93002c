"""The commands that start agents: launch, sessions, exec.

Whatever goes wrong with the memories is one line, and the agent starts all the same.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import asdict, replace

from hivemind_memory import wiring
from hivemind_memory.cli import injecting
from hivemind_memory.cli.as_json import print_json
from hivemind_memory.cli.escape import escape_for_terminal, escape_line
from hivemind_memory.cli.streams import is_terminal, write_stderr, write_stdout
from hivemind_memory.errors import (
    ConfigError,
    HivemindError,
    NotLaunchedError,
    UsageError,
)
from hivemind_memory.launch.agents import (
    exec_process,
    exit_code_of,
    find_agent,
    kind_of,
    with_memory_file,
)
from hivemind_memory.launch.launcher import EndedAgent, LaunchRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hivemind_memory.cli.parse import CommandRequest
    from hivemind_memory.launch.launcher import Launcher
    from hivemind_memory.launch.tmux import AgentSession, Tmux

_WATCH_S = 1.0
"""For so long a new agent is watched: one that ends at once has a reason."""

_WATCH_ATTACHED_S = 0.3
"""A person waits for the agent's first picture, and will see for themselves."""


def launch(request: CommandRequest) -> int:
    """Start an agent in a worktree, or show the one that runs there."""
    values = request.values
    if values["worktree"] is not None and values["branch"] is not None:
        raise UsageError("--worktree and --branch exclude each other.")
    launcher = wiring.open_launcher()
    path = launcher.environ.get("PATH", os.defpath)
    agent = find_agent(values["agent"], _configured(), path)
    tmux = launcher.tmux
    if tmux is None and values["detach"]:
        message = f"tmux is not installed, so {agent.name} cannot run out of sight."
        raise NotLaunchedError(message, hint="Without --detach it runs right here.")
    location = launcher.locate(values["worktree"], values["branch"])
    if location.is_new:
        _print_to_stderr(f"Made the worktree {location.worktree}")
    launch_request = LaunchRequest(
        agent=agent, location=location, arguments=values["args"], watch_s=_WATCH_S
    )
    inject = _inject_port(request, agent.name, is_quiet=False)
    if tmux is None:
        _print_to_stderr(
            f"tmux is not installed: {agent.name} runs here, in the foreground"
        )
        words = launcher.words(launch_request, inject)
        return _exec_or_report(words, launcher.environ, folder=location.folder)
    is_shown = not values["detach"] and is_terminal(sys.stdin)
    if is_shown and is_terminal(sys.stdout):
        size = os.get_terminal_size(sys.stdout.fileno())
        size_now = (size.columns, size.lines) if min(size) > 0 else None
        launch_request = replace(
            launch_request, size=size_now, watch_s=_WATCH_ATTACHED_S
        )
        return _shown(launcher, tmux, launch_request, inject)
    return _detached(launcher, tmux, launch_request, inject)


def sessions(request: CommandRequest) -> int:
    """List the sessions of our agents."""
    launcher = wiring.open_launcher()
    found = launcher.sessions()
    if request.values["json"]:
        print_json({"sessions": [_session_value(one) for one in found]})
        return 0
    if launcher.tmux is None:
        _print_to_stderr("no sessions: tmux is not installed, and they are its")
        return 0
    if not found:
        _print_to_stderr("no sessions: `hm launch AGENT` starts one")
        return 0
    rows = [
        (one.name, one.agent, one.worktree, _since(one), _how_it_is(one))
        for one in found
    ]
    if is_terminal(sys.stdout):
        from hivemind_memory.cli.terminal import sessions_text

        write_stdout(sessions_text(rows))
    else:
        write_stdout("".join("\t".join(map(escape_line, row)) + "\n" for row in rows))
    return 0


def exec_(request: CommandRequest) -> int:
    """Inject into the worktree around this folder, then become a command."""
    words = request.values["command"]
    kind = request.values["agent"] or kind_of(words[0])
    inject = _inject_port(request, words[0], is_quiet=True)
    words = with_memory_file(kind, words, inject(os.curdir, kind))
    return _exec_or_report(words, os.environ)


def _configured() -> Mapping[str, object]:
    """Return the person's own agents; none, and a line, if that cannot be known."""
    try:
        return wiring.load_settings().agents
    except ConfigError as error:
        _print_to_stderr(f"warning: agents of config.json are not known: {error}")
        return {}


def _inject_port(
    request: CommandRequest, name: str, *, is_quiet: bool
) -> Callable[[str, str], str]:
    """Return what injects, and never raises."""

    def inject(worktree: str, kind: str) -> str:
        try:
            with wiring.open_memory(memory_dir=request.memory_dir) as memory:
                injector = wiring.open_injector(memory)
                done = injector.inject(worktree, agent=kind)
        except HivemindError as error:
            return _not_injected(str(error), name)
        # At this door too: whatever it is, it must not keep an agent from starting.
        except Exception as error:  # noqa: BLE001
            return _not_injected(f"{type(error).__name__}: {error}", name)
        if done.outcome in ("nothing", "removed") or not is_quiet:
            _print_to_stderr(injecting.sentence(done))
        has_section = done.outcome in ("written", "unchanged")
        return os.path.join(done.worktree, done.file) if has_section else ""

    return inject


def _not_injected(why: str, name: str) -> str:
    """Say in one line that nothing was injected; return that there is no file."""
    said = why.removeprefix("Nothing was injected: ").rstrip(".")
    _print_to_stderr(
        f"warning: nothing was injected: {said}; {name} starts all the same"
    )
    return ""


def _shown(
    launcher: Launcher,
    tmux: Tmux,
    launch_request: LaunchRequest,
    inject: Callable[[str, str], str],
) -> int:
    """Launch, and show the session until the person leaves it."""
    launched = launcher.launch(tmux, launch_request, inject)
    if isinstance(launched, EndedAgent):
        return _report_end(launch_request, launched)
    if not launched.is_new:
        _say_found(launched.session, launch_request)
    if tmux.attach(launched.session):
        _print_to_stderr(f"attach with: {tmux.attach_command(launched.session)}")
        return 1
    ended = launcher.reap_if_ended(tmux, launched.session)
    return 0 if ended is None else _report_end(launch_request, ended)


def _detached(
    launcher: Launcher,
    tmux: Tmux,
    launch_request: LaunchRequest,
    inject: Callable[[str, str], str],
) -> int:
    """Launch, and say how to see it."""
    launched = launcher.launch(tmux, launch_request, inject)
    if isinstance(launched, EndedAgent):
        return _report_end(launch_request, launched)
    session = launched.session
    if launched.is_new:
        _print_to_stderr(f"{session.agent} runs in {session.worktree}; attach with:")
    else:
        _say_found(session, launch_request)
    write_stdout(f"{tmux.attach_command(session)}\n")
    return 0


def _say_found(session: AgentSession, launch_request: LaunchRequest) -> None:
    """Say that the agent was there already, and what that means."""
    _print_to_stderr(
        f"{session.agent} runs in {session.worktree} since {_since(session)}"
    )
    if launch_request.arguments:
        unused = shlex.join(launch_request.arguments)
        _print_to_stderr(f"its arguments stay: {unused} was not passed on")


def _report_end(launch_request: LaunchRequest, ended: EndedAgent) -> int:
    """Say how an agent ended, and what it said last; return its exit code."""
    name = launch_request.agent.name
    code = 1 if ended.exit_code is None else ended.exit_code
    how = f"by signal {code - 128}" if code > 128 else f"with status {code}"
    if ended.exit_code is None:
        how = "in a way that tmux does not tell"
    lines = "".join(f"{escape_for_terminal(line)}\n" for line in ended.last_lines)
    # Not by its name, which may be one of config.json: exec knows programs alone.
    program, *rest = launch_request.agent.words
    program = name if os.path.basename(program) == name else program
    command = shlex.join((program, *rest, *launch_request.arguments))
    hint = f", and left no line: `hm exec -- {command}` runs it before your eyes"
    said = "; its last lines:" if lines else hint
    write_stderr(f"{escape_line(f'{name} ended {how}{said}')}\n{lines}")
    return code


def _exec_or_report(
    words: Sequence[str], environ: Mapping[str, str], *, folder: str | None = None
) -> int:
    """Become a command; return what a shell would if it cannot be run."""
    try:
        if folder is not None:
            os.chdir(folder)
        exec_process(words, environ)
    except OSError as error:
        _print_to_stderr(f"error: {words[0]} cannot be run: {error.strerror}")
        return exit_code_of(error)
    except ValueError:  # no system takes a program without a name
        _print_to_stderr("error: '' cannot be run: it is no program")
        return exit_code_of(FileNotFoundError())


def _session_value(session: AgentSession) -> dict[str, object]:
    """Return a session for programs."""
    value = asdict(session)
    value["started_at"] = wiring.local_iso(value.pop("started_s"))
    return value


def _since(session: AgentSession) -> str:
    """Return when a session began, for people."""
    return wiring.local_iso(session.started_s)[:16].replace("T", " ")


def _how_it_is(session: AgentSession) -> str:
    """Return what a person wants to know before going there."""
    if session.is_ended:
        code = session.exit_code
        return "ended" if code is None else f"ended ({code})"
    return "attached" if session.is_attached else "detached"


def _print_to_stderr(line: str) -> None:
    """Say one line to the person."""
    write_stderr(f"{escape_line(line)}\n")
