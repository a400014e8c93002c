"""hm connect and disconnect: register the server with agents, or undo that."""

from __future__ import annotations

import os
import shlex

from hivemind_memory.cli.command import PLAIN, Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import DRY_RUN, JSON, YES
from hivemind_memory.cli.output import write_stderr
from hivemind_memory.cli.own_command import own_command
from hivemind_memory.connect.clients import (
    AGENTS,
    HOME_VARIABLE,
    WITH_HOOKS,
    WITH_PERMISSIONS,
    ConnectableAgent,
    LocalServer,
    RemoteServer,
)
from hivemind_memory.errors import NotConnectedError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.connect.connector import Connector
    from hivemind_memory.connect.plans import (
        ConnectionPlan,
        HostEnvironment,
        Registration,
    )

_START_S = 20.0
_NO_TOKEN = "made when this is changed"  # noqa: S105 - shown instead of one
_WHO = Argument(
    "who",
    f"{', '.join(agent.name for agent in AGENTS)}, or all (the default).",
    is_required=False,
    reads=PLAIN,
    completes="connectable",
)


@command(
    "connect",
    description=(
        "Shows the state of each agent and what would change in its settings, then"
        " asks. Everything else in these files is kept, comments included. Without a"
        " terminal nothing is changed unless --yes is given."
    ),
    arguments=(_WHO,),
    flags=(
        Flag(
            ("--hooks",),
            "flag",
            "Also inject memories at the start of each session, without a file:"
            f" {' and '.join(WITH_HOOKS)}.",
        ),
        Flag(
            ("--allow",),
            "flag",
            f"Let {' and '.join(WITH_PERMISSIONS)} call the tools that only read"
            " without asking each time.",
        ),
        Flag(
            ("--http",),
            "flag",
            "Register the address of hm mcp --http, with its token.",
        ),
        Flag(
            ("--port",),
            "int",
            "Port for --http (8737).",
            metavar="N",
            low=1,
            high=65535,
        ),
        DRY_RUN,
        YES,
        JSON,
    ),
    examples=("hm connect --dry-run", "hm connect claude --hooks --allow"),
)
def connect(request: CommandRequest) -> int:
    """Register the server with agents."""
    from hivemind_memory.cli.commands.mcp import require_sdk
    from hivemind_memory.cli.plan_runner import PlanRunner
    from hivemind_memory.connect.connector import Connector

    values = request.values
    agents = _chosen(request)
    _check_flags(agents, request)
    connector = Connector(_host())
    _check_installed(connector, agents, is_named=_is_named(request))

    def plan() -> list[ConnectionPlan]:
        registration = _registration(request)
        return [connector.plan_connect(agent, registration) for agent in agents]

    def prepare() -> None:
        require_sdk()
        _check_start()
        if values["http"]:
            _token(is_made=True)

    code = PlanRunner(request, connector, plan, prepare).run()
    if values["http"] and not values["dry_run"] and not values["json"] and not code:
        write_stderr("Agents reach it while this runs: hm mcp --http\n")
    return code


@command("disconnect", arguments=(_WHO,), flags=(DRY_RUN, YES, JSON))
def disconnect(request: CommandRequest) -> int:
    """Undo what connect did."""
    from hivemind_memory.cli.plan_runner import PlanRunner
    from hivemind_memory.connect.connector import Connector

    agents = _chosen(request)
    connector = Connector(_host())

    def plan() -> list[ConnectionPlan]:
        return [connector.plan_disconnect(agent) for agent in agents]

    return PlanRunner(request, connector, plan, lambda: None).run()


def _chosen(request: CommandRequest) -> tuple[ConnectableAgent, ...]:
    """Return the agents that were named."""
    from hivemind_memory.connect.connector import chosen_agents

    try:
        return chosen_agents(request.values["who"])
    except KeyError as error:
        known = ", ".join(agent.name for agent in AGENTS)
        message = f"There is no agent {error.args[0]} that hm knows how to connect."
        raise UsageError(message, hint=f"It knows {known}, and all.") from None


