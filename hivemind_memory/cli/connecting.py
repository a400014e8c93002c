"""The commands connect and disconnect: shows what would change, asks, changes it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

from hivemind_memory import wiring
from hivemind_memory.cli.as_json import print_json
from hivemind_memory.cli.escape import for_terminal, on_one_line
from hivemind_memory.cli.own_command import own_command
from hivemind_memory.cli.serving import PORT, require_sdk
from hivemind_memory.cli.streams import is_terminal, write_data, write_talk
from hivemind_memory.connect import connector as ways
from hivemind_memory.connect.agents import AGENTS, HOME_VARIABLE, Local, Remote
from hivemind_memory.connect.connector import (
    Connector,
    Plan,
    Surroundings,
    Wish,
    chosen_agents,
)
from hivemind_memory.connect.extras import ALLOWED, HOOKED
from hivemind_memory.connect.showing import difference, masked
from hivemind_memory.errors import HivemindError, NotConnectedError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.cli.parse import Request
    from hivemind_memory.connect.agents import Agent

_START_S = 20.0
_NO_TOKEN = "made when this is changed"  # noqa: S105 - shown instead of one
_CONNECTING = {ways.CONNECTED: "already connected"}


def connect(request: Request) -> int:
    """Register the server with agents."""
    values = request.values
    agents = _chosen(request)
    _check_flags(agents, request)
    connector = Connector(_surroundings())
    _check_installed(connector, agents, is_named=_is_named(request))

    def plan() -> list[Plan]:
        wish = _wish(request)
        return [connector.plan_connect(agent, wish) for agent in agents]

    def prepare() -> None:
        require_sdk()
        _check_start()
        if values["http"]:
            _token(is_made=True)

    code = _Conversation(request, connector, plan, prepare).run()
    if values["http"] and not values["dry_run"] and not values["json"] and not code:
        write_talk("Agents find it while this runs: hm mcp --http\n")
    return code


def disconnect(request: Request) -> int:
    """Take back what connect did."""
    agents = _chosen(request)
    connector = Connector(_surroundings())

    def plan() -> list[Plan]:
        return [connector.plan_disconnect(agent) for agent in agents]

    return _Conversation(request, connector, plan, lambda: None).run()


class _Conversation:
    """Shows plans, asks, and carries them out."""

    def __init__(
        self,
        request: Request,
        connector: Connector,
        plan: Callable[[], list[Plan]],
        prepare: Callable[[], None],
    ) -> None:
        """Take what is to be said and done.

        Args:
            request: With --yes, --dry-run and --json.
            connector: Carries plans out.
            plan: Makes the plans from what there is now.
            prepare: Makes sure that what they register can be started.
        """
        self._values = request.values
        self._is_connecting = request.command.name == "connect"
        self._connector = connector
        self._plan = plan
        self._prepare = prepare
        self._plans = plan()
        self._is_changed = False

    def run(self) -> int:
        """Do all of it; return the exit code."""
        plans = self._plans
        is_json = self._values["json"]
        if not is_json:
            _show(plans, is_connecting=self._is_connecting)
        has_changes = any(plan.changes for plan in plans)
        is_willing = has_changes and not self._values["dry_run"] and self._is_wanted()
        errors = [plan.error for plan in plans if plan.error]
        if is_willing:
            errors += self._carry_out()
        if is_json:
            print_json(
                {
                    "agents": [_value(plan) for plan in plans],
                    "is_dry_run": self._values["dry_run"],
                    "is_changed": self._is_changed,
                    "errors": [str(error) for error in errors],
                }
            )
        _report(errors)
        is_refused = has_changes and not is_willing and not self._values["dry_run"]
        return 1 if errors or is_refused else 0

    def _is_wanted(self) -> bool:
        """Whether somebody said yes."""
        if self._values["yes"]:
            return True
        if self._values["json"] or not is_terminal(sys.stdin):
            write_talk("Nothing was changed: nobody can be asked here; see --yes.\n")
            return False
        write_talk("Change this? [y/N] ")
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return True
        write_talk("Nothing was changed.\n")
        return False

    def _carry_out(self) -> list[HivemindError]:
        """Do what was shown; return what went wrong, and go on with the others."""
        self._prepare()
        errors: list[HivemindError] = []
        done = "connected" if self._is_connecting else "disconnected"
        # Again, for a token may have been made just now.
        for plan in self._plan():
            if not plan.changes:
                continue
            try:
                self._connector.carry_out(plan)
            except HivemindError as error:
                errors.append(error)
                continue
            self._is_changed = True
            if not self._values["json"]:
                write_data(f"{plan.agent.title}: {done}\n")
        if self._is_changed and not self._values["json"]:
            write_talk("An agent that runs now sees it when it is started again.\n")
        return errors


def _show(plans: list[Plan], *, is_connecting: bool) -> None:
    """Print how every agent stands, and what would become of each file."""
    wide = max(len(plan.agent.title) for plan in plans)
    words = _CONNECTING if is_connecting else {}
    for plan in plans:
        state = words.get(plan.state, plan.state)
        is_there = plan.state not in (ways.NOT_INSTALLED, ways.NOT_CONNECTED)
        place = f"  {on_one_line(plan.path)}" if is_there else ""
        hook = ", with its hook" if plan.has_hook else ""
        state = f"{state}{hook}"
        write_data(f"{plan.agent.title.ljust(wide)}  {state}{place}\n")
    for plan in plans:
        for change in plan.changes:
            shown = difference(change.file.path, change.file.text, change.text)
            write_data(f"\n{for_terminal(shown)}")
            if change.file.is_open_to_others and "Bearer " in (change.text or ""):
                path = on_one_line(change.file.path)
                write_talk(f"others may read {path}, and the token in it\n")
    if any(plan.changes for plan in plans):
        write_data("\n")


def _value(plan: Plan) -> dict[str, object]:
    """Return a plan for programs."""
    return {
        "agent": plan.agent.name,
        "state": plan.state,
        "file": plan.path,
        "has_hook": plan.has_hook,
        "changes": [
            {
                "file": change.file.path,
                "diff": difference(change.file.path, change.file.text, change.text),
            }
            for change in plan.changes
        ],
        "error": str(plan.error) if plan.error else "",
    }


def _report(errors: list[HivemindError]) -> None:
    """Say what went wrong, each with what to do."""
    for error in errors:
        write_talk(f"error: {on_one_line(masked(str(error)))}\n")
        if error.hint:
            write_talk(f"hint: {on_one_line(error.hint)}\n")


def _chosen(request: Request) -> tuple[Agent, ...]:
    """Return the agents that were named."""
    try:
        return chosen_agents(request.values["agents"])
    except KeyError as error:
        known = ", ".join(agent.name for agent in AGENTS)
        message = f"There is no agent {error.args[0]} that hm knows how to connect."
        raise UsageError(message, hint=f"It knows {known}, and all.") from None


def _is_named(request: Request) -> bool:
    """Whether agents were named one by one."""
    names = request.values["agents"]
    return bool(names) and "all" not in names


def _check_flags(agents: tuple[Agent, ...], request: Request) -> None:
    """Refuse an option that would do nothing."""
    values = request.values
    if values["port"] is not None and not values["http"]:
        raise UsageError("--port needs --http.")
    for name, able in (("hooks", HOOKED), ("allow", ALLOWED)):
        if values[name] and not any(agent.name in able for agent in agents):
            raise UsageError(f"--{name} is for {' and '.join(able)} alone.")


def _check_installed(
    connector: Connector, agents: tuple[Agent, ...], *, is_named: bool
) -> None:
    """Refuse an agent that was named and is not there; somebody counts on it."""
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
        write_talk("No agent that hm knows is installed here.\n")


def _surroundings() -> Surroundings:
    """Return what this machine tells."""
    return Surroundings(
        home=wiring.resolve_home(None),
        user_home=os.path.expanduser("~"),
        environ=os.environ,
        find_program=shutil.which,
    )


def _wish(request: Request) -> Wish:
    """Return what is to be registered."""
    folder = request.memory_dir
    words = ("--memory-dir", os.path.abspath(folder)) if folder else ()
    home = wiring.resolve_home(None)
    other_home = "" if home == os.path.expanduser("~/.hivemind") else home
    command = own_command()
    server: Local | Remote = Local(command=(*command, "mcp", *words), home=other_home)
    if request.values["http"]:
        port = PORT if request.values["port"] is None else request.values["port"]
        server = Remote(url=f"http://127.0.0.1:{port}/mcp", token=_token())

    def hook_command(agent: str) -> str:
        asked = () if agent == "claude" else ("--agent", agent)
        said = shlex.join((*command, "hook", "session-start", *asked, *words))
        return f"{HOME_VARIABLE}={shlex.quote(home)} {said}" if other_home else said

    return Wish(
        server=server,
        hook_command=hook_command,
        has_hooks=request.values["hooks"],
        has_rules=request.values["allow"],
    )


def _check_start() -> None:
    """Make sure that an agent can start us: it passes few variables on.

    Raises:
        NotConnectedError: It could not.
    """
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
            f"Nothing was changed: {shlex.join(command)} does not run without the"
            " environment of this shell.",
            hint="Install hivemind-memory with pip, pipx or uv, and use that hm.",
        )


def _token(*, is_made: bool = False) -> str:
    """Return the token for HTTP, or what is shown as long as there is none."""
    import secrets

    from hivemind_memory.mcp_server.token_file import read_token

    path = os.path.join(wiring.resolve_home(None), "mcp-token")
    if not is_made and not os.path.exists(path):
        return _NO_TOKEN
    return read_token(path, lambda: secrets.token_urlsafe(32))
