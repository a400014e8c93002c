"""hm launch and exec: start agents with their memories.

If anything goes wrong with the memories, one line says so and the agent starts anyway.
"""

from __future__ import annotations

import os
import shlex
import sys

from hivemind_memory.cli.become import become, report_missing
from hivemind_memory.cli.command import (
    PLAIN,
    VERBATIM,
    Argument,
    CommandRequest,
    Flag,
    command,
)
from hivemind_memory.cli.commands.sessions import started_text
from hivemind_memory.cli.output import (
    is_terminal,
    print_notices,
    write_stderr,
    write_stdout,
)
from hivemind_memory.errors import (
    ConfigError,
    HivemindError,
    NotLaunchedError,
    UsageError,
)
from hivemind_memory.model.agents import PROGRAMS, check_agent, guess_of
from hivemind_memory.model.display import escape_text
from hivemind_memory.model.injection_outcomes import WITH_SECTION, WITHOUT_MEMORIES
from hivemind_memory.model.keys import pasted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.access.callers import ScopeRequest
    from hivemind_memory.launch.launcher import (
        EndedAgent,
        Inject,
        LaunchedAgent,
        Launcher,
        LaunchRequest,
    )
    from hivemind_memory.launch.tmux import AgentSession, Tmux

_WATCH_S = 1.0
"""How long a new agent is watched: one that exits at once has a reason."""

_WATCH_ATTACHED_S = 0.3
"""The same if its session is shown next: a person waits, and sees what happens."""


@command(
    "launch",
    description=(
        "If the agent already runs there, its session is shown. Without tmux it runs in"
        " the foreground. No API key is ever sent to it. The words after -- are passed"
        " on to the agent."
    ),
    arguments=(
        Argument(
            "agent",
            f"{', '.join(PROGRAMS)}, a name from the option agents, or any program.",
            completes="agents",
        ),
        Argument(
            "args",
            "The agent's own arguments, after --.",
            is_required=False,
            reads=PLAIN,
            is_raw=True,
        ),
    ),
    flags=(
        Flag(
            ("--worktree",),
            "path",
            "Folder to work in (the current one, unless --branch is given).",
            metavar="FOLDER",
        ),
        Flag(
            ("--branch",),
            "text",
            "Work in the worktree of this branch; both are created if missing.",
            metavar="NAME",
        ),
        Flag(
            ("--workspace",),
            "text",
            "Workspace whose memory the agent reads and writes.",
            metavar="NAME",
        ),
        Flag(("--detach",), "flag", "Do not attach to the session; print how to."),
    ),
    examples=(
        "hm launch claude",
        "hm launch codex --branch fix-login",
        "hm launch claude --detach -- --model haiku",
    ),
)
def launch(request: CommandRequest) -> int:
    """Start an agent in a worktree, or show the one that runs there."""
    from hivemind_memory import environment, opening
    from hivemind_memory.launch.agents import find_agent
    from hivemind_memory.launch.launcher import LaunchRequest

    values = request.values
    if values["worktree"] is not None and values["branch"] is not None:
        raise UsageError("--worktree and --branch cannot be combined.")
    # What --workspace says is for the agent; the person keeps their own rights.
    scope_request = environment.shell_scope_request()
    if values["workspace"]:
        _pass_on_workspace(values["workspace"])
    launcher = opening.open_launcher(scope_request, request.memory_dir)
    path = launcher.environ.get("PATH", os.defpath)
    agent = find_agent(values["agent"], _configured(), path)
    if launcher.tmux is None and values["detach"]:
        message = f"tmux is not installed, so {agent.name} cannot run detached."
        raise NotLaunchedError(
            message, hint="Without --detach it runs in this terminal."
        )
    if values["workspace"]:
        _check_tools(agent.name, values["worktree"], values["workspace"])
    location = launcher.locate(values["worktree"], values["branch"])
    if location.is_new:
        _print_notice(f"Created the worktree {location.worktree}")
    launch_request = LaunchRequest(
        agent=agent, location=location, arguments=values["args"], watch_s=_WATCH_S
    )
    is_limited = scope_request is not None
    # The agent's own scopes, but no more than a limited person's shell sees.
    is_named = values["workspace"] and not is_limited
    inject = _inject_port(
        request,
        agent.name,
        is_quiet=False,
        is_limited=is_limited,
        scope_request=environment.agent_scope_request() if is_named else None,
    )
    if launcher.tmux is None:
        return _run_here(launcher, launch_request, inject)
    return _run_in_tmux(
        launcher, launcher.tmux, launch_request, inject, is_detached=values["detach"]
    )