def _is_named(request: CommandRequest) -> bool:
    """Whether agents were named one by one."""
    names = request.values["who"]
    return bool(names) and "all" not in names


def _check_flags(agents: tuple[ConnectableAgent, ...], request: CommandRequest) -> None:
    """Refuse an option that would do nothing."""
    values = request.values
    if values["port"] is not None and not values["http"]:
        raise UsageError("--port needs --http.")
    for name, able in (
        ("hooks", WITH_HOOKS),
        ("allow", WITH_PERMISSIONS),
    ):
        if values[name] and not any(agent.name in able for agent in agents):
            raise UsageError(f"--{name} is for {' and '.join(able)} only.")


def _check_installed(
    connector: Connector, agents: tuple[ConnectableAgent, ...], *, is_named: bool
) -> None:
    """Refuse an agent that was named and is not installed."""
    missing = [agent for agent in agents if not connector.is_installed(agent)]
    if is_named and missing:
        titles = " and ".join(agent.title for agent in missing)
        verb = "is" if len(missing) == 1 else "are"
        programs = ", ".join(agent.program for agent in missing)
        raise NotConnectedError(
            f"{titles} {verb} not installed here, so nothing was changed.",
            hint=f"Not found on the PATH: {programs}",
        )
    if len(missing) == len(agents):
        write_stderr("No agent that hm knows is installed here.\n")


def _host() -> HostEnvironment:
    """Return what is known about this machine."""
    import shutil

    from hivemind_memory import wiring
    from hivemind_memory.connect.plans import HostEnvironment

    return HostEnvironment(
        home=wiring.resolve_home(None),
        user_home=os.path.expanduser("~"),
        environ=os.environ,
        find_program=shutil.which,
    )


def _registration(request: CommandRequest) -> Registration:
    """Return what is to be registered."""
    from hivemind_memory import wiring
    from hivemind_memory.cli.commands.mcp import PORT
    from hivemind_memory.connect.plans import Registration

    folder = request.memory_dir
    words = ("--memory-dir", os.path.abspath(folder)) if folder else ()
    home = wiring.resolve_home(None)
    other_home = "" if home == os.path.expanduser("~/.hivemind") else home
    command = own_command()
    server: LocalServer | RemoteServer = LocalServer(
        command=(*command, "mcp", *words), home=other_home
    )
    if request.values["http"]:
        port = PORT if request.values["port"] is None else request.values["port"]
        server = RemoteServer(url=f"http://127.0.0.1:{port}/mcp", token=_token())

    def hook_command(agent: str) -> str:
        asked = () if agent == "claude" else ("--agent", agent)
        said = shlex.join((*command, "hook", "session-start", *asked, *words))
        return f"{HOME_VARIABLE}={shlex.quote(home)} {said}" if other_home else said

    return Registration(
        server=server,
        hook_command=hook_command,
        has_hooks=request.values["hooks"],
        has_rules=request.values["allow"],
    )


def _check_start() -> None:
    """Check that an agent can start hm, for it passes on few variables.

    Raises:
        NotConnectedError: It cannot.
    """
    import subprocess

    command = (*own_command(), "--version")
    kept = {name: os.environ.get(name, "") for name in ("HOME", "PATH")}
    try:
        done = subprocess.run(
            command,
            cwd=os.path.abspath(os.sep),
            env=kept,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_START_S,
            check=False,
        )
        is_started = done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        is_started = False
    if not is_started:
        raise NotConnectedError(
            f"{shlex.join(command)} needs the environment of this shell.",
            effect="Nothing was changed",
            hint="Install hivemind-memory with pip, pipx or uv, and use that hm.",
        )


def _token(*, is_made: bool = False) -> str:
    """Return the token for HTTP, or what is shown as long as there is none."""
    import secrets

    from hivemind_memory import wiring
    from hivemind_memory.files.places import token_file
    from hivemind_memory.mcp_server.http import read_token

    path = token_file(wiring.resolve_home(None))
    if not is_made and not os.path.exists(path):
        return _NO_TOKEN
    return read_token(path, lambda: secrets.token_urlsafe(32))
