"""The typer application, made from the table: help, mistakes, completion.

Correct command lines mostly take the quick way (``parse``) and do not come here; what
does come here ends in the same ``CommandRequest`` and the same function.
"""

from __future__ import annotations

import enum
import inspect
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer
import typer.core

from hivemind_memory.cli.completing import completer
from hivemind_memory.cli.entry import EXIT_USAGE, perform
from hivemind_memory.cli.escape import escape_line
from hivemind_memory.cli.helping import help_text
from hivemind_memory.cli.parse import CommandRequest
from hivemind_memory.cli.spec import (
    GROUPS,
    MEMORY_DIR,
    Argument,
    Command,
    Flag,
    commands_of,
    find_command,
)
from hivemind_memory.cli.streams import is_terminal, write_stderr, write_stdout
from hivemind_memory.version import __version__

# What typer's parser raises has no public name, and was click's in older versions; but
# this one has, and the next of its bases is the family.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_TYPES: dict[str, type] = {"flag": bool, "int": int, "float": float, "text": str}


class _Command(typer.core.TyperCommand):
    """A command that is explained by our table."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text."""
        _write_help(ctx, formatter)


class _Group(typer.core.TyperGroup):
    """A group that is explained by our table."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text."""
        _write_help(ctx, formatter)


def run_app(words: Sequence[str]) -> int:
    """Let typer read *words* and do what they say; return the exit code."""
    command = typer.main.get_command(build_app())
    try:
        code = command.main(list(words), prog_name="hm", standalone_mode=False)
    except _UsageError as error:
        return _report_usage(error)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as done:  # how completion ends, in the midst of typer
        code = done.code
    return code if isinstance(code, int) else 0


def build_app() -> typer.Typer:
    """Return the application with every command of the table."""
    app = typer.Typer(
        name="hm",
        cls=_Group,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_begin)
    for command in commands_of(""):
        _add(app, command.name, command)
    for name, (_, _, fallback) in GROUPS.items():
        group = typer.Typer(cls=_Group)
        group.callback(invoke_without_command=True)(_group_callback(fallback))
        for command in commands_of(name):
            _add(group, command.name.partition(" ")[2], command)
        app.add_typer(group, name=name)
    return app


def _begin(
    ctx: typer.Context,
    memory_dir: str | None = typer.Option(
        None,
        *MEMORY_DIR.names,
        help=MEMORY_DIR.description,
        metavar=MEMORY_DIR.metavar,
    ),
    version: bool = typer.Option(False, "--version", help="Print the version."),
) -> None:
    """Keep what every command wants to know."""
    ctx.obj = memory_dir
    if version:
        write_stdout(f"hm {__version__}\n")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        write_stdout(f"{ctx.get_help().rstrip()}\n")


def _group_callback(fallback: str) -> Callable[[typer.Context], Any]:
    """Return what a group does when no command of it follows."""

    def call(ctx: typer.Context) -> int:
        command = find_command(fallback)
        if ctx.invoked_subcommand is not None or command is None:
            return 0
        values: dict[str, Any] = {flag.name: _nothing(flag) for flag in command.flags}
        for argument in command.arguments:
            values[argument.name] = () if argument.is_many else None
        return perform(CommandRequest(command, values, ctx.obj))

    return call


def _add(app: typer.Typer, name: str, command: Command) -> None:
    """Add one command of the table; its summary is what a shell shows beside it."""
    app.command(name, cls=_Command, help=command.summary)(_function(command))


def _function(command: Command) -> Callable[..., int]:
    """Return a function with the signature from which typer reads the options."""
    flags = (*command.flags, MEMORY_DIR)

    def call(ctx: typer.Context, **given: Any) -> int:
        # Names in Python end with a dash below: ``from`` alone would be a keyword.
        values = {name.removesuffix("_"): value for name, value in given.items()}
        for argument in command.arguments:
            if argument.is_many:
                values[argument.name] = tuple(values[argument.name] or ())
        for flag in command.flags:
            if flag.choices and values[flag.name] is not None:
                values[flag.name] = values[flag.name].value
        memory_dir = values.pop(MEMORY_DIR.name) or ctx.obj
        return perform(CommandRequest(command, values, memory_dir))

    parameters = [_parameter("ctx", typer.Context, inspect.Parameter.empty)]
    for argument in command.arguments:
        kind = list[str] if argument.is_many else str
        parameters.append(_parameter(f"{argument.name}_", kind, _argument(argument)))
    parameters += [_parameter(f"{x.name}_", _type(x), _flag(x)) for x in flags]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    """Return one parameter of a signature."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _argument(argument: Argument) -> Any:
    """Return an argument as typer wants it declared."""
    return typer.Argument(
        ... if argument.is_required else None,
        help=argument.description,
        metavar=argument.name.upper(),
        show_default=False,
        autocompletion=completer(argument.completes),
    )


def _flag(flag: Flag) -> Any:
    """Return an option as typer wants it declared."""
    return typer.Option(
        _nothing(flag),
        *flag.names,
        help=flag.description,
        metavar=flag.metavar or None,
        min=flag.low,
        max=flag.high,
        show_default=False,
    )


def _type(flag: Flag) -> Any:
    """Return the type of an option's value."""
    if flag.choices:
        return enum.Enum(flag.name, {choice: choice for choice in flag.choices})
    return _TYPES[flag.kind]


def _nothing(flag: Flag) -> bool | None:
    """Return the value of an option that was not given."""
    return False if flag.kind == "flag" else None


def _write_help(ctx: Any, formatter: Any) -> None:
    """Write the help for the command of *ctx*."""
    words = ctx.command_path.partition(" ")[2]
    columns = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else 80
    formatter.write(help_text(words, max(40, min(columns, 100))))


def _report_usage(error: Any) -> int:
    """Say what was not understood, and where it is explained."""
    path = error.ctx.command_path if error.ctx else "hm"
    hint = f"`{path} --help` shows how it is used."
    if path in ("hm search", "hm exec", "hm launch"):
        hint += " Words that begin with a dash come after --."
    write_stderr(f"error: {escape_line(error.format_message())}\n")
    write_stderr(f"hint: {hint}\n")
    return EXIT_USAGE
