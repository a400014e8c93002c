"""What ``hm`` understands, as data: every command, argument and option once.

The quick parser (``parse``), the typer application (``app``) and ``docs/cli.md`` are
made from this table, so they cannot disagree about a name, a type or a bound.
"""

from __future__ import annotations

from importlib import import_module

from hivemind_memory.cli.commands.parts import AGENTS, MEMORY_DIR, PANELS, SET
from hivemind_memory.cli.shapes import Argument, Command, Flag

TYPE_CHECKING = False  # typing costs milliseconds on the way to a cold answer
if TYPE_CHECKING:
    from collections.abc import Iterator

    COMMANDS: tuple[Command, ...]

__all__ = [
    "COMMANDS",
    "GROUPS",
    "MEMORY_DIR",
    "PANELS",
    "Argument",
    "Command",
    "Flag",
    "commands_of",
    "find_command",
]

_FILES = {
    "find": "search get list",
    "write": "write edit",
    "curate": "save show history link unlink learn forget restore",
    "agents": "connect disconnect hook inject eject why mcp",
    "launch": "launch sessions exec git-hook",
    "keep": "sync rebuild watch status doctor",
    "set_up": "init config",
}
"""File of ``commands`` -> the commands and groups in it. A cold answer reads the one
that holds its command, and no other."""

_HOMES = {name: file for file, names in _FILES.items() for name in names.split()}

GROUPS = {
    "config": ("Show and change the options in config.json.", SET, "config list"),
    "hook": (
        "What agents run by themselves, after hm connect --hooks.",
        AGENTS,
        "hook session-start",
    ),
    "git-hook": (
        "Memories in every worktree that git makes: its hook post-checkout.",
        AGENTS,
        "git-hook status",
    ),
}
"""Group -> its sentence, its panel, and what it does when no command follows."""


def __getattr__(name: str) -> tuple[Command, ...]:
    """Return ``COMMANDS``, every command in the order of the list, when it is asked."""
    if name != "COMMANDS":
        message = f"module {__name__} has no attribute {name}"
        raise AttributeError(message)
    return tuple(command for file in _FILES for command in _commands_in(file))


def find_command(name: str) -> Command | None:
    """Return the command called *name*, or nothing."""
    file = _HOMES.get(name.partition(" ")[0])
    for command in _commands_in(file) if file else ():
        if command.name == name:
            return command
    return None


def commands_of(group: str) -> Iterator[Command]:
    """Return the commands of a group, or those of none for the empty name."""
    for command in __getattr__("COMMANDS"):
        first, _, second = command.name.partition(" ")
        if (first if second else "") == group:
            yield command


def _commands_in(file: str) -> tuple[Command, ...]:
    """Return the commands of one file of ``commands``."""
    found: tuple[Command, ...]
    found = import_module(f"hivemind_memory.cli.commands.{file}").COMMANDS
    return found
