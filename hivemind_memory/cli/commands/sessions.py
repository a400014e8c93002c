"""hm sessions, attach and kill: the agents that hm launch started."""

from __future__ import annotations

from hivemind_memory.cli.command import Argument, CommandRequest, command
from hivemind_memory.cli.confirm import is_sure
from hivemind_memory.cli.dates import minute_text
from hivemind_memory.cli.options import JSON, YES
from hivemind_memory.cli.output import (
    print_json,
    print_table,
    write_stderr,
    write_stdout,
)
from hivemind_memory.errors import NotLaunchedError
from hivemind_memory.model.display import escape_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.launch.launcher import Launcher
    from hivemind_memory.launch.tmux import AgentSession, Tmux

_NO_TMUX = "tmux, in which they run, is not installed"


def _session_argument(description: str, *, is_required: bool) -> Argument:
    """Return the argument that names a session."""
    return Argument(
        "session", description, is_required=is_required, completes="sessions"
    )


@command("sessions", flags=(JSON,))
def sessions(request: CommandRequest) -> int:
    """List the sessions of agents that hm launch started."""
    launcher = _open_launcher(request)
    found = launcher.sessions()
    if request.values["json"]:
        print_json({"sessions": [_session_value(session) for session in found]})
        return 0
    if launcher.tmux is None:
        write_stderr(f"no sessions: {_NO_TMUX}\n")
        return 0
    if not found:
        write_stderr("no sessions: `hm launch AGENT` starts one\n")
        return 0
    rows = [
        (
            session.name,
            session.agent,
            session.worktree,
            started_text(session),
            _state_text(session),
        )
        for session in found
    ]
    print_table(("session", "agent", "worktree", "since", ""), rows)
    return 0


@command(
    "attach",
    description=(
        "Shows it in this terminal; Ctrl-b d leaves it running. Inside tmux, your"
        " client switches to it."
    ),
    arguments=(
        _session_argument(
            "Session name or a prefix of it, or an agent; optional if there is one"
            " session.",
            is_required=False,
        ),
    ),
    examples=("hm attach hm-shop-claude", "hm attach codex"),
)
def attach(request: CommandRequest) -> int:
    """Show the session of an agent."""
    tmux, session = _find(request)
    return tmux.attach(session)


@command(
    "kill",
    description=(
        "Asks first, because anything the agent has not saved is lost. The worktree"
        " and its files stay."
    ),
    arguments=(
        _session_argument(
            "Session name or a prefix of it, or an agent.",
            is_required=True,
        ),
    ),
    flags=(YES,),
    examples=("hm kill hm-shop-claude",),
)
def kill(request: CommandRequest) -> int:
    """End an agent and its session."""
    tmux, session = _find(request)
    question = (
        f"End {session.agent} in {session.worktree}, running since"
        f" {started_text(session)}?"
    )
    if session.is_ended:
        question = f"Close the session of {session.agent} in {session.worktree}?"
    if not request.values["yes"] and not is_sure(question, "Nothing was ended"):
        return 1
    tmux.kill(session)
    write_stdout(f"{escape_line(session.name)}: ended\n")
    return 0


def _open_launcher(request: CommandRequest) -> Launcher:
    """Return the launcher, which finds what this shell may see."""
    from hivemind_memory import environment, opening

    return opening.open_launcher(environment.shell_scope_request(), request.memory_dir)


def _find(request: CommandRequest) -> tuple[Tmux, AgentSession]:
    """Return the session that the argument means, or the only one.

    Raises:
        NotLaunchedError: There is none of that name, or several.
    """
    from hivemind_memory.launch.tmux import choose_session

    launcher = _open_launcher(request)
    if launcher.tmux is None:
        raise NotLaunchedError(f"There are no sessions: {_NO_TMUX}.")
    return launcher.tmux, choose_session(launcher.sessions(), request.values["session"])


def started_text(session: AgentSession) -> str:
    """Return when a session began, for people."""
    from hivemind_memory import environment

    return minute_text(environment.local_iso(session.started_s))


def _session_value(session: AgentSession) -> dict[str, object]:
    """Return a session for programs."""
    from hivemind_memory import environment
    from hivemind_memory.model.value import as_dict

    value = as_dict(session)
    value["started_at"] = environment.local_iso(value.pop("started_s"))
    return value


def _state_text(session: AgentSession) -> str:
    """Return whether a session is attached, detached or ended."""
    if session.is_ended:
        code = session.exit_code
        return "ended" if code is None else f"ended ({code})"
    return "attached" if session.is_attached else "detached"
