"""hm help and hm version."""

from __future__ import annotations

import sys

from hivemind_memory.cli.command import PLAIN, Argument, CommandRequest, command
from hivemind_memory.cli.help import help_text
from hivemind_memory.cli.output import is_terminal, write_stdout
from hivemind_memory.version import __version__


@command(
    "help",
    description="hm COMMAND --help shows the same as hm help COMMAND.",
    arguments=(
        Argument(
            "topic",
            "A command, a group such as config, or all.",
            is_required=False,
            reads=PLAIN,
            completes="commands",
        ),
    ),
    examples=("hm help search", "hm help all"),
)
def help_(request: CommandRequest) -> int:
    """Print the help on a command, or the overview."""
    from shutil import get_terminal_size

    columns = get_terminal_size().columns if is_terminal(sys.stdout) else 80
    topic = " ".join(request.values["topic"])
    text = help_text(topic, max(40, min(columns, 100)))
    if text is None:
        from hivemind_memory.cli.unknown_names import unknown_command

        raise unknown_command(topic)
    write_stdout(text)
    return 0


@command("version")
def version(request: CommandRequest) -> int:  # noqa: ARG001 - the shape of a command
    """Print the version."""
    write_stdout(f"hm {__version__}\n")
    return 0
