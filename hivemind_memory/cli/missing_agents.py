"""Refuses to connect agents that were named and are not installed."""

from __future__ import annotations

import shlex

from hivemind_memory.cli.output import print_notices
from hivemind_memory.cli.own_command import own_command
from hivemind_memory.connect.plans import NOT_INSTALLED
from hivemind_memory.errors import NotConnectedError
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hivemind_memory.connect.agents import ConnectableAgent
    from hivemind_memory.connect.connector import Connector
    from hivemind_memory.connect.plans import ConnectionPlan


def check_installed(
    connector: Connector, agents: Sequence[ConnectableAgent], *, is_named: bool
) -> None:
    """Refuse an agent that was named and is not installed."""
    missing = [agent for agent in agents if not connector.is_installed(agent)]
    if is_named and missing:
        raise _not_installed(missing, "was")
    if len(missing) == len(agents):
        others = f"Any MCP client can start `{shlex.join((*own_command(), 'mcp'))}`."
        print_notices([f"None of the supported agents is installed here. {others}"])


def _not_installed(agents: Sequence[ConnectableAgent], verb: str) -> NotConnectedError:
    """Return the error for agents that were named; *verb*: of what was changed."""
    titles = " and ".join(agent.title for agent in agents)
    programs = ", ".join(agent.program for agent in agents)
    are = "is" if len(agents) == 1 else "are"
    return NotConnectedError(
        f"{titles} {are} not installed here, so nothing {verb} changed.",
        hint=f"Not found on the PATH: {programs}; --project does not need it.",
    )


def refused_if_missing(plan: ConnectionPlan) -> ConnectionPlan:
    """Return the plan for an agent that was named, with an error if it is missing."""
    if plan.state != NOT_INSTALLED:
        return plan
    return replaced(plan, error=_not_installed([plan.agent], "would be"))
