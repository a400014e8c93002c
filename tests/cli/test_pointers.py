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
    "delete remove reindex index server secrets import export note remember recall"
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
        text = hm("help", name).out
        short = next(line for line in text.split("\n") if line.startswith("Short: "))
        assert f"hm {alias}" in short.removeprefix("Short: ").split(", ")
        assert hm("help", alias).out == text
    assert "Short: hm find, hm grep\n" in hm("help", "search").out
    assert "Short: hm kv rm\n" in hm("help", "kv", "rm").out


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_ls_and_rm_work_in_groups_too(group: str) -> None:
    """Wherever the group has a command that lists or deletes."""
    names = set(command_names(group))

    if f"{group} list" in names:
        assert parse_request([group, "ls"]).command.name == f"{group} list"
    deleting = names & {f"{group} delete", f"{group} revoke"}
    if deleting:
        assert parse_request([group, "rm", "x"]).command.name in deleting


def test_rm_deletes_the_value_of_a_program(hm: Hm) -> None:
    """It is short for `hm kv delete`."""
    hm("kv", "set", "lock", "ci")

    assert hm("kv", "rm", "lock").out == "lock: deleted\n"
    assert hm("kv", "ls", "--json").out == "[]\n"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("token", "create", "ci"), "hm token add NAME"),
        (("kv", "put", "a", "1"), "hm kv set KEY VALUE"),
        (("vault", "run", "K", "--", "true"), "hm vault exec KEY -- COMMAND"),
        (("activity", "find", "tide"), "hm activity search QUERY"),
        (("activity", "tide"), "hm activity search QUERY"),
    ],
)
def test_a_guess_in_a_group_is_answered(
    hm: Hm, words: tuple[str, ...], answer: str
) -> None:
    """And never runs."""
    ran = hm(*words)

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(f"\nhint: Did you mean `{answer}`?\n")


def test_an_agent_may_be_guessed_by_the_name_of_its_product(hm: Hm) -> None:
    """`code` is nearer to codex, but is the command of VS Code."""
    assert "Did you mean vscode?" in hm("connect", "code").err
    assert "Did you mean claude?" in hm("connect", "claude-code").err


def test_a_large_bound_is_written_in_digits(hm: Hm) -> None:
    """Not as a power of ten."""
    assert (
        "at most 315360000 seconds" in hm("kv", "set", "--ttl", "9999d", "a", "b").err
    )


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("help search save", "`hm help search` explains `hm search`."),
        ("help nope x", "`hm help all` lists every command."),
        ("mcp add", "Did you mean `hm connect`?"),
        ("mcp list", "Did you mean `hm connect --dry-run`?"),
        ("connect --agent claude", "AGENT is not an option: `hm connect AGENT`."),
        ("config edit", "Did you mean `hm config path`?"),
        ("upgrade", "Upgrade hm with the program that installed it: pipx, uv or pip."),
        ("show", "Usage: hm show [OPTIONS] REF\n"),
    ],
)
def test_a_hint_fits_what_was_typed(hm: Hm, line: str, hint: str) -> None:
    """`hm help search save` offered a list of the commands of `hm search`."""
    ran = hm(*line.split())

    assert ran.code == 2
    assert f"hint: {hint}" in ran.err