@command(
    "exec",
    description=(
        "Use it from another launcher. hm recognizes the agent by its program name and"
        " starts it even if the injection fails, in the same process and terminal;"
        " standard output belongs to the agent. Everything after the first word is"
        " passed on unchanged. Outside a git repository and in your home folder nothing"
        " is injected, unless hm inject has injected there. Exits with 127 if there is"
        " no such program, and with 126 if it cannot be run."
    ),
    arguments=(Argument("command", "The command to run.", reads=VERBATIM),),
    flags=(
        Flag(
            ("--agent",),
            "text",
            "The agent, if the program has another name.",
            metavar="NAME",
            completes="agents",
        ),
    ),
    examples=("hm exec -- claude --continue",),
)
def exec_(request: CommandRequest) -> int:
    """Inject into the worktree around this folder, then become a command."""
    from hivemind_memory.launch.agents import kind_of, with_memory_file

    words = request.values["command"]
    if code := report_missing(words[0], os.environ):
        return code
    named = request.values["agent"] or ""
    kind = named or kind_of(words[0])
    inject = _inject_port(request, words[0], is_quiet=True, named=named)
    words = with_memory_file(kind, words, inject(os.curdir, kind))
    return become(words, os.environ)


def _check_tools(agent: str, folder: str | None, workspace: str) -> None:
    """Refuse to start an agent for a workspace of which its tools would not know.

    Raises:
        NotLaunchedError: The agent is connected over HTTP.
    """
    from hivemind_memory.connect.connection import is_connected_over_http

    root, home = os.path.realpath(folder or os.curdir), os.path.expanduser("~")
    if is_connected_over_http(agent, root, home, os.environ):
        raise NotLaunchedError(
            f"{agent} is connected over HTTP, so its tools would not use the workspace"
            f" {workspace}.",
            hint=f"Run `hm connect {shlex.quote(agent)}`, then try again.",
        )


def _pass_on_workspace(workspace: str) -> None:
    """Set the workspace of the agent, which passes it on to its servers and hooks."""
    from hivemind_memory.cli.agent_server import check_workspace
    from hivemind_memory.config.resolve import WORKSPACE_VARIABLE

    check_workspace(workspace)
    os.environ[WORKSPACE_VARIABLE] = workspace


def _configured() -> Mapping[str, object]:
    """Return the agents of config.json; none, and a line, if it cannot be read."""
    from hivemind_memory import environment

    try:
        return environment.load_settings().agents
    except ConfigError as error:
        _print_notice(f"warning: the agents in config.json are ignored: {error}")
        return {}


def _inject_port(
    request: CommandRequest,
    name: str,
    *,
    is_quiet: bool,
    is_limited: bool = False,
    named: str = "",
    scope_request: ScopeRequest | None = None,
) -> Inject:
    """Return a function that injects and never raises.

    Args:
        request: Opens the memory.
        name: What is started, for messages.
        is_quiet: Whether to say nothing of what was injected.
        is_limited: Whether a worktree of another project is refused.
        named: The agent's name as a person typed it.
        scope_request: What the agent sees; None: what the environment says.
    """
    from hivemind_memory import opening
    from hivemind_memory.cli.commands.inject import ADDED_TO_GIT, sentence

    def inject(worktree: str, kind: str) -> str:
        try:
            check_agent(named)
            with request.open_memory(is_reported=True) as memory:
                if is_limited:
                    opening.check_worktree(memory, worktree)
                injector = opening.open_injector(memory, scope_request)
                # No question is asked: a launcher may wait for the first line.
                if doubt := injector.doubt_about(worktree):
                    return _not_injected(f"{doubt}; {_agree(kind)}", name)
                done = injector.inject(worktree, agent=kind)
        except HivemindError as error:
            return _not_injected(f"{error.problem} {guess_of(error)}".strip(), name)
        # Whatever it is, it must not keep an agent from starting.
        except Exception as error:  # noqa: BLE001
            return _not_injected(f"{type(error).__name__}: {error}", name)
        if done.outcome in WITHOUT_MEMORIES or not is_quiet:
            _print_notice(sentence(done))
        if done.is_first:
            _print_notice(ADDED_TO_GIT)
        has_section = done.outcome in WITH_SECTION
        return os.path.join(done.worktree, done.file) if has_section else ""

    return inject


