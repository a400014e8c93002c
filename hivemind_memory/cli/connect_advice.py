"""What `hm connect` says is left to do, after it has changed settings."""

from __future__ import annotations

import os
import shlex

from hivemind_memory.cli.output import print_notices, write_stderr
from hivemind_memory.model.display import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from hivemind_memory.connect.plans import ConnectionPlan


def print_advice(
    values: Mapping[str, Any],
    memory_dir: str | None,
    changed: Sequence[ConnectionPlan],
    *,
    is_portable: bool,
) -> None:
    """Print it, if there is anything.

    Args:
        values: The options of the command.
        memory_dir: The notes folder, if it was named.
        changed: What was changed.
        is_portable: Whether what is registered names no path of this machine.
    """
    agents = {plan.agent.name for plan in changed}
    if values["http"]:
        server = _server_command(values["port"], memory_dir)
        write_stderr(f"Agents can connect while this is running: {server}\n")
    if (values["hooks"] or values["capture"]) and "codex" in agents:
        write_stderr(
            "Codex runs a new hook only after you trust it: type /hooks in Codex.\n"
        )
    is_usual = not (values["hooks"] or values["http"] or values["project"])
    if is_usual and "claude" in agents:
        write_stderr(
            "In a terminal, Claude Code may send its first request before it has the"
            " tools; `hm connect claude --hooks` makes it wait.\n"
        )
    if values["project"] and changed:
        print_notices(
            [_of_project([plan.path for plan in changed], is_portable=is_portable)]
        )


def _server_command(port: int | None, memory_dir: str | None) -> str:
    """Return the command that serves what was registered with --http."""
    command = ["hm", "mcp", "--http"]
    if port is not None:
        command += ["--port", str(port)]
    if memory_dir:
        command += ["--memory-dir", os.path.abspath(memory_dir)]
    return shlex.join(command)


def _of_project(paths: Sequence[str], *, is_portable: bool) -> str:
    """Return what to do with settings files that can be committed."""
    files = [os.path.relpath(path) for path in paths]
    it, name = ("it", "it names") if len(files) == 1 else ("them", "they name")
    excluded = f"list {it} in .git/info/exclude to keep {it} to yourself"
    advice = f"Commit {it} to connect everyone who has hm, or {excluded}"
    if not is_portable:
        named = name[:1].upper() + name[1:]
        advice = f"{named} a path on this machine, so don't commit {it}; {excluded}"
    verb = "is" if len(files) == 1 else "are"
    return f"{listed(files)} {verb} not ignored by git. {advice}."
