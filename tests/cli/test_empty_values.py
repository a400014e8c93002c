"""An empty value, as of a variable that a script did not set, is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.cli.command import Command, Flag
from hivemind_memory.cli.parse import parse_request
from hivemind_memory.cli.table import command_names, load_command
from hivemind_memory.errors import UsageError
from tests.cli.conftest import Hm

COMMANDS = [load_command(name) for name in command_names()]
OPTIONS = [
    (command, flag)
    for command in COMMANDS
    for flag in command.flags
    if flag.kind != "flag"
]
ARGUMENTS = [
    (command, at)
    for command in COMMANDS
    for at, argument in enumerate(command.arguments)
    if not argument.is_many and not argument.may_be_empty
]


@pytest.mark.parametrize("blank", ["", "  "])
@pytest.mark.parametrize(
    ("command", "flag"),
    OPTIONS,
    ids=[f"{command.name} {flag.names[-1]}" for command, flag in OPTIONS],
)
def test_an_option_without_a_value_is_refused(
    command: Command, flag: Flag, blank: str
) -> None:
    """`hm write --file "" x` went to the day's note without a word."""
    words = [*command.name.split(), flag.names[-1], blank, "x", "y"]

    if command.is_hook or command.name == "exec":
        assert "is empty and ignored" in " ".join(parse_request(words).notes)
        return
    with pytest.raises(UsageError) as refused:
        parse_request(words)

    assert f"The value of `{flag.names[-1]}` is empty." in str(refused.value)
    assert "Leave it out" in refused.value.hint


@pytest.mark.parametrize(
    ("command", "at"),
    ARGUMENTS,
    ids=[f"{command.name} {command.arguments[at].name}" for command, at in ARGUMENTS],
)
def test_an_empty_argument_is_refused(command: Command, at: int) -> None:
    """`hm undo ""` undid the last change, `hm edit ""` opened global.md."""
    words = [*command.name.split(), *["x"] * at, ""]

    with pytest.raises(UsageError) as refused:
        parse_request(words)

    name = command.arguments[at].name.upper()
    assert f"`hm {command.name}` was given an empty {name}." in str(refused.value)
    assert refused.value.hint.startswith("Usage: hm ")


def test_nothing_is_written_or_taken_back(hm: Hm, home: Path) -> None:
    """The sentence says so, and the notes are as they were."""
    hm("write", "The walrus is staging.")
    before = {path: path.read_bytes() for path in home.rglob("*.md")}

    for words in (
        ("write", "--file", "", "x"),
        ("write", "--scope=", "x"),
        ("save", "--type", "", "k", "x"),
        ("save", "", "x"),
        ("undo", ""),
        ("forget", "--session", "", "--yes"),
        ("--memory-dir", "", "write", "x"),
    ):
        ran = hm(*words)
        assert ran.code == 2, words
        assert "empty" in ran.err
        if words[0] in {"write", "save"}:
            assert "Nothing was saved" in ran.err

    assert {path: path.read_bytes() for path in home.rglob("*.md")} == before


def test_an_empty_value_of_an_option_in_the_config_stays_possible(hm: Hm) -> None:
    """It undoes what was set; so does an empty word for another program."""
    assert hm("config", "set", "openai_base_url", "").code == 0
    assert parse_request(["exec", "--", "claude", ""]).values["command"] == (
        "claude",
        "",
    )
