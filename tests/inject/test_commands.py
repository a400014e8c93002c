"""The commands, as people and launchers call them."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hivemind_memory.cli import confirm, main
from hivemind_memory.cli.commands import inject as inject_command
from tests.inject.conftest import make_home
from tests.inject.repos import make_repo, no_object_has_the_section, status, tracked

ROOT = Path(__file__).parents[2]
LAUNCHES = 12


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that the commands use."""
    folder = make_home(tmp_path / "home")
    monkeypatch.setenv("HIVEMIND_HOME", str(folder))
    return folder


def test_inject_why_and_eject_tell_what_they_did(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line each, and for programs in full."""
    worktree = make_repo(tmp_path / "shop")

    def hm(*words: str) -> str:
        assert main.main([*words, str(worktree)]) == 0
        return capsys.readouterr().out

    assert main.main(["inject", "--dry-run", str(worktree)]) == 0
    section, talk = capsys.readouterr()
    assert section.startswith("## Hivemind Memory")
    assert talk.startswith("dry run: would write 3 memories (about ")
    assert "core.attributesFile" in talk
    assert "the hooks pre-push and reference-transaction" in talk
    assert main.main(["inject", str(worktree)]) == 0
    said, notice = capsys.readouterr()
    assert said.startswith("CLAUDE.md: 3 memories, about ")
    assert "filters and two hooks in this repository's .git" in notice
    assert main.main(["inject", str(worktree)]) == 0
    assert "hooks" not in capsys.readouterr().err
    assert hm("inject").startswith("CLAUDE.md: unchanged, 3 memories, about ")
    short, explained = hm("why"), hm("why", "--explain")
    assert re.match(r".{16}  CLAUDE\.md  written: 3 memories, about \d+ of ", short)
    assert "\ninjected: global.md:3-5: global.md is for every project\n" in short
    assert re.search(r"\ninjected: shop\.md:\S+: .*has the project's name", short)
    assert "= project " not in short
    assert "weight" not in short
    assert "= project " in explained
    assert "\nproject (weight 1): shop\n" in explained
    assert json.loads(hm("why", "--json"))["outcome"] == "written"
    told = json.loads(hm("inject", "--json"))
    assert told["outcome"] == "unchanged"
    assert told["section"].startswith("## Hivemind Memory")
    assert hm("inject", "--off").startswith("Off: ")
    assert hm("inject") == ("off for this repository: `hm inject --on` turns it on\n")
    assert hm("inject", "--on").startswith("On: ")
    hm("inject")
    assert hm("eject") == "CLAUDE.md: section removed\n"
    assert hm("eject") == "There is no section to remove.\n"


def test_status_says_what_is_injected_here(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing else answers whether agents are told of the memory in a folder."""
    worktree = make_repo(tmp_path / "shop")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(worktree)

    def said_after(*words: str) -> str:
        assert not words or main.main(words) == 0
        capsys.readouterr()
        assert main.main(["status"]) == 0
        said = capsys.readouterr().out
        return said.partition("\ninjected here: ")[2].partition("\n")[0]

    assert said_after() == "no section; `hm inject` writes one"
    written = said_after("inject")
    assert re.fullmatch(r"3 memories in CLAUDE\.md, checked .{16}", written)
    assert said_after("git-hook", "install") == f"{written}; new worktrees get one"
    off = "off for this repository; `hm inject --on` turns it on"
    assert said_after("inject", "--off") == off
    assert said_after("inject", "--on").startswith("no section; `hm inject` writes one")


def test_a_person_is_asked_before_the_first_section_changes_a_git_folder(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line told of two hooks and two filters, when they were there already."""
    worktree = make_repo(tmp_path / "shop")
    config = worktree / ".git" / "config"
    before = config.read_text()
    is_agent = [False]
    monkeypatch.setattr(inject_command, "is_person", lambda: not is_agent[0])
    monkeypatch.setattr(confirm, "is_terminal", lambda _stream: True)

    def inject(answer: str, *words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        code = main.main(["inject", *words, str(worktree)])
        return code, capsys.readouterr().err

    code, asked = inject("n\n")
    assert code == 1
    assert "two clean filters" in asked
    assert "core.attributesFile" in asked
    assert "the hooks pre-push and reference-transaction" in asked
    assert "Nothing was injected" in asked
    assert config.read_text() == before
    assert status(worktree) == ""
    assert b"hivemind:begin" not in (worktree / "CLAUDE.md").read_bytes()
    assert inject("y\n")[0] == 0
    assert "hivemind" in config.read_text()
    assert inject("", "--agent", "codex") == (0, "")
    for name, words in (("blog", ("--yes",)), ("wiki", ())):
        is_agent[0] = not words
        worktree = make_repo(tmp_path / name)
        code, told = inject("", *words)
        assert (code, "[y/N]" in told) == (0, False)


def test_eject_all_restores_every_repository(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before an uninstall; the hooks stayed in each repository that was forgotten."""
    worktrees = [make_repo(tmp_path / name) for name in ("shop", "blog", "gone")]
    for worktree in worktrees:
        assert main.main(["inject", str(worktree)]) == 0
    shutil.rmtree(worktrees.pop())
    capsys.readouterr()

    main.main(["doctor"])
    said = capsys.readouterr().out
    assert f"in 2 repositories: {worktrees[1]}, {worktrees[0]}\n" in said
    assert main.main(["eject", "--all"]) == 0

    said = capsys.readouterr().out
    for worktree in worktrees:
        assert f"{worktree}:\nCLAUDE.md: section removed\n" in said
        assert not (worktree / ".git" / "hooks" / "pre-push").exists()
        assert "hivemind" not in (worktree / ".git" / "config").read_text()
    assert main.main(["eject", "--all", str(tmp_path)]) == 2

    capsys.readouterr()
    assert main.main(["eject", "--all"]) == 0
    assert capsys.readouterr().out == "There is no section to remove.\n"


def test_a_dry_run_names_a_command_that_says_what_it_left_out(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It named `hm why`, which knew nothing of it."""
    worktree = make_repo(tmp_path / "shop")
    for number in range(9):
        text = f"Door {number} of the shop is painted in colour {number * 7919}."
        assert main.main(["save", f"door{number}", text, "--type", "decision"]) == 0
    capsys.readouterr()

    assert main.main(["inject", str(worktree), "--dry-run"]) == 0
    said = capsys.readouterr().err
    assert "left out; `hm inject --dry-run --json` says why" in said
    assert main.main(["inject", str(worktree), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"]
    assert main.main(["why", str(worktree)]) == 0
    assert "`hm inject --dry-run --json`" in capsys.readouterr().err


@pytest.mark.parametrize("how", ["hm eject", "by hand", "a file that is gone"])
def test_why_after_the_section_is_gone_says_so(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    """The log tells what was; what is stands in the file."""
    worktree = make_repo(tmp_path / "shop")
    monkeypatch.chdir(worktree)
    file = worktree / "CLAUDE.md"
    main.main(["inject"])
    capsys.readouterr()
    main.main(["why", "shop.md"])
    assert capsys.readouterr().out.startswith("injected: shop.md:")

    if how == "hm eject":
        main.main(["eject"])
    elif how == "by hand":
        file.write_text("Only mine.\n")
    else:
        file.unlink()
    capsys.readouterr()
    main.main(["why"])
    main.main(["why", "shop.md"])
    out = capsys.readouterr().out

    gone = "the section was removed from CLAUDE.md"
    assert "\nsection removed from CLAUDE.md; it contained:\n" in out
    assert out.endswith(f"\nnot injected: shop.md: {gone}\n")


def test_why_of_some_lines_tells_of_these_lines(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another part of the same note may be in the section."""
    monkeypatch.chdir(make_repo(tmp_path / "shop"))
    note = home / "memory" / "shop.md"
    attic = "".join(f"\n# Attic {n}\n\nUmbrella {n}.\n" for n in range(99))
    note.write_text(note.read_text() + attic)
    main.main(["inject"])
    capsys.readouterr()
    main.main(["why", "--json"])
    memories = json.loads(capsys.readouterr().out)["memories"]
    ours = [one for one in memories if one["path"] == "shop.md"]
    told = {n for one in ours for n in range(one["start_line"], one["end_line"] + 1)}
    others = set(range(1, note.read_text().count("\n"))) - told

    main.main(["why", f"shop.md:{min(told)}"])
    inside = capsys.readouterr().out
    main.main(["why", f"shop.md:{max(others)}"])
    outside = capsys.readouterr().out

    assert inside.startswith("injected: shop.md:")
    assert outside.startswith("not injected: shop.md: ")


def test_mistakes_are_one_sentence_with_a_hint(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A launcher shows it as it is."""
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)

    assert main.main(["inject", str(tmp_path / "missing")]) == 2
    assert main.main(["inject", str(bare)]) == 1
    assert main.main(["inject", "--off", str(tmp_path)]) == 1
    assert main.main(["inject", "--off", "--on"]) == 2
    err = capsys.readouterr().err
    assert err.count("error: ") == 4
    assert "Traceback" not in err


def test_why_before_the_first_injection_says_so(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not an error: nothing is what happened."""
    assert main.main(["why", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "Nothing has been injected here yet.\n"


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["tracked", "absent"])
def test_many_launches_at_once_leave_one_section(
    how: str, home: Path, tmp_path: Path
) -> None:
    """A person starts a whole team of agents with one key."""
    worktree = (
        tracked(tmp_path)
        if how == "tracked"
        else make_repo(tmp_path / "repo", text=None)
    )
    command = [sys.executable, "-m", "hivemind_memory.cli", "inject", str(worktree)]

    launches = [
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(LAUNCHES)
    ]
    ended = [(launch.communicate(), launch.returncode) for launch in launches]

    assert [code for _, code in ended] == [0] * LAUNCHES, ended
    written = [out for (out, _), _ in ended if b"unchanged" not in out]
    assert len(written) == 1
    assert (worktree / "CLAUDE.md").read_bytes().count(b"hivemind:begin") == 1
    assert status(worktree) == ""
    assert no_object_has_the_section(worktree)


def test_one_session_cannot_fill_the_section_and_why_names_each_writer(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twelve lessons of one session leave room for those of others and of a person."""
    worktree = make_repo(tmp_path / "shop")
    monkeypatch.chdir(worktree)

    def lesson(number: int, *said: str) -> None:
        words = " ".join(f"w{number}x{n}" for n in range(8))
        key = f"lesson-{number}"
        command = ["save", "--type", "lesson", *said, key, f"The shop: {words}."]
        assert main.main(command) == 0

    for number in range(12):
        lesson(number, "--by", "codex", "--source", "agent", "--session", "noisy")
    lesson(20, "--by", "claude", "--source", "agent", "--session", "quiet")
    lesson(21, "--by", "ada", "--source", "human")
    assert main.main(["inject"]) == 0
    capsys.readouterr()

    assert main.main(["why", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert main.main(["why"]) == 0
    said = capsys.readouterr().out

    sessions = [one.get("session", "") for one in record["memories"]]
    left = [one for one in record["left_out"] if one["why"] == "session"]
    paths = " ".join(one["path"] for one in record["memories"])
    assert 1 <= sessions.count("noisy") <= 5  # fewer where their text is long
    assert len(left) == 12 - sessions.count("noisy")
    assert "lesson-20.md" in paths
    assert "lesson-21.md" in paths
    assert "saved by codex, session noisy" in said
    assert "saved by claude, session quiet" in said


@pytest.mark.parametrize(
    ("note", "is_told"),
    [
        ("#deploy only on Tuesdays\n", True),
        ("```html\n<!-- the badge of every page -->\n```\n", True),
        ("# Preferences\n\n<!-- write here -->\n", False),
        ("#\n\n## Deploying\n", False),
    ],
)
def test_what_is_told_is_text_and_not_what_begins_like_a_heading(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    note: str,
    is_told: bool,
) -> None:
    """`#deploy` is a tag to Markdown, and a comment in a fence is code."""
    home = tmp_path / "home"
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "global.md").write_text(note, encoding="utf-8")
    monkeypatch.setenv("HIVEMIND_HOME", str(home))
    worktree = make_repo(tmp_path / "shop")

    assert main.main(["inject", "--dry-run", str(worktree)]) == 0

    assert ("global.md" in capsys.readouterr().out) is is_told