def _agree(kind: str) -> str:
    """Return what tells a person how to inject where hm would not by itself."""
    option = f" --agent {kind}" if kind in PROGRAMS else ""
    return f"`hm inject --yes{option}` injects there"


def _not_injected(why: str, name: str) -> str:
    """Print that nothing was injected; return that there is no file."""
    reason = why.rstrip(".")
    _print_notice(
        f"warning: nothing was injected: {reason}; {name} starts without memories"
    )
    return ""


def _run_here(launcher: Launcher, launch_request: LaunchRequest, inject: Inject) -> int:
    """Become the agent, in this terminal."""
    name = launch_request.agent.name
    _print_notice(f"tmux is not installed: {name} runs here, in the foreground")
    words = launcher.words(launch_request, inject)
    folder = launch_request.location.folder
    return become(words, launcher.environ, folder=folder)


def _run_in_tmux(
    launcher: Launcher,
    tmux: Tmux,
    launch_request: LaunchRequest,
    inject: Inject,
    *,
    is_detached: bool,
) -> int:
    """Start or find the agent's session; show it, or print how to, or how it ended."""
    from hivemind_memory.launch.launcher import EndedAgent
    from hivemind_memory.model.value import replaced

    is_shown = not is_detached and all(map(is_terminal, (sys.stdin, sys.stdout)))
    if is_shown:
        size = os.get_terminal_size(sys.stdout.fileno())
        size_now = (size.columns, size.lines) if min(size) > 0 else None
        launch_request = replaced(
            launch_request, size=size_now, watch_s=_WATCH_ATTACHED_S
        )
    launched = launcher.launch(tmux, launch_request, inject)
    if isinstance(launched, EndedAgent):
        return _report_end(launch_request, launched)
    if is_shown:
        return _show(launcher, tmux, launch_request, launched)
    return _print_how_to_show(tmux, launch_request, launched)


def _show(
    launcher: Launcher,
    tmux: Tmux,
    launch_request: LaunchRequest,
    launched: LaunchedAgent,
) -> int:
    """Show the session until the person leaves it."""
    if not launched.is_new:
        _say_found(launched.session, launch_request)
    if tmux.attach(launched.session):
        _print_notice(f"attach with: {tmux.attach_command(launched.session)}")
        return 1
    ended = launcher.reap_if_ended(tmux, launched.session)
    return 0 if ended is None else _report_end(launch_request, ended)


def _print_how_to_show(
    tmux: Tmux, launch_request: LaunchRequest, launched: LaunchedAgent
) -> int:
    """Print how to show the session."""
    session = launched.session
    if launched.is_new:
        _print_notice(f"{session.agent} runs in {session.worktree}; attach with:")
    else:
        _say_found(session, launch_request, end="; attach with:")
    write_stdout(f"{tmux.attach_command(session)}\n")
    return 0


def _say_found(
    session: AgentSession, launch_request: LaunchRequest, *, end: str = ""
) -> None:
    """Say that the agent was already running, and what that means."""
    since = started_text(session)
    where = f"{session.agent} already runs in {session.worktree}, since {since}"
    _print_notice(f"{where}{end}")
    if launch_request.arguments:
        unused = pasted(launch_request.arguments)
        _print_notice(
            f"it keeps the arguments it was started with; {unused} was ignored"
        )


def _report_end(launch_request: LaunchRequest, ended: EndedAgent) -> int:
    """Say how an agent exited, and what it printed last; return its exit code."""
    name = launch_request.agent.name
    code = 1 if ended.exit_code is None else ended.exit_code
    how = f"by signal {code - 128}" if code > 128 else f"with status {code}"
    if ended.exit_code is None:
        how = "in a way that tmux does not report"
    lines = "".join(f"{escape_text(line)}\n" for line in ended.last_lines)
    # Not by its name, which may be one of config.json: exec knows programs alone.
    program, *rest = launch_request.agent.words
    program = name if os.path.basename(program) == name else program
    command = pasted((program, *rest, *launch_request.arguments))
    hint = f" without output: `hm exec -- {command}` runs it in this terminal"
    ending = "; its last lines:" if lines else hint
    _print_notice(f"{name} ended {how}{ending}")
    write_stderr(lines)
    return code


def _print_notice(line: str) -> None:
    """Print one line to standard error."""
    print_notices([line])
