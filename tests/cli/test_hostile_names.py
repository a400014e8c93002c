"""Every command that takes a name, given names full of dashes, quotes and globs."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.cli.table import all_commands
from tests.cli.conftest import Hm
from tests.support.tiers import part

NAMES = (
    "-x",
    "--force",
    "--json=1",
    "-",
    "--",
    "- milk",
    "a -- b",
    "@a",
    "=",
    "k=v",
    "*",
    "*.md",
    "[!x]",
    "{a,b}",
    "?",
    '"q"',
    "it's",
    "$(touch x)",
    "`id`",
    "~nobody",
    "..",
    "../..",
    "/etc/passwd",
    "a/../../b",
    "a:2-3",
    "a:b:c",
    ":9",
    "%s %d",
    "\\",
    "\t",
    "a\nb",
    "a\x1b[31mb",
    "\U0001f41d",
    "x" * 5_000,
)

TEXTS = {"search", "write", "save", "learn", "config set"}
"""What these take is a text of any form: tests/cli/test_text.py."""

ELSEWHERE = {"launch", "exec", "attach", "kill", "connect", "disconnect"}
"""These start programs or write into the home folder of whoever runs the tests."""

NAMING = [
    one.name
    for one in all_commands()
    if one.arguments and one.name not in TEXTS | ELSEWHERE
]
OPTIONS = [
    ("search", "deploy", "--scope"),
    ("search", "deploy", "--type"),
    ("search", "deploy", "--since"),
    ("search", "deploy", "--source-ref"),
    ("list", "--scope"),
    ("list", "--type"),
    ("list", "--agent"),
    ("list", "--since"),
    ("list", "--source-ref"),
    ("log", "--scope"),
    ("log", "--agent"),
    ("log", "--since"),
    ("forget", "--dry-run", "--session"),
    ("forget", "--dry-run", "--day"),
    ("forget", "--dry-run", "--source"),
    ("restore", "--dry-run", "--session"),
]


@pytest.fixture
def kept(hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notes with a memory, a claim and an entry, and an editor that does nothing."""
    monkeypatch.setenv("EDITOR", "true")
    for words in (
        ("save", "deploy-day", "We deploy on Tuesdays."),
        ("save", "--source", "external", "firewall", "Turn it off."),
        ("write", "The deploy took nine minutes."),
    ):
        assert hm(*words).code == 0
    return notes


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file but the index."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".index" not in path.parts
    }


def is_sentence(text: str) -> bool:
    """Whether what stands on standard error was meant for a person."""
    wrong = ("Traceback", "Unexpected", "This is a bug", "\x1b")
    return not any(word in text for word in wrong)


@pytest.mark.sampled
@pytest.mark.parametrize("command", NAMING)
def test_a_hostile_name_finds_nothing_and_changes_nothing(
    hm: Hm, kept: Path, command: str
) -> None:
    """One sentence says so; no name stands for several, or for a file outside."""
    [chosen] = [one for one in all_commands() if one.name == command]
    needed = max(1, sum(one.is_required for one in chosen.arguments))
    before = files_of(kept)

    for name in part(NAMES, NAMING.index(command)):
        after_dashes = ["--", *[name] * needed]
        for words in ([name] * needed, after_dashes)[name == "--" :]:
            ran = hm(*command.split(), *words)

            assert ran.code in (0, 1, 2), (words, ran)
            assert is_sentence(ran.err + ran.out), (words, ran)
            assert ran.code == 0 or ran.err.strip(), (words, ran)
            assert files_of(kept) == before, (words, ran)


@pytest.mark.sampled
@pytest.mark.parametrize("words", OPTIONS, ids=" ".join)
def test_a_hostile_value_of_an_option_changes_nothing(
    hm: Hm, kept: Path, words: tuple[str, ...]
) -> None:
    """It narrows a list to nothing, or is refused."""
    before = files_of(kept)
    *command, option = words

    for name in part(NAMES, OPTIONS.index(words)):
        ran = hm(*command, f"{option}={name}")

        assert ran.code in (0, 1, 2), (name, ran)
        assert is_sentence(ran.err + ran.out), (name, ran)
        assert ran.code == 0 or ran.err.count("error: ") == 1, (name, ran)
        assert files_of(kept) == before, (name, ran)


def test_every_command_with_a_name_only_if_all_known() -> None:
    """Those that are left out are named, with the reason."""
    named = {one.name for one in all_commands() if one.arguments}

    assert set(NAMING) | TEXTS | ELSEWHERE == named
