"""The quick way from words to a request, without typer.

It understands what is plain and correct. For everything else (help, a mistake, a
completion) it returns nothing, and the typer application made from the same table
answers, so that help texts and messages exist once. A test compares the two ways.
"""

from __future__ import annotations

from hivemind_memory.cli.spec import GROUPS, MEMORY_DIR, Command, Flag, find_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class CommandRequest:
    """A command with the values of its arguments and options, all of them present."""

    __slots__ = ("command", "memory_dir", "values")

    def __init__(
        self, command: Command, values: dict[str, Any], memory_dir: str | None
    ) -> None:
        self.command = command
        self.values = values
        """Name -> value; None, False or an empty tuple when it was not given."""
        self.memory_dir = memory_dir


def parse_request(words: Sequence[str]) -> CommandRequest | None:
    """Return what *words* ask for, or nothing when it is not plain and correct."""
    rest = list(words)
    memory_dir: str | None = None
    while rest and rest[0].startswith("-"):
        value, rest = _global_flag(rest)
        if value is None:
            return None
        memory_dir = value
    command, rest = _command(rest)
    if command is None:
        return None
    flags = {name: flag for flag in command.flags for name in flag.names}
    flags[MEMORY_DIR.names[0]] = MEMORY_DIR
    values: dict[str, Any] = {
        flag.name: False if flag.kind == "flag" else None for flag in flags.values()
    }
    places = _take_flags(rest, flags, values)
    if places is None or not _place(command, places, values):
        return None
    return CommandRequest(command, values, values.pop("memory_dir") or memory_dir)


def _global_flag(rest: list[str]) -> tuple[str | None, list[str]]:
    """Return the value of a --memory-dir before the command, and what follows."""
    name, equals, value = rest[0].partition("=")
    if name != MEMORY_DIR.names[0]:
        return None, rest
    if equals:
        return value, rest[1:]
    return (rest[1], rest[2:]) if len(rest) > 1 else (None, rest)


def _command(rest: list[str]) -> tuple[Command | None, list[str]]:
    """Return the command that the first one or two words name, and what follows."""
    if not rest:
        return None, rest
    if rest[0] not in GROUPS:
        return find_command(rest[0]), rest[1:]
    if len(rest) == 1:
        return find_command(GROUPS[rest[0]][2]), []
    return find_command(f"{rest[0]} {rest[1]}"), rest[2:]


def _take_flags(
    rest: list[str], flags: dict[str, Flag], values: dict[str, Any]
) -> list[str] | None:
    """Put the options into *values*; return the other words, in order."""
    places: list[str] = []
    words = iter(rest)
    for word in words:
        if word == "--":
            places.extend(words)
        elif len(word) < 2 or word[0] != "-":
            places.append(word)
        else:
            name, equals, text = word.partition("=")
            flag = flags.get(name)
            if flag is None or (flag.kind == "flag" and equals):
                return None
            if equals and not name.startswith("--"):
                return None
            if flag.kind == "flag":
                values[flag.name] = True
                continue
            value = _value(flag, text if equals else next(words, None))
            if value is None:
                return None
            values[flag.name] = value
    return places


def _value(flag: Flag, text: str | None) -> object:
    """Return the value of an option in its type, or nothing when it is unusual."""
    if text is None:
        return None
    if flag.kind == "text":
        return text if not flag.choices or text in flag.choices else None
    digits = text.replace(".", "", 1) if flag.kind == "float" else text
    # Short and plain digits only: what int() and float() take beyond that is for typer.
    if not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        return None
    number = float(text) if flag.kind == "float" else int(text)
    if flag.low is not None and number < flag.low:
        return None
    if flag.high is not None and number > flag.high:
        return None
    return number


def _place(command: Command, places: list[str], values: dict[str, Any]) -> bool:
    """Give the words to the arguments; return whether they fit."""
    for argument in command.arguments:
        if argument.is_many:
            values[argument.name] = tuple(places)
            places = []
            is_missing = not values[argument.name]
        else:
            values[argument.name] = places[0] if places else None
            is_missing = not places
            places = places[1:]
        if is_missing and argument.is_required:
            return False
    return not places
