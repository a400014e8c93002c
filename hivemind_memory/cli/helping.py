"""Help texts, made from the table: what ``hm COMMAND --help`` says. Pure.

Typer's own help depends on its version and shows types of Python; this one does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill

from hivemind_memory.cli.spec import (
    COMMANDS,
    GROUPS,
    MEMORY_DIR,
    PANELS,
    Argument,
    Command,
    Flag,
    commands_of,
)

_ABOUT = (
    "One memory for every coding agent on your machine.",
    (
        "Notes are plain Markdown files in one folder. `hm search` finds what they say"
        " in milliseconds, `hm write` adds to them, and so does your own editor."
    ),
    "Start with: hm init",
)
_ROOT_FLAGS = (
    ("--memory-dir FOLDER", MEMORY_DIR.description),
    ("--version", "Print the version."),
    ("--install-completion", "Make Tab complete commands and notes in your shell."),
    ("--show-completion", "Print what --install-completion would install."),
    ("-h, --help", "Print this; after a command, what it does and takes."),
)
VARIABLES = (
    ("HIVEMIND_HOME", "Home folder, with config.json and memory/ (~/.hivemind)."),
    ("HIVEMIND_<OPTION>", "Wins over config.json for any option of `hm config`."),
    ("OPENAI_API_KEY", "Key for OpenAI, once that provider was chosen."),
    ("VISUAL, EDITOR", "The editor of `hm edit`."),
    ("NO_COLOR", "No colour, if it is set to anything."),
    ("HIVEMIND_DEBUG", "Set to 1, an error also prints where it happened."),
)
EXIT_CODES = (
    ("0", "Done; also when nothing was found, unless --fail-empty is given."),
    ("1", "An error; standard error says what is wrong and what to do."),
    ("2", "The command line was not understood."),
    ("130, 141", "Ended by Ctrl-C; the reader of the output left early."),
)
HELP_ROW = ("-h, --help", "Print this.")


def overview_text(width: int) -> str:
    """Return the help of ``hm`` itself, at most *width* columns wide."""
    parts = [*(fill(text, width) for text in _ABOUT)]
    parts.append("Usage: hm [OPTIONS] COMMAND ...")
    for panel in PANELS:
        rows = [(x.name, x.summary) for x in commands_of("") if x.panel == panel]
        rows += [
            (name, said) for name, (said, where, _) in GROUPS.items() if where == panel
        ]
        parts.append(_section(panel, rows, width))
    parts.append(_section("Options", _ROOT_FLAGS, width))
    parts.append(_section("Environment", VARIABLES, width))
    parts.append(_section("Exit codes", EXIT_CODES, width))
    return "\n\n".join(parts) + "\n"


def group_text(group: str, width: int) -> str:
    """Return the help of a group of commands."""
    sentence, _, fallback = GROUPS[group]
    rows = [(x.name.partition(" ")[2], x.summary) for x in commands_of(group)]
    parts = [
        fill(sentence, width),
        _usage_line(f"hm {group} [COMMAND] ...", width),
        _section("Commands", rows, width),
        f"Without a command: hm {fallback}",
    ]
    return "\n\n".join(parts) + "\n"


def command_text(command: Command, width: int) -> str:
    """Return the help of one command."""
    parts = [fill(command.summary, width), _usage_line(usage(command), width)]
    if command.description:
        parts.insert(1, fill(command.description, width))
    if command.arguments:
        rows = [(x.name.upper(), x.description) for x in command.arguments]
        parts.append(_section("Arguments", rows, width))
    parts.append(_section("Options", [*option_rows(command), HELP_ROW], width))
    if command.examples:
        lines = "\n".join(f"  {example}" for example in command.examples)
        parts.append(f"Examples:\n{lines}")
    return "\n\n".join(parts) + "\n"


def usage(command: Command) -> str:
    """Return how a command is typed.

    >>> usage(next(commands_of("config")))
    'hm config list [OPTIONS]'
    """
    places = "".join(f" {_place(argument)}" for argument in command.arguments)
    return f"hm {command.name} [OPTIONS]{places}"


def option_rows(command: Command) -> list[tuple[str, str]]:
    """Return each option of a command as it is typed, with what it is for."""
    flags = (*command.flags, MEMORY_DIR)
    return [(_typed(flag), flag.description) for flag in flags]


def _usage_line(text: str, width: int) -> str:
    """Return how something is typed, folded between words."""
    line = f"Usage: {text}"
    return fill(line, width, subsequent_indent="    ", break_on_hyphens=False)


def help_text(words: str, width: int) -> str:
    """Return the help for ``hm`` followed by *words*, the name of a command or none."""
    for command in COMMANDS:
        if command.name == words:
            return command_text(command, width)
    return group_text(words, width) if words in GROUPS else overview_text(width)


def _typed(flag: Flag) -> str:
    """Return an option as it is typed, with what it takes."""
    value = "|".join(flag.choices) or flag.metavar or flag.kind.upper()
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
