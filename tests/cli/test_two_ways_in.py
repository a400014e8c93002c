"""The quick way in and the way through typer understand the same words alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivemind_memory.cli import app, entry
from hivemind_memory.cli.parse import CommandRequest, parse_request
from hivemind_memory.cli.spec import COMMANDS, MEMORY_DIR

WORDS = st.sampled_from(
    ("deploy", "", "-", "--", "a b", "café", "-x", "--jso", "global.md", "7", "-1")
)
NUMBERS = ("3", "0", "1", "0.5", ".5", "1.", "1001", "-1", "nan", "1e-1", " 2", "٣")
TEXTS = ("x", "human", "robot", "", "--json", "--", "a=b", "9" * 20)
VALUES = st.sampled_from(NUMBERS) | st.sampled_from(TEXTS)
FLAGS = sorted({flag.names for command in COMMANDS for flag in command.flags})


@st.composite
def typed_flag(draw: st.DrawFn) -> list[str]:
    """An option of any command, in one of the ways in which people type it."""
    name = draw(st.sampled_from(draw(st.sampled_from([*FLAGS, MEMORY_DIR.names]))))
    value = draw(VALUES)
    return draw(
        st.sampled_from(
            [[name], [name, value], [f"{name}={value}"], [f"{name}{value}"]]
        )
    )


@st.composite
def command_line(draw: st.DrawFn) -> list[str]:
    """A line that begins with a command and goes on with anything."""
    before = draw(st.sampled_from([[], ["--memory-dir", "d"], ["--memory-dir=d"]]))
    command = draw(st.sampled_from(COMMANDS)).name.split()
    if draw(st.integers(0, 9)) == 0:
        command = command[:1]
    pieces = st.one_of(st.lists(WORDS, max_size=2), typed_flag())
    after = draw(st.lists(pieces, max_size=4))
    return [*before, *command, *(word for piece in after for word in piece)]


class PerformedError(Exception):
    """Carries what a way in would have done."""

    def __init__(self, request: CommandRequest) -> None:
        super().__init__()
        self.seen = (request.command.name, request.values, request.memory_dir)


def through_typer(words: list[str]) -> Any:
    """What typer makes of *words*: command, values and folder, or an exit code."""

    def perform(request: CommandRequest) -> int:
        raise PerformedError(request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "perform", perform)
        try:
            return app.run_app(words)
        except PerformedError as performed:
            return performed.seen


@settings(max_examples=600, deadline=None)
@given(command_line())
def test_what_the_quick_way_understands_typer_understands_alike(
    words: list[str],
) -> None:
    """Two parsers that disagree would be two programs."""
    request = parse_request(words)

    if request is not None:
        seen = (request.command.name, request.values, request.memory_dir)
        assert through_typer(words) == seen


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(COMMANDS), st.data())
def test_the_quick_way_understands_what_is_plain_and_correct(
    command: Any, data: st.DataObject
) -> None:
    """Else the everyday question would take the slow way and nobody would notice."""
    plain = {"int": "3", "float": "0.5", "text": "x", "flag": None}
    words = command.name.split()
    for flag in data.draw(st.lists(st.sampled_from((*command.flags, MEMORY_DIR)))):
        value = flag.choices[0] if flag.choices else plain[flag.kind]
        words += [data.draw(st.sampled_from(flag.names))]
        words += [value] if value is not None else []
    words += ["word"] * len(command.arguments)

    request = parse_request(words)

    assert request is not None
    assert request.command is command


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["-h"],
        ["search"],
        ["search", "--help"],
        ["search", "x", "-h"],
        ["search", "-n", "0", "x"],
        ["search", "-n"],
        ["search", "--unknown", "x"],
        ["serach", "x"],
        ["get"],
        ["get", "a", "b"],
        ["config", "what"],
        ["--unknown"],
        ["--memory-dir"],
        ["--install-completion"],
    ],
)
def test_help_and_mistakes_are_left_to_typer(words: list[str]) -> None:
    """So that their texts exist once."""
    assert parse_request(words) is None


def test_a_completion_is_left_to_typer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shell asks through the environment, with a command line that looks plain."""
    monkeypatch.setenv("_HM_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "hm sea")
    monkeypatch.setenv("COMP_CWORD", "1")

    code = entry.main(["search", "x"])

    assert (code, capsys.readouterr().out.strip()) == (0, "search")
