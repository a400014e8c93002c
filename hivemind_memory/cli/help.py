"""Builds the texts of ``hm help`` from the table of commands. Pure."""

from __future__ import annotations

from textwrap import fill

from hivemind_memory.cli.options import MEMORY_DIR
from hivemind_memory.cli.table import (
    ALIASES,
    FIRST,
    GROUPS,
    PANELS,
    SECOND_ALIASES,
    command_names,
    find_command,
    full_second,
    panel_of,
    summary_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.cli.command import Argument, Command, Flag

_ABOUT = "One memory for every coding agent on your machine."
_USAGE = "Usage: hm [OPTIONS] COMMAND ..."
_MORE = (
    ("hm help COMMAND", "What a command does, with its options and examples."),
    ("hm help all", "Every command, environment variable and exit code."),
)
_ROOT_FLAGS = (
    ("--memory-dir FOLDER", MEMORY_DIR.description),
    ("--version", "Print the version."),
    ("-h, --help", "Print help; after a command, the help of that command."),
)
VARIABLES = (
    ("HIVEMIND_HOME", "Home folder with config.json and memory/ (~/.hivemind)."),
    ("HIVEMIND_<OPTION>", "Overrides config.json for any option of `hm config`."),
    ("OPENAI_API_KEY", "API key for OpenAI, if that provider is chosen."),
    ("VISUAL, EDITOR", "The editor that `hm edit` opens."),
    ("NO_COLOR", "If set to anything, turns color off; bold and dim stay."),
    ("HIVEMIND_DEBUG", "If 1, errors also print a traceback."),
)
EXIT_CODES = (
    ("0", "Success, even if nothing was found, unless --fail-empty is given."),
    ("1", "An error; standard error says what is wrong and what to do."),
    ("2", "A usage error: an unknown option, or a missing or invalid value."),
    ("126, 127", "The command to run cannot be executed, or does not exist."),
    ("130, 141", "Stopped with Ctrl-C; the output pipe was closed early."),
)
HELP_ROW = ("-h, --help", "Print this help.")


def help_text(topic: str, width: int) -> str | None:
    """Return the help on a command, a group, ``all``, or the overview for nothing.

    Returns:
        Lines of at most *width* columns; None if there is no such topic.
    """
    if not topic:
        return overview_text(width)
    if topic == "all":
        return everything_text(width)
    topic = ALIASES.get(topic, topic)
    first, _, second = topic.partition(" ")
    if second:
        topic = f"{first} {full_second(first, second)}"
    if topic in GROUPS:
        return group_text(topic, width)
    command = find_command(topic) if topic in command_names() else None
    return command_text(command, width) if command else None


def overview_text(width: int) -> str:
    """Return what a person sees first: the commands used first, on one screen."""
    rows = [(name, _summary(name)) for name in FIRST]
    parts = [
        fill(_ABOUT, width),
        _USAGE,
        _section("Commands", rows, width),
        _section("More", _MORE, width),
    ]
    return "\n\n".join(parts) + "\n"


def everything_text(width: int) -> str:
    """Return every command, and the variables and exit codes common to all."""
    parts = [fill(_ABOUT, width), _USAGE]
    for panel in PANELS:
        rows = [(x, _summary(x)) for x in command_names("") if panel_of(x) == panel]
        rows += [(x, _summary(x)) for x in GROUPS if GROUPS[x][1] == panel]
        parts.append(_section(panel, rows, width))
    aliases = [(name, f"The same as hm {full}.") for name, full in ALIASES.items()]
    parts.append(_section("Aliases", aliases, width))
    parts.append(_section("Options", _ROOT_FLAGS, width))
    parts.append(_section("Environment", VARIABLES, width))
    parts.append(_section("Exit codes", EXIT_CODES, width))
    return "\n\n".join(parts) + "\n"


def group_text(group: str, width: int) -> str:
    """Return the help of a group of commands."""
    sentence, _, fallback = GROUPS[group]
    rows = [(x.partition(" ")[2], summary_of(x)) for x in command_names(group)]
    parts = [
        fill(sentence, width),
        _usage_line(f"hm {group} [COMMAND] ...", width),
        _section("Commands", rows, width),
        f"Without a command: hm {group} {fallback}",
    ]
    return "\n\n".join(parts) + "\n"


def command_text(command: Command, width: int) -> str:
    """Return the help of one command."""
    parts = [fill(summary_of(command.name), width)]
    if command.description:
        paragraphs = command.description.split("\n\n")
        parts += [fill(paragraph, width) for paragraph in paragraphs]
    parts.append(_usage_line(usage(command), width))
    if short := _short_names(command.name):
        parts.append(f"Short: {', '.join(f'hm {name}' for name in short)}")
    if command.arguments:
        rows = [(x.name.upper(), x.description) for x in command.arguments]
        parts.append(_section("Arguments", rows, width))
    parts.append(_section("Options", [*option_rows(command), HELP_ROW], width))
    if command.examples:
        lines = "\n".join(f"  {example}" for example in command.examples)
        parts.append(f"Examples:\n{lines}")
    return "\n\n".join(parts) + "\n"


def _short_names(name: str) -> list[str]:
    """Return what else may be typed for a command.

    >>> _short_names("kv delete")
    ['kv rm']
    """
    group, _, second = name.partition(" ")
    names = [alias for alias, full in ALIASES.items() if full == name]
    names += [f"{group} {alias}" for alias, x in SECOND_ALIASES.items() if second in x]
    return names


def usage(command: Command) -> str:
    """Return how a command is typed.

    >>> usage(find_command("config get"))
    'hm config get [OPTIONS] KEY'
    """
    places = "".join(f" {_place(argument)}" for argument in command.arguments)
    return f"hm {command.name} [OPTIONS]{places}"


def option_rows(command: Command) -> list[tuple[str, str]]:
    """Return each option of a command as it is typed, with what it is for."""
    flags = (*command.flags, MEMORY_DIR)
    return [(_typed(flag), flag.description) for flag in flags]


def _summary(name: str) -> str:
    """Return what a command or a group of commands does."""
    return GROUPS[name][0] if name in GROUPS else summary_of(name)


def _usage_line(text: str, width: int) -> str:
    """Return how something is typed, folded between words."""
    line = f"Usage: {text}"
    return fill(line, width, subsequent_indent="    ", break_on_hyphens=False)


def _typed(flag: Flag) -> str:
    """Return an option as it is typed, with what it takes."""
    value = "|".join(flag.choices) or flag.metavar
    names = ", ".join(flag.names)
    return names if flag.kind == "flag" else f"{names} {value}"


def _place(argument: Argument) -> str:
    """Return an argument as the usage line shows it."""
    shown = argument.name.upper() + ("..." if argument.is_many else "")
    return shown if argument.is_required else f"[{shown}]"


def _section(title: str, rows: Iterable[tuple[str, str]], width: int) -> str:
    """Return a heading and its rows, the second column aligned and folded."""
    rows = list(rows)
    indent = min(max(len(left) for left, _ in rows), 24) + 4
    lines = [f"{title}:"]
    for left, right in rows:
        head = f"  {left}".ljust(indent)
        if len(head) > indent:  # too long for the column: the text begins below it
            lines.append(head)
            head = " " * indent
        hang = " " * indent
        lines.append(fill(right, width, initial_indent=head, subsequent_indent=hang))
    return "\n".join(lines)
