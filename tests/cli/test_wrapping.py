"""What every command prints at a terminal, narrow or wide: nothing is torn apart."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from hivemind_memory.cli.wrap import break_offsets, cell_width, wrap_line
from tests.cli.conftest import Hm
from tests.cli.test_unknown import ELSEWHERE
from tests.support.terminal import read_to_end

if os.name != "posix":
    pytest.skip("these are POSIX terminals", allow_module_level=True)

import pty

from tests.support.tiers import mostly_thorough

KEY = "what-the-platform-team-decided-about-deploys-of-the-shop-on-holidays"
BLANKS = "Meeting notes of the platform team in May.md"
NESTED = "projects/shop/the-incident-of-the-second-of-november-and-what-followed.md"
END = "\x02"
COMMANDS = (
    "init",
    "list",
    "list --type lesson,fact",
    "list --status all",
    "log",
    "log --changes",
    f"show {KEY}",
    f"history {KEY}",
    "inbox",
    "search wombat",
    "search --explain wombat",
    f"forget --dry-run {KEY}",
    "undo --dry-run",
    "status",
    "doctor",
    "config",
    "config path",
    "project list",
    f"save {KEY} Something else",
    f"learn {KEY} a wombat digs",
    f"link {KEY} firewall",
    "search --type nosuch wombat",
    f"write --file {NESTED} A wombat again",
)
CHILD = """
import json, sys
from hivemind_memory.cli.main import main
for words in json.loads(sys.argv[1]):
    main(words)
    sys.stdout.write(chr(2)); sys.stdout.flush()
"""


def screens(commands: list[list[str]], columns: int) -> list[str]:
    """Return what each of the commands prints in one real terminal."""
    child, descriptor = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), NO_COLOR="1")
        os.execv(sys.executable, [sys.executable, "-c", CHILD, json.dumps(commands)])
    shown = read_to_end(descriptor)
    os.waitpid(child, 0)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", shown)
    return shown.split(END)[:-1]


@pytest.mark.parametrize("columns", mostly_thorough([40, 60, 80, 100, 200], every=3))
def test_no_command_tears_a_path_a_key_or_a_command_apart(
    hm: Hm, home: Path, notes: Path, columns: int
) -> None:
    """Half a path in each of two lines can neither be read nor copied.

    What is wider than the terminal stands in a line of its own, which the terminal
    itself continues and copies as one; every other line fits.
    """
    hm("save", "--type", "lesson", KEY, "Never on Fridays, and never alone. " * 4)
    hm("save", "--reason", "a new team", KEY, "Never on a day before a holiday. " * 4)
    pending = hm(
        *("save", "--json", "--type", "fact", "--source", "external"),
        *("firewall", "It is in /etc/very/long/path/to/the/rules/of/the/firewall.conf"),
    ).json["path"]
    hm("save", "東京のデプロイ", "東京リージョンのデプロイは毎週火曜日です。" * 4)
    hm("write", "--file", BLANKS, "A wombat came to the meeting. " * 9)
    hm("write", "--file", NESTED, "A wombat came to the incident. " * 9)

    shown = screens([words.split() for words in COMMANDS], columns)

    assert len(shown) == len(COMMANDS)
    older = hm("history", "--json", KEY).json["memories"][-1]["path"]
    names = [KEY, BLANKS, NESTED, pending, older, str(home), "東京のデプロイ"]
    for command, screen in zip(COMMANDS, shown, strict=True):
        lines = screen.splitlines()
        whole = "".join(screen.split())
        for name in names:
            squeezed = "".join(name.split())
            torn = whole.count(squeezed) - sum(
                "".join(line.split()).count(squeezed) for line in lines
            )
            assert torn == 0, (command, name)
        spans = re.findall(r"`hm [^`]*`", screen)
        assert not any("\n" in span for span in spans), command
        for line in lines:
            words = line
            for name in (*names, *spans):
                words = words.replace(name, "x" * len(name))
            assert cell_width(line) <= columns or len(words.split()) == 1, line


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_the_nearest_places_are_wrapped_between_words(
    hm: Hm, notes: Path, columns: int
) -> None:
    """Where nothing is known they are all that the screen shows."""
    file = notes / "deploy.md"
    headings = "How it is rolled back when the first attempt has failed"
    file.write_text(file.read_text().replace("## Rollback", f"## {headings}"))

    [shown] = screens([["search", "--min-score", "0", *ELSEWHERE.split()]], columns)

    title = "No answer found. Closest passages:"
    assert " ".join(shown.split()).startswith(f"{title} deploy.md:5-7 ")
    assert f"Deploying > {headings}" in " ".join(shown.split())
    assert max(map(cell_width, shown.splitlines())) <= columns


def test_a_folded_head_and_a_size_stay_recognizable(hm: Hm, notes: Path) -> None:
    """At the left edge a heading looks like another hit, and a unit like nothing."""
    headings = "How it is rolled back when the first attempt has failed, and by whom"
    (notes / "deploy.md").write_text(f"# {headings}\n\n## Then\n\nA wombat digs.\n")

    for columns in (50, 54, 58, 62):
        search, status = screens([["search", "wombat"], ["status"]], columns)
        head, rest = search.splitlines()[:2]
        assert head.startswith("deploy.md:"), head
        assert rest.startswith("    "), search
        assert not re.search(r"^ *[kM]?B\)", status, re.MULTILINE)


def test_a_table_shows_the_keys_and_places_that_it_lists(
    hm: Hm, home: Path, notes: Path
) -> None:
    """The test above would hold for a screen that names nothing."""
    hm("save", "--type", "lesson", KEY, "Never on Fridays.")
    hm("write", "--file", BLANKS, "A wombat came to the meeting. " * 9)

    listed, typed, log, found = screens(
        [["list"], ["list", "--type", "lesson"], ["log"], ["search", "wombat"]], 40
    )

    assert BLANKS in listed
    assert KEY in typed
    assert f"{KEY}.md:" in typed
    assert f"{KEY}.md:" in log
    assert f"{BLANKS}:1-2" in found


@pytest.mark.parametrize("width", [20, 33, 60])
def test_a_line_is_broken_at_blanks_and_loses_no_word(width: int) -> None:
    """Words longer than the width stay whole, and so do commands."""
    line = "forget it: `hm restore 01M82GDHJ4SWC508QJRN0CWS1V` brings back a/b c.md:1-2"

    shown = wrap_line(line, width, hang="  ", keep=["a/b c.md:1-2"])

    assert "".join(shown.split()) == "".join(line.split())
    assert "`hm restore 01M82GDHJ4SWC508QJRN0CWS1V`" in shown
    assert "a/b c.md:1-2" in shown


def test_a_script_without_blanks_is_broken_between_its_signs() -> None:
    """Each sign fills two columns, so a line of twenty holds ten."""
    text = "東京リージョンのデプロイは毎週火曜日です。"

    offsets = break_offsets(text, 20)

    assert offsets == [10, 20]


def test_only_what_is_too_wide_loses_its_indent() -> None:
    """A path of 90 signs cannot stand in 20 columns; what follows it can."""
    shown = wrap_line(f"forgot {'x' * 19} (an earlier version)", 20, hang="    ")

    assert shown.split("\n") == [
        "forgot",
        f" {'x' * 19}",
        "    (an earlier",
        "    version)",
    ]
