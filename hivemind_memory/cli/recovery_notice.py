"""Prints a notice, once, for each entry that was recovered since the last command."""

from __future__ import annotations

from contextlib import suppress

from hivemind_memory.errors import HivemindError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.cli.command import CommandRequest

_SILENT = frozenset({"completion", "git-hook", "help", "hook", "mcp"})
"""Commands that agents, shells and git start, whose output a person does not read, and
one that needs no memory."""


def print_recovery_notices(request: CommandRequest) -> None:
    """Print a notice for each entry that came back since the last command.

    Only for scopes that the caller may see. ``hm status`` shows them until a person has
    kept or deleted them.
    """
    if request.command.name.partition(" ")[0] in _SILENT:
        return
    from hivemind_memory.environment import resolve_home
    from hivemind_memory.files.places import has_recovered, journal_folders

    if not has_recovered(journal_folders(resolve_home())):
        return
    # If the memory cannot be opened, the command itself reports it.
    with suppress(HivemindError), request.open_memory(is_reported=True) as memory:
        from hivemind_memory.cli.output import print_notices
        from hivemind_memory.memory.visible_recovered_entries import unreported_entries

        if memory.caller.is_agent:
            return  # a person reads it
        entries = unreported_entries(memory)
        if request.command.name != "status":
            print_notices(f"note: {entry.notice}" for entry in entries)
