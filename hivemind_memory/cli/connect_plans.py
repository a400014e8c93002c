"""Shows what would change in agents' settings, asks, and makes the changes."""

from __future__ import annotations

from hivemind_memory.cli.confirm import is_sure
from hivemind_memory.cli.output import (
    print_json,
    print_line,
    print_notices,
    write_stderr,
    write_stdout,
)
from hivemind_memory.cli.recorded_command import record_command
from hivemind_memory.connect import plans as states
from hivemind_memory.connect.plans import difference, mask_secrets
from hivemind_memory.errors import HivemindError, NotConnectedError
from hivemind_memory.model.display import escape_line, escape_text, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.cli.command import CommandRequest
    from hivemind_memory.connect.connector import Connector
    from hivemind_memory.connect.plans import ConnectionPlan

_BEARER = "Bearer "
_CONNECTING = {states.CONNECTED: "already connected"}


class PlanRunner:
    """Shows plans, asks, and carries them out."""

    def __init__(
        self,
        request: CommandRequest,
        connector: Connector,
        plan: Callable[[], list[ConnectionPlan]],
        prepare: Callable[[], None],
    ) -> None:
        """Make the plans.

        Args:
            request: With --yes, --dry-run and --json.
            connector: Carries plans out.
            plan: Makes the plans from the current settings.
            prepare: Checks that what they register can be started.
        """
        self._request = request
        self._values = request.values
        self._is_connecting = request.command.name == "connect"
        self._connector = connector
        self._plan = plan
        self._prepare = prepare
        self._plans = plan()
        self.changed: list[ConnectionPlan] = []
        """The plans that were carried out."""

    def run(self) -> int:
        """Do all of it; return the exit code."""
        plans = self._plans
        is_json = self._values["json"]
        if not is_json:
            _show(plans, is_connecting=self._is_connecting)
        has_changes = any(plan.changes for plan in plans)
        is_agreed = has_changes and not self._values["dry_run"] and self._is_wanted()
        errors = [plan.error for plan in plans if plan.error]
        if is_agreed:
            errors += self._carry_out()
        if is_json:
            print_json(
                {
                    "agents": [_value(plan) for plan in plans],
                    "is_dry_run": self._values["dry_run"],
                    "is_changed": bool(self.changed),
                    "errors": [str(error) for error in errors],
                }
            )
        notices = [_off(plan) for plan in plans if plan.off_by]
        notices += [plan.notice for plan in plans if plan.notice]
        print_notices(map(mask_secrets, notices))
        _report(errors)
        is_refused = has_changes and not is_agreed and not self._values["dry_run"]
        return 1 if errors or is_refused else 0

    def _print_done(self, plan: ConnectionPlan) -> None:
        """Print that an agent's files were written."""
        if not self._values["json"]:
            done = "connected" if self._is_connecting else "disconnected"
            is_off = ", but switched off" if plan.off_by else ""
            write_stdout(f"{plan.agent.title}: {done}{is_off}\n")

    def _is_wanted(self) -> bool:
        """Whether the changes were confirmed."""
        if self._values["yes"]:
            return True
        as_json = self._values["json"]
        # Several files fill more than a screen: only the question is certainly seen.
        agents = listed([plan.agent.title for plan in self._plans if plan.changes])
        question = f"Make these changes to the settings of {agents}?"
        return is_sure(question, "Nothing was changed", as_json=as_json)

    def _carry_out(self) -> list[HivemindError]:
        """Make the changes; return what went wrong, and go on with the others."""
        self._prepare()
        errors: list[HivemindError] = []
        with self._connector.exclusive():
            # Planned again: a token may be new, or another hm changed something.
            for shown, plan in zip(self._plans, self._plan(), strict=True):
                if not plan.changes:
                    continue
                try:
                    _refuse_unseen(shown, plan)
                    self._connector.apply(plan)
                except HivemindError as error:
                    errors.append(error)
                    continue
                self.changed.append(plan)
                self._print_done(plan)
        if self.changed:
            self._record()
        if self.changed and not self._values["json"]:
            write_stderr("Restart agents that are running now.\n")
        return errors

    def _record(self) -> None:
        """Record which agents were connected or disconnected, for ``hm undo``."""
        where = ("--project",) if self._values["project"] else ()
        agents = (*(plan.agent.name for plan in self.changed), *where)
        back: tuple[str, ...] = ()
        if not self._is_connecting:
            has_hook = any(plan.has_hook for plan in self.changed)
            back = ("connect", *agents, *(("--hooks",) if has_hook else ()))
        elif all(plan.state == states.NOT_CONNECTED for plan in self.changed):
            back = ("disconnect", *agents)  # else it would undo more
        record_command(self._request, (self._request.command.name, *agents), back)


def _refuse_unseen(shown: ConnectionPlan, plan: ConnectionPlan) -> None:
    """Raise if a plan would change something other than what was shown."""
    if _differences(shown) != _differences(plan):
        message = f"{plan.path} was changed by another program meanwhile."
        raise NotConnectedError(message, hint="Try again.")


def _differences(plan: ConnectionPlan) -> dict[str, str]:
    """Return what changes in each file, as it is shown."""
    return {
        change.file.path: difference(change.file.path, change.file.text, change.text)
        for change in plan.changes
    }


def _off(plan: ConnectionPlan) -> str:
    """Say that an agent does not use the server."""
    return (
        f"{plan.agent.title} does not use hivemind: it is switched off by"
        f" {plan.off_by}. Switch it on there."
    )


def _show(plans: list[ConnectionPlan], *, is_connecting: bool) -> None:
    """Print the state of every agent, and what would change in each file."""
    wide = max(len(plan.agent.title) for plan in plans)
    words = _CONNECTING if is_connecting else {}
    for plan in plans:
        state = words.get(plan.state, plan.state)
        is_there = plan.state not in (states.NOT_INSTALLED, states.NOT_CONNECTED)
        place = f"  {plan.path}" if is_there else ""
        hook = ", with its hook" if plan.has_hook else ""
        is_off = ", but switched off" if plan.off_by and is_there else ""
        state = f"{state}{hook}{is_off}"
        print_line(f"{plan.agent.title.ljust(wide)}  {state}{place}", keep=[plan.path])
    for plan in plans:
        for shown in _differences(plan).values():
            write_stdout(f"\n{escape_text(shown)}")
        for change in plan.changes:
            is_new = _BEARER in (change.text or "") and _BEARER not in (
                change.file.text or ""
            )
            if is_new and change.file.is_open_to_others:
                path = escape_line(change.file.path)
                write_stderr(f"other users can read {path}, and the token in it\n")
    if any(plan.changes for plan in plans):
        write_stdout("\n")


def _value(plan: ConnectionPlan) -> dict[str, object]:
    """Return a plan for programs."""
    return {
        "agent": plan.agent.name,
        "state": plan.state,
        "file": plan.path,
        "has_hook": plan.has_hook,
        "off_by": plan.off_by,
        "changes": [
            {"file": path, "diff": shown} for path, shown in _differences(plan).items()
        ],
        "error": str(plan.error) if plan.error else "",
    }


def _report(errors: list[HivemindError]) -> None:
    """Print what went wrong, each with what to do."""
    for error in errors:
        print_notices([f"error: {mask_secrets(str(error))}"])
        if error.hint:
            print_notices([f"hint: {error.hint}"])
