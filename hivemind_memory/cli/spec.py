"""What ``hm`` understands, as data: every command, argument and option once.

The quick parser (``parse``), the typer application (``app``) and ``docs/cli.md`` are
made from this table, so they cannot disagree about a name, a type or a bound.
"""

from __future__ import annotations

from hivemind_memory.cli.commands import agents, find, keep, launch, set_up, write
from hivemind_memory.cli.commands.parts import AGENTS, MEMORY_DIR, PANELS, SET
from hivemind_memory.cli.shapes import Argument, Command, Flag

TYPE_CHECKING = False  # typing costs milliseconds on the way to a cold answer
if TYPE_CHECKING:
    from collections.abc import Iterator

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

COMMANDS: tuple[Command, ...] = (
    *find.COMMANDS,
    *write.COMMANDS,
    *agents.COMMANDS,
    *launch.COMMANDS,
    *keep.COMMANDS,
    *set_up.COMMANDS,
)
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


def find_command(name: str) -> Command | None:
    """Return the command called *name*, or nothing."""
    for command in COMMANDS:
        if command.name == name:
            return command
    return None


def commands_of(group: str) -> Iterator[Command]:
    """Return the commands of a group, or those of none for the empty name."""
    for command in COMMANDS:
        first, _, second = command.name.partition(" ")
        if (first if second else "") == group:
            yield command
