"""Finds our hooks that no longer do what was asked for, for ``hm doctor``.

An agent says nothing of a hook whose program is gone, and an earlier version may have
registered fewer events.
"""

from __future__ import annotations

import os
import shlex
import shutil

from hivemind_memory.connect.agents import AGENTS, STRICT_JSON, ConnectableAgent
from hivemind_memory.connect.file_draft import (
    END_HOOK,
    START_HOOK,
    FileDraft,
    own_commands,
)
from hivemind_memory.connect.settings_file import read_client_file
from hivemind_memory.errors import NotConnectedError
from hivemind_memory.model.display import listed
from hivemind_memory.model.results import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hivemind_memory.connect.agents import HookForm


def agent_hook_findings(
    user_home: str, environ: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Return a finding for each agent whose hooks need attention.

    Args:
        user_home: Home folder of the user.
        environ: The agents' environment.
    """
    return tuple(
        Finding(
            name="agent hooks",
            is_ok=False,
            detail=f"{agent.title}: {problem}",
            hint=f"`{_connect(agent, flag)}` registers it again.",
        )
        for agent in AGENTS
        if agent.hook is not None
        for flag, problem in _problems(agent, agent.hook, user_home, environ)
    )


def _problems(
    agent: ConnectableAgent,
    form: HookForm,
    user_home: str,
    environ: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Yield the flag that mends a hook, and what is wrong with it."""
    path = (form.file or agent.servers).find(user_home, environ)
    dialect = STRICT_JSON if form.file else agent.dialect
    try:
        draft = FileDraft(read_client_file(path), dialect, agent.beginning, None)
        registered = {kind: own_commands(draft, kind) for kind in _FLAGS}
    except NotConnectedError:
        return  # the agent cannot read it, and `hm connect` says why
    for kind, (flag, purpose) in _FLAGS.items():
        commands = registered[kind]
        wanted = form.capture_events if kind == END_HOOK else form.events
        if not commands:
            continue
        for program in dict.fromkeys(map(_program, commands.values())):
            if shutil.which(program) is None:
                yield flag, f"its hook that {purpose} runs {program}, which is gone"
        if missing := [event for event in wanted if event not in commands]:
            yield (
                flag,
                f"its hook that {purpose} is not registered for {listed(missing)}",
            )


_FLAGS = {
    START_HOOK: ("--hooks", "tells a session its memories"),
    END_HOOK: ("--capture", "captures a session"),
}


def _connect(agent: ConnectableAgent, flag: str) -> str:
    """Return the command that registers a hook again."""
    return shlex.join(("hm", "connect", agent.name, flag))


def _program(command: str) -> str:
    """Return the program that the command of a hook runs, after its variables."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    program = next((word for word in words if "=" not in word), command)
    return os.path.expanduser(program)
