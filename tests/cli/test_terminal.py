"""``hm`` as a process: pipes that close, odd encodings, real terminals, signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.cli import indexing
from hivemind_memory.cli.progress import ProgressDisplay
from hivemind_memory.cli.terminal import columns_text
from tests.cli.conftest import Hm
from tests.support.forked import become_hm, load_once
from tests.support.terminal import read_to_end

if os.name != "posix":
    pytest.skip("these are POSIX pipes and terminals", allow_module_level=True)

import pty

from tests.support.tiers import mostly_thorough

COMMAND = [sys.executable, "-m", "hivemind_memory.cli"]

COLUMNS = 60
"""Width of the terminal."""


def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run ``hm`` with pipes on all sides."""
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        encoding="latin-1",
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def on_terminal(*words: str, **environ: str) -> tuple[int, str]:
    """Run ``hm`` in a terminal; return its exit code and the screen."""
    load_once()
    child, descriptor = pty.fork()
    if child == 0:
        terminal = {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
        become_hm(["hm", *words], {**os.environ, **terminal, **environ})
    text = read_to_end(descriptor)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), text


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_early_is_told_by_the_exit_code(
    notes: Path, unbuffered: str
) -> None:
    """Quietly: nobody wants to see a traceback after ``| head``."""
    (notes / "long.md").write_text("wombat\n" * 200_000)
    with subprocess.Popen(
        [*COMMAND, "get", "long.md"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()

    assert (process.returncode, err) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
@pytest.mark.parametrize("words", [["list"], ["search", "deploy"], ["--help"]])
def test_output_that_could_not_be_written_is_an_error(
    notes: Path, words: list[str]
) -> None:
    """A truncated result must not look like success."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        ran = subprocess.run(
            [*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, check=False
        )

    assert ran.returncode == 1
    assert ran.stderr.startswith(b"error: ")
    assert b"the disk is full" in ran.stderr
    assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "environ",
    mostly_thorough(
        [
            {"LC_ALL": "C"},
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONIOENCODING": "ascii"},
            {"PYTHONIOENCODING": "ascii:strict"},
            {"PYTHONIOENCODING": "latin-1"},
        ],
        every=2,
    ),
)
def test_any_locale_gets_an_answer(notes: Path, environ: dict[str, str]) -> None:
    """Servers and containers often have none."""
    (notes / "plain.md").write_text("Le café ferme.\n", encoding="utf-8")
    ran = [
        run(*words, PYTHONUNBUFFERED=unbuffered, **environ)
        for words in (["search", "café"], ["search", "café", "--json"], ["list"])
        for unbuffered in ("", "1")
    ]

    assert [one.returncode for one in ran] == [0] * 6
    assert all("plain.md" in one.stdout for one in ran)
    assert not any("Traceback" in one.stderr for one in ran)
    assert json.loads(ran[2].stdout)["hits"]


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_a_note_with_a_name_beyond_ascii_is_read_in_any_locale(
    notes: Path, locale: str
) -> None:
    """An ASCII locale once made its index look damaged, and left the note out."""
    (notes / "ü.md").write_text("The wombat digs.\n", encoding="utf-8")
    environ = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    usual = run("search", "wombat", "--json", PYTHONUTF8="1")

    ran = [
        run("search", "wombat", "--json", **environ),
        run("search", "café", "--json", **environ),
        run("get", "ü.md", **environ),
        run("write", "--file", "é.md", "The numbat naps.", **environ),
        run("search", "numbat", "--json", PYTHONUTF8="1"),
    ]

    assert [one.returncode for one in ran] == [0] * 5
    assert not any("damaged" in one.stderr for one in ran)
    hits = [json.loads(ran[at].stdout)["hits"] for at in (0, 1, 4)]
    assert hits[0] == json.loads(usual.stdout)["hits"]
    names = [[hit["path"].encode("latin-1").decode() for hit in some] for some in hits]
    assert names == [["ü.md"], ["cafés.md"], ["é.md"]]
    assert "The wombat digs." in ran[2].stdout


def test_a_person_sees_colour_and_the_words_lit_up(notes: Path) -> None:
    """And every line fits."""
    code, screen = on_terminal("search", "when", "do", "we", "deploy")

    assert code == 0
    assert "\x1b[1;33mdeploy" in screen
    assert "by keyword search" in screen
    lines = re.sub(r"\x1b\[[0-9;]*m", "", screen).split("\n")
    assert [line for line in lines if len(line) > COLUMNS] == []


def test_a_terminal_shows_five_hits_and_the_best_one_whole(hm: Hm, notes: Path) -> None:
    """Ten would scroll the best one off the screen; one line says what is left."""
    best = "# Wombat\n\nwombat wombat\n\n" + "\n".join(f"line {n}" for n in range(14))
    (notes / "wombat.md").write_text(f"{best}\n")
    for number in range(9):
        (notes / f"other-{number}.md").write_text(
            f"Animal {number}\n" * 9 + f"A wombat of kind {number}.\n"
        )

    hm("sync")
    _, screen = on_terminal("search", "wombat", NO_COLOR="1")
    _, three = on_terminal("search", "-n", "3", "wombat", NO_COLOR="1")
    hm("config", "set", "max_results", "7")
    _, seven = on_terminal("search", "wombat", NO_COLOR="1")
    plain = hm("search", "wombat")

    texts = [re.sub(r"\x1b\[[0-9;]*m", "", one) for one in (screen, three, seven)]
    heads = re.compile(r"^\S+\.md:\d+(?:-\d+)?  ", re.MULTILINE)
    counts = [len(heads.findall(one)) for one in (*texts, plain.out)]
    shown = texts[0]
    assert counts == [5, 3, 7, 7]
    assert all(f"    line {number}\n" in shown for number in range(14))
    footer = shown.rstrip("\n").rpartition("\n\n")[2]
    assert footer.startswith("5 hits by keyword search")
    assert "-n 20 shows more" in " ".join(footer.split())


@pytest.mark.parametrize(
    "words",
    mostly_thorough(
        [
            ["search", "deploy"],
            ["list"],
            ["status"],
            ["doctor"],
            ["config"],
            ["--help"],
        ],
        every=3,
    ),
)
def test_options_about_colour_are_respected(notes: Path, words: list[str]) -> None:
    """NO_COLOR, and terminals that know no sequences at all."""
    code, plain = on_terminal(*words, NO_COLOR="1")
    dumb_code, dumb = on_terminal(*words, TERM="dumb")

    assert code == dumb_code == 0
    assert "\x1b[3" not in plain.replace("\x1b[3m", "")
    assert "\x1b" not in dumb


def test_a_hostile_note_cannot_steer_a_real_terminal(notes: Path) -> None:
    """Only our own sequences arrive."""
    evil = "wombat \x1b]0;owned\x07 \x1b[2J \u202egnp.exe\n"
    (notes / "evil.md").write_text(evil, encoding="utf-8")

    ways = [["search", "wombat"], ["search", "wombat", "--json"], ["get", "evil.md"]]

    screens = [on_terminal(*words)[1] for words in ways]

    for screen in screens:
        assert "\x1b]0;" not in screen
        assert "\x1b[2J" not in screen
        assert "\u202e" not in screen


def test_ctrl_c_ends_the_watch_with_130_and_a_kill_with_0(notes: Path) -> None:
    """Without a word; and what it told before is there, line by line."""
    codes = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        with subprocess.Popen(
            [*COMMAND, "watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            told = any(b"watching" in line for line in process.stdout)
            process.send_signal(number)
            err = process.stderr.read()
        assert told
        codes[number] = process.returncode
        assert b"Traceback" not in err

    assert codes == {signal.SIGINT: 130, signal.SIGTERM: 0}


def test_a_cold_search_imports_only_what_it_needs(hm: Hm, notes: Path) -> None:
    """Typer and rich alone take longer than the whole answer."""
    hm("sync")
    heavy = "typer click rich markdown_it watchdog yaml argparse logging asyncio openai"
    program = (
        "import sys; from hivemind_memory.cli.main import main;"
        "main(['search', '--json', 'deploy']);"
        f"print([name for name in {heavy.split()} if name in sys.modules],"
        " file=sys.stderr)"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert ran.stderr == "[]\n"


def test_a_memory_and_its_history_fit_a_narrow_terminal(hm: Hm, home: Path) -> None:
    """Words are folded and stay under their place; nothing is cut off."""
    hm("save", "deploy-day", "Tuesdays, " * 12)
    hm("save", "deploy-day", "--reason", "a new team", "Any day but Friday.")

    code, screen = on_terminal("history", "deploy-day")
    _, shown = on_terminal("show", "deploy-day")

    assert code == 0
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.splitlines()]
    assert max(map(len, plain)) <= 60
    assert sum(line.count("Tuesdays,") for line in plain) == 12
    assert "    Any day but Friday." in plain
    assert "a new team" in shown


@pytest.mark.parametrize(("columns", "lines"), [(60, 30), (100, 40), (200, 50)])
def test_five_hits_with_long_lines_fit_the_screen(
    hm: Hm, notes: Path, columns: int, lines: int
) -> None:
    """Lines are folded, so five hits of a few lines scrolled the best one away."""
    for number in range(6):
        (notes / f"wombat-{number}.md").write_text(
            f"# {f'The wombat of kind {number} and where it is found ' * 2}\n\n"
            + f"{'A wombat digs and digs and comes back in the evening. ' * 2}\n" * 3
        )

    hm("sync")
    size = {"COLUMNS": str(columns), "LINES": str(lines), "NO_COLOR": "1"}
    _, screen = on_terminal("search", "wombat", **size)

    shown = re.sub(r"\x1b\[[0-9;]*m", "", screen).splitlines()
    assert len([line for line in shown if re.match(r"\S+\.md:\d", line)]) == 5
    assert len(shown) < lines
    assert max(map(len, shown)) <= columns
    best = " ".join(" ".join(shown[: shown.index("", shown.index("") + 1)]).split())
    assert best.count("A wombat digs") == 6


@pytest.mark.parametrize("columns", mostly_thorough(["60", "100", "200"], every=3))
@pytest.mark.parametrize(
    "words", [["list", "--type", "lesson"], ["inbox"], ["log"], ["log", "--changes"]]
)
def test_a_table_folds_no_name_and_no_place(
    hm: Hm, home: Path, words: list[str], columns: str
) -> None:
    """Half a path in each line of a column can neither be read nor copied."""
    long = "what-the-team-decided-about-the-deploys-of-the-shop"
    saved = hm(
        "save", "--json", "--type", "lesson", long, "Never on Fridays. " * 9
    ).json
    claim = ("--source", "external", "firewall", "Turn it off.")
    pending = hm("save", "--json", *claim).json

    _, screen = on_terminal(*words, COLUMNS=columns, NO_COLOR="1")

    shown = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    one = pending if words == ["inbox"] else saved
    name = one["path"] if words == ["log", "--changes"] else one["key"]
    if words == ["log"]:
        name = f"{one['path']}:{one['start_line']}"
    assert name in shown.split()
    assert max(map(len, shown.splitlines())) <= int(columns)


def test_a_row_of_empty_cells_is_shown_by_its_last_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row that does not fit has nothing to stand above its last cell."""
    monkeypatch.setenv("COLUMNS", "30")
    long = "walrus " * 12

    shown = columns_text(["key", "place", "text"], [["", "", long], ["k", "", long]])

    assert shown.count("walrus") == 24


@pytest.mark.parametrize("columns", [80, 130, 250])
@pytest.mark.parametrize("words", [["list", "--type", "lesson"], ["inbox"], ["log"]])
def test_a_text_in_a_table_is_as_wide_as_the_terminal(
    hm: Hm, words: list[str], columns: int
) -> None:
    """It was cut at 60 characters at any width, and for a pipe too."""
    text = "we " * 150 + "never deploy on Fridays"
    source = "external" if words == ["inbox"] else "human"
    hm("save", "--source", source, "--type", "lesson", "deploys", text)

    _, screen = on_terminal(*words, COLUMNS=str(columns), NO_COLOR="1")

    shown = re.sub(r"\x1b\[[0-9;]*m", "", screen).splitlines()
    [line] = [one for one in shown if "we we we" in one]
    assert line.endswith("…")
    assert len(line) == columns
    assert text in hm(*words).out


def test_a_search_leaves_an_interrupted_rebuild_that_can_be_resumed(
    hm: Hm, notes: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Ctrl-C says, that `hm rebuild` resumes, is true after a search too."""
    hm("sync")
    with monkeypatch.context() as patched:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(ProgressDisplay, "__call__", stop)
        assert "`hm rebuild` resumes" in hm("rebuild").err
    unfinished = next(home.rglob("rebuild.db"))

    assert on_terminal("search", "deploy")[0] == 0
    assert on_terminal("list")[0] == 0

    assert unfinished.exists()
    assert "resuming the interrupted rebuild" in hm("rebuild").err
    assert not unfinished.exists()
    assert "resuming" not in hm("rebuild").err


def test_ctrl_c_in_a_search_that_indexes_says_how_to_resume(
    hm: Hm, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who stops a first search has a half-made index."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressDisplay, "__call__", stop)
    monkeypatch.setattr(indexing, "is_terminal", lambda _: True)

    ran = hm("search", "deploy")

    assert ran.code == 130
    assert "no note was changed, and what was indexed so far is kept" in ran.err
    assert "`hm sync` resumes" in ran.err
