"""hm connect and disconnect: register the server with agents, or undo that."""

from __future__ import annotations

import os
import shlex

from hivemind_memory.cli.command import PLAIN, Argument, CommandRequest, Flag, command
from hivemind_memory.cli.options import DRY_RUN, JSON, PORT, YES
from hivemind_memory.cli.own_command import is_on_path, own_command
from hivemind_memory.cli.persons_only import check_persons_shell
from hivemind_memory.errors import HivemindError, NotConnectedError, UsageError
from hivemind_memory.model.agents import (
    CONNECTABLE,
    OTHER_NAMES,
    WITH_CAPTURE,
    WITH_HOOKS,
    WITH_PERMISSIONS,
    list_names,
    meant_agent,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.connect.agents import ConnectableAgent
    from hivemind_memory.connect.plans import (
        ConnectionPlan,
        HostEnvironment,
        Registration,
    )

_START_TIMEOUT_S = 20.0
_NO_TOKEN = "created when you connect"  # noqa: S105 - shown instead of one
_WHO = Argument(
    "agent",
    f"{', '.join(CONNECTABLE)}, or all (the default).",
    is_required=False,
    reads=PLAIN,
    completes="connectable",
)
_PROJECT = Flag(
    ("--project",),
    "flag",
    "Write to this repository's settings files, which can be committed, instead of"
    " your own.",
)
_FROM_PROJECT = Flag(
    ("--project",),
    "flag",
    "Remove it from this repository's settings files instead of your own.",
)


@command(
    "connect",
    description=(
        "Shows the state of each agent and what would change in its settings, then"
        " asks. Everything else in these files is kept, comments included. Without a"
        " terminal nothing is changed unless --yes is given. In an agent's shell only"
        " --dry-run works."
    ),
    arguments=(_WHO,),
    flags=(
        Flag(
            ("--hooks",),
            "flag",
            "Also inject memories at the start of each session, without a file:"
            f" {list_names(WITH_HOOKS)}.",
        ),
        Flag(
            ("--capture",), "flag", f"Capture sessions of {list_names(WITH_CAPTURE)}."
        ),
        Flag(
            ("--allow",),
            "flag",
            f"Let {list_names(WITH_PERMISSIONS)} call the read-only tools"
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
            f"Port for --http ({PORT}).",
            metavar="N",
            low=1,
            high=65535,
        ),
        _PROJECT,
        Flag(
            ("--workspace",),
            "text",
            "Workspace whose memory these agents read and write.",
            metavar="NAME",
        ),
        DRY_RUN,
        YES,
        JSON,
    ),
    examples=(
        "hm connect --dry-run",
        "hm connect claude --hooks --allow",
        "hm connect claude cursor --project",
    ),
)
def connect(request: CommandRequest) -> int:
    """Register the server with agents."""
    from hivemind_memory.cli.agent_server import require_sdk
    from hivemind_memory.cli.connect_advice import print_advice
    from hivemind_memory.cli.connect_plans import PlanRunner
    from hivemind_memory.cli.missing_agents import check_installed, refused_if_missing
    from hivemind_memory.connect.connector import Connector

    values = request.values
    if not values["dry_run"]:
        check_persons_shell("hm connect")
    agents = _chosen(request)
    _check_flags(agents, request)
    connector = Connector(_host(request))
    is_shown = values["dry_run"] and any(map(connector.is_installed, agents))
    # Others who work on a project may have what is not installed here.
    if not (_is_named(request) and (values["project"] or is_shown)):
        check_installed(connector, agents, is_named=_is_named(request))

    def plan() -> list[ConnectionPlan]:
        registration = _registration(request)
        plans = [connector.plan_connect(agent, registration) for agent in agents]
        return list(map(refused_if_missing, plans)) if _is_named(request) else plans

    def prepare() -> None:
        require_sdk()
        _check_starts_outside_shell()
        if values["http"]:
            _token(create=True)

    runner = PlanRunner(request, connector, plan, prepare)
    code = runner.run()
    if not values["dry_run"] and not values["json"] and not code:
        is_portable = _is_portable(request)
        print_advice(
            values, request.memory_dir, runner.changed, is_portable=is_portable
        )
    return code


@command("disconnect", arguments=(_WHO,), flags=(_FROM_PROJECT, DRY_RUN, YES, JSON))
def disconnect(request: CommandRequest) -> int:
    """Undo what connect did."""
    from hivemind_memory.cli.connect_plans import PlanRunner
    from hivemind_memory.connect.connector import Connector

    if not request.values["dry_run"]:
        check_persons_shell("hm disconnect")
    agents, connector = _chosen(request), Connector(_host(request))

    def plan() -> list[ConnectionPlan]:
        return [connector.plan_disconnect(agent) for agent in agents]

    return PlanRunner(request, connector, plan, lambda: None).run()


def _is_portable(request: CommandRequest) -> bool:
    """Whether what is registered names no path of this machine."""
    return is_on_path(own_command()) and not (_other_home() or request.memory_dir)


def _other_home() -> str:
    """Return the home folder if it is not the default; else nothing."""
    from hivemind_memory import environment
    from hivemind_memory.files.home import DEFAULT_HOME

    home = environment.resolve_home(None)
    return "" if home == os.path.expanduser(DEFAULT_HOME) else home


def _chosen(request: CommandRequest) -> tuple[ConnectableAgent, ...]:
    """Return the agents that were named."""
    from hivemind_memory.connect.connector import chosen_agents

    try:
        return chosen_agents(request.values["agent"])
    except KeyError as error:
        name = error.args[0]
        near = meant_agent(name, (*CONNECTABLE, "all"))
        meant = OTHER_NAMES.get(name.lower(), near)
        guess = f"Did you mean {meant}? " if meant else ""
        hint = f"{guess}Known agents: {', '.join(CONNECTABLE)}; or all."
        raise UsageError(f"Unknown agent: {name!r}.", hint=hint) from None


def _is_named(request: CommandRequest) -> bool:
    """Whether agents were named one by one."""
    return bool(request.values["agent"]) and "all" not in request.values["agent"]


def _check_flags(agents: tuple[ConnectableAgent, ...], request: CommandRequest) -> None:
    """Refuse an option that would do nothing."""
    values = request.values
    if values["port"] is not None and not values["http"]:
        raise UsageError("--port needs --http.")
    if values["project"]:
        own = "hooks belong to your own settings"
        for name, why in (
            ("http", "its token would be in a file that can be committed"),
            *(("hooks", own), ("capture", own)),
            ("allow", "permissions belong to your own settings"),
        ):
            if values[name]:
                message = f"--project and --{name} cannot be combined: {why}."
                raise UsageError(message, hint="Run it again without --project.")
    if values["workspace"]:
        _check_workspace(values["workspace"], is_http=values["http"])
    for name, able in (
        ("hooks", WITH_HOOKS),
        ("capture", WITH_CAPTURE),
        ("allow", WITH_PERMISSIONS),
    ):
        if values[name] and not any(agent.name in able for agent in agents):
            raise UsageError(f"--{name} is for {list_names(able)} only.")


def _check_workspace(name: str, *, is_http: bool) -> None:
    """Refuse a workspace that does not exist, or that the server would ignore."""
    from hivemind_memory.cli.agent_server import check_workspace

    if is_http:
        message = "--workspace and --http cannot be combined."
        command = shlex.join(("hm", "mcp", "--http", "--workspace", name))
        raise UsageError(message, hint=f"Start the server with `{command}` instead.")
    check_workspace(name)


def installed_titles(request: CommandRequest) -> list[str]:
    """Return the names of the agents that are installed here."""
    from hivemind_memory.connect.connector import Connector

    connector = Connector(_host(request))
    agents = _chosen(request)
    return [agent.title for agent in agents if connector.is_installed(agent)]


def _host(request: CommandRequest) -> HostEnvironment:
    """Return what is known about this machine, and the project that is meant."""
    import shutil

    from hivemind_memory import environment
    from hivemind_memory.connect.plans import HostEnvironment

    is_project = request.values["project"]
    repository = _repository(is_needed=is_project)
    return HostEnvironment(
        home=environment.resolve_home(None),
        user_home=os.path.expanduser("~"),
        environ=os.environ,
        find_program=shutil.which,
        project=repository if is_project else "",
        repository=repository,
    )


def _repository(*, is_needed: bool) -> str:
    """Return the top folder of the repository here; empty: none that can be read.

    Raises:
        HivemindError: It is needed, and there is none.
    """
    from hivemind_memory import environment
    from hivemind_memory.git.repository import find_repository

    found = None
    try:
        found = find_repository(os.path.realpath(os.curdir), environment.git_environ())
    except HivemindError:
        if is_needed:
            raise
    if found is None and is_needed:
        message = "--project needs a git repository, and the current folder is in none."
        raise UsageError(message, hint="Without it, `hm connect` is for all projects.")
    return found.top if found else ""


def _registration(request: CommandRequest) -> Registration:
    """Return what is to be registered."""
    from hivemind_memory.config.resolve import WORKSPACE_VARIABLE
    from hivemind_memory.connect.entries import LocalServer, RemoteServer
    from hivemind_memory.connect.plans import Registration
    from hivemind_memory.files.home import HOME_VARIABLE

    values = request.values
    folder, workspace = request.memory_dir, values["workspace"]
    words = ("--memory-dir", os.path.abspath(folder)) if folder else ()
    served = (*words, *(("--workspace", workspace) if workspace else ()))
    command, other_home = own_command(), _other_home()
    # What can be committed names no path of this machine, if that can be.
    name = ("hm",) if values["project"] and is_on_path(command) else command
    server: LocalServer | RemoteServer = LocalServer(
        command=(*name, "mcp", *served), home=other_home
    )
    if values["http"]:
        port = PORT if values["port"] is None else values["port"]
        server = RemoteServer(url=f"http://127.0.0.1:{port}/mcp", token=_token())

    def hook_command(agent: str, kind: str) -> str:
        asked = () if agent == "claude" else ("--agent", agent)
        call = shlex.join((*command, "hook", kind, *asked, *words))
        variables = {HOME_VARIABLE: other_home, WORKSPACE_VARIABLE: workspace or ""}
        given = [
            f"{name}={shlex.quote(text)}" for name, text in variables.items() if text
        ]
        if workspace:
            # As for its server: a workspace alone would be without the project.
            given.append('HIVEMIND_PROJECT="${HIVEMIND_PROJECT:-auto}"')
        return " ".join((*given, call))

    adds = values["hooks"] or values["capture"] or values["allow"]
    is_chosen = values["http"] or (_is_named(request) and not adds)
    return Registration(
        server=server,
        hook_command=hook_command,
        has_hooks=values["hooks"],
        has_capture=values["capture"],
        has_rules=values["allow"],
        keeps_address=not (is_chosen or folder or workspace or values["project"]),
        is_named=values["project"] and _is_named(request),
    )


def _check_starts_outside_shell() -> None:
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
            timeout=_START_TIMEOUT_S,
            check=False,
        )
        is_started = done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        is_started = False
    if not is_started:
        raise NotConnectedError(
            f"`{shlex.join(command)}` failed without this shell's environment, and"
            " agents start hm without it.",
            effect="Nothing was changed",
            hint="Install hivemind-memory with pip, pipx or uv, and use that hm.",
        )


def _token(*, create: bool = False) -> str:
    """Return the token for HTTP, or what is shown as long as there is none."""
    from hivemind_memory import environment
    from hivemind_memory.files.places import token_file
    from hivemind_memory.mcp_server.token_file import read_token

    path = token_file(environment.resolve_home(None))
    if not create and not os.path.exists(path):
        return _NO_TOKEN
    return read_token(path)
