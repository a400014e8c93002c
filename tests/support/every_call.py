"""Every command and every tool, with every name that might lead into a scope.

The calls are made from the declarations: each argument and each option that takes a
text takes each of the names. So a new command, tool, option or argument joins by
itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from mcp.types import Tool

from hivemind_memory.cli.command import Argument, Command, Flag
from hivemind_memory.cli.table import all_commands
from tests.support.access_matrix import (
    HIDDEN_SESSION,
    names_of,
    scopes_of,
    unlike_others,
)

NOT_PLAYED = {
    "mcp": "serves until its client leaves; its tools are played",
    "serve": "serves until it is stopped; its routes are played",
    "dashboard": "starts a server; its pages are played",
    "watch": "runs until it is stopped",
    "launch": "starts tmux and an agent; inject is played",
    "exec": "becomes another program; inject is played",
    "attach": "becomes tmux",
    "kill": "ends a session of tmux",
    "sessions": "lists what tmux runs, not the memory",
    "vault exec": "becomes another program",
    "model fetch": "downloads",
    "model list": "tells of the machine, not of the memory",
    "restore-backup": "needs an empty home",
    "init": "needs a home without notes",
    "completion": "prints a script",
    "help": "prints what is declared",
    "version": "prints a number",
}
"""Command -> why it is not played: it tells nothing of a memory, or does not return."""

_PATHS = frozenset(
    {"ref", "path", "from", "to", "folder", "block", "scope", "in", "file"}
)
"""Arguments and options that may name a note by a whole path, which holds the home's
own name. Elsewhere it would be a text with other words in each of the two homes."""


def command_calls(hidden: str) -> Iterator[tuple[str, ...]]:
    """Yield lines of every command; each value of one option or argument by itself."""
    for command in all_commands():
        if command.name not in NOT_PLAYED:
            yield from _lines(command, hidden)


def _lines(command: Command, hidden: str) -> Iterator[tuple[str, ...]]:
    """Yield the lines of one command, every other one with ``--json``."""
    flags = {flag.name: flag for flag in command.flags}
    as_json = itertools.cycle(((), ("--json",)) if "json" in flags else ((),))
    needed = [one for one in command.arguments if one.is_required]
    names = [*names_of(hidden), HIDDEN_SESSION, "only-key-late", "only-key-value"]
    spelled = [*names, *scopes_of(hidden)]

    def line(options: Iterable[str], given: dict[str, str]) -> tuple[str, ...]:
        tried = (*command.name.split(), *options, *given.values())
        words = [
            given.get(one.name, _usual(one.name, tried))
            for one in command.arguments
            if one in needed or one.name in given or one.name == "text"
        ]
        return (*command.name.split(), *next(as_json), *options, "--", *words)

    yield line((), {})
    for argument in command.arguments:
        for name in [] if _is_file(argument) else _fit(argument.name, spelled):
            yield line((), {argument.name: name})
    for flag in flags.values():
        for value in _values(flag, _fit(flag.name, spelled)):
            yield line((flag.names[-1], *value), {})


def _fit(name: str, spelled: list[str]) -> list[str]:
    """Return the names that an argument or option is given."""
    return [one for one in spelled if name in _PATHS or "{home}" not in one]


def _usual(argument: str, tried: tuple[str, ...]) -> str:
    """Return what an argument is given where another one is tried."""
    if argument in {"text", "claim"}:  # of near copies, any may be named
        return unlike_others(" ".join(tried))
    return "okapi" if argument in {"what", "query"} else "visible-key"


def _is_file(argument: Argument) -> bool:
    """Return whether it names a file or another program's words, and no memory."""
    return argument.is_raw or argument.name in {"file", "words"}


def _values(flag: Flag, spelled: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield what an option is given."""
    if flag.kind == "flag":
        yield ()
    elif flag.choices:
        yield from ((one,) for one in flag.choices)
    elif flag.kind == "text":
        yield from ((one,) for one in spelled)


def tool_calls(tools: Iterable[Tool], hidden: str) -> Iterator[tuple[str, Any]]:
    """Yield calls of every tool, as its schema declares its arguments."""
    spelled = [*names_of(hidden), *scopes_of(hidden), HIDDEN_SESSION, "only-key-late"]
    for tool in tools:
        fields: dict[str, Any] = tool.input_schema.get("properties", {})
        needed = {
            name: _sample(fields[name])
            for name in tool.input_schema.get("required", ())
        }
        yield tool.name, needed
        for name, schema in fields.items():
            for word in _fit(name, spelled) if _takes_text(schema) else ():
                value = [word] if schema.get("type") == "array" else word
                given = {**needed, name: value}
                if "content" in needed and name != "content":
                    given["content"] = unlike_others(f"{tool.name} {name} {word}")
                yield tool.name, given


def _takes_text(schema: dict[str, Any]) -> bool:
    """Return whether an argument is a text or a list of texts."""
    kinds = {one.get("type") for one in (schema, *schema.get("anyOf", ()))}
    return bool(kinds & {"string", "array"})


def _sample(schema: dict[str, Any]) -> Any:
    """Return a value for an argument that is needed."""
    if listed := schema.get("enum"):
        return listed[0]
    return {"integer": 1, "number": 0.5, "array": []}.get(
        str(schema.get("type")), "visible-key"
    )
