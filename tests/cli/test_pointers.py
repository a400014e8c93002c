"""What people type by habit is answered with what to type here."""

from __future__ import annotations

import re
import shlex

import pytest

from hivemind_memory.cli.other_programs import POINTERS, pointer
from hivemind_memory.cli.parse import parse_request
from hivemind_memory.cli.table import ALIASES, GROUPS, command_names
from hivemind_memory.errors import UsageError
from tests.cli.conftest import Hm

GUESSES = shlex.split(
    "find grep cat delete remove reindex index serve import export note remember recall"
    " query new open tag sync-now login config-edit update install mv cp git"
)


@pytest.mark.parametrize("word", GUESSES)
def test_a_guessed_command_is_answered_on_one_line(hm: Hm, word: str) -> None:
    """An error, one hint, and nothing done."""
    ran = hm(word, "x")

    assert (ran.code, ran.out) == (2, "")
    error, hint, end = ran.err.split("\n")
    assert error == f"error: There is no command `hm {word}`."
    assert hint == f"hint: {pointer(word)}"
    assert "`hm " in hint
    assert end == ""


@pytest.mark.parametrize("answer", sorted(set(POINTERS.values())))
def test_what_is_offered_is_a_command(answer: str) -> None:
    """As it is offered, with its places filled."""
    words = ["deploy" if one.isupper() else one for one in shlex.split(answer)[1:]]

    request = parse_request(words)

    assert request.command.name != "help" or answer == "hm help"
    assert request.notes == ()


def test_no_guess_hides_a_command() -> None:
    """A word of the table is never answered with another one."""
    names = {one.partition(" ")[0] for one in command_names()} | {*GROUPS, *ALIASES}

    assert not names & {*POINTERS}


@pytest.mark.parametrize("word", sorted(POINTERS))
def test_no_guess_runs(word: str) -> None:
    """Above all none that deletes."""
    with pytest.raises(UsageError) as raised:
        parse_request([word, "x"])

    assert re.fullmatch(r"Did you mean `hm [^`]+`\?", raised.value.hint)


def test_an_alias_is_named_in_the_help_of_its_command(hm: Hm) -> None:
    """`hm help list` says that `ls` is short for it."""
    for alias, name in ALIASES.items():
        assert f"Short: hm {alias}" in hm("help", name).out
        assert f"Short: hm {alias}" in hm("help", alias).out
