"""A caller of some scopes names no folder of another project, whatever the command.

Every command is listed here: a new one joins ``COMMANDS`` with each way to name a
folder or file, or is named among those that take none.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hivemind_memory.cli.table import all_commands
from tests.cli.conftest import Hm, hm, home
from tests.support.forked import HM, finish
from tests.support.limited_callers import (
    CALLERS,
    LIMITED,
    become,
    files_in,
    site,
    tmp_path,
)
from tests.support.ran import Ran
from tests.support.tiers import mostly_thorough

__all__ = ["hm", "home", "site", "tmp_path"]

COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "inject": (
        ("inject", "--yes", "{there}"),
        ("inject", "--dry-run", "--json", "{there}"),
        ("inject", "--off", "{there}"),
        ("inject", "--on", "{there}"),
    ),
    "eject": (("eject", "{there}"), ("eject", "--json", "{there}")),
    "why": (("why", "{there}"), ("why", "--json", "{there}")),
    "git-hook status": (("git-hook", "status", "{there}"),),
    "git-hook install": (("git-hook", "install", "{there}"),),
    "git-hook remove": (("git-hook", "remove", "{there}"),),
    "project show": (
        ("project", "show", "{there}"),
        ("project", "show", "--json", "{there}"),
    ),
    "project adopt": (("project", "adopt", "shop", "{there}"),),
    "launch": (("launch", "true", "--worktree", "{there}"),),
    "context build": (
        ("context", "build", "--task", "harbour", "--root", "{there}"),
        ("context", "build", "--json", "--blocks", "{there}/blocks.json"),
    ),
    "context add": (
        ("context", "add", "--root", "{there}", "--blocks", "b.json", "CLAUDE.md"),
        ("context", "add", "--blocks", "{there}/blocks.json", "CLAUDE.md"),
    ),
    "context list": (("context", "list", "--blocks", "{there}/blocks.json"),),
    "context clean": (("context", "clean", "--blocks", "{there}/blocks.json"),),
}
"""Command -> how it can be given a folder."""

OWNERS = {
    "backup": ("{there}/backup.tar.gz",),
    "restore-backup": ("{there}/backup.tar.gz",),
    "consolidate": ("--apply", "{there}/merged.md"),
}
"""Command for the whole memory -> a file in that folder."""

WITHOUT_FOLDER = {
    # Of the notes folder; see test_access_matrix.
    *("get", "show", "history", "edit", "write", "search", "list", "log", "save"),
    *("tags", "learn", "link", "unlink", "forget", "restore", "undo", "done"),
    *("bulletin", "used", "skill list", "skill show", "skill promote"),
    *("skill sync", "skill demote"),
    *("inbox list", "inbox accept", "inbox edit", "inbox reject"),
    # Of the current folder, and for it.
    *("connect", "disconnect", "exec", "git-hook run", "hook session-start", "mcp"),
    *("hook session-end", "capture"),
    # Of agents that run; see tests/launch/test_visible_sessions.py.
    *("sessions", "attach", "kill"),
    # Of questions, which are a note as far as they are in the notes folder.
    *("eval run", "eval suggest"),
    # Of scopes, keys and programs that ask.
    *("kv get", "kv set", "kv list", "kv delete", "serve", "dashboard"),
    *("vault list", "vault set", "vault get", "vault delete", "vault exec"),
    *("activity search", "activity show", "activity list"),
    # Of names.
    *("project list", "project rename", "project merge"),
    *("token add", "token list", "token revoke"),
    *("jobs list", "jobs retry"),
    *("init", "completion", "help", "version", "model list", "model fetch"),
    *("sync", "rebuild", "status", "doctor", "watch"),
    *("config list", "config get", "config set", "config unset", "config path"),
}
"""Commands that take no folder and no file, but names and paths of notes."""

ALL_LINES = [line for lines in COMMANDS.values() for line in lines]


def run(hm: Hm, line: tuple[str, ...], there: Path) -> Ran:
    """Run a command about a folder; a launcher in a process of its own."""
    words = [word.replace("{there}", str(there)) for word in line]
    if words[0] != "launch":
        return hm(*words)
    program = (*HM, *words)
    # Without tmux the program runs here.
    environ = {**os.environ, "PATH": _path_without_tmux(there.parent)}
    done = finish(program, env=environ)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def _path_without_tmux(folder: Path) -> str:
    """Return a folder with no programs but git and true."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name in ("git", "true"):
        for found in os.get_exec_path():
            if (Path(found) / name).exists() and not (programs / name).exists():
                (programs / name).symlink_to(Path(found) / name)
    return str(programs)


def test_every_command_is_listed() -> None:
    """A new one is tried here, or is said to take no folder."""
    names = {one.name for one in all_commands()}
    taking = {
        one.name
        for one in all_commands()
        for part in (*one.arguments, *one.flags)
        if part.name == "worktree" or getattr(part, "kind", "") == "path"
    }

    assert {*COMMANDS, *OWNERS, *WITHOUT_FOLDER} == names
    # The files of a server, with its token and its socket, are no project's.
    assert taking - {"mcp", "serve"} <= {*COMMANDS, *OWNERS}


@LIMITED
@pytest.mark.parametrize("line", mostly_thorough(ALL_LINES, every=3), ids=" ".join)
def test_a_folder_of_another_project_is_refused(
    hm: Hm,
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: tuple[str, ...],
    caller: str,
) -> None:
    """Nothing of that project is said, and nothing in the folder is touched."""
    become(monkeypatch, caller)
    before = files_in(site)

    said = run(hm, line, site)

    # No agent is kept from starting; it starts without memories.
    assert said.code == (0 if line[0] == "launch" else 2), said
    assert f"{site} is not in a project of this session" in said.err
    assert "blue" not in said.out + said.err
    assert "theme-of-site" not in said.out + said.err
    assert files_in(site) == before


@LIMITED
@pytest.mark.parametrize("command", OWNERS)
def test_the_whole_memory_is_the_owners(
    hm: Hm, site: Path, monkeypatch: pytest.MonkeyPatch, command: str, caller: str
) -> None:
    """Wherever the file would be."""
    become(monkeypatch, caller)
    before = files_in(site)

    said = run(hm, (command, *OWNERS[command]), site)

    assert said.code == 2
    assert "covers the whole memory" in said.err
    assert files_in(site) == before


@LIMITED
@pytest.mark.parametrize(
    "line",
    [
        ("config", "set", "workspaces", "{}"),
        ("config", "set", "workspaces.other", '{"parent": "office"}'),
        ("config", "set", "enabled", "false"),
        ("config", "set", "min_score", "0.5"),
        ("config", "set", "nonsense", "x"),
        ("config", "unset", "workspaces"),
        ("config", "unset", "workspaces.web"),
        ("config", "unset", "nonsense"),
    ],
    ids=" ".join,
)
def test_the_options_are_the_owners(
    hm: Hm,
    home: Path,
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: tuple[str, ...],
    caller: str,
) -> None:
    """They say what every caller may do, so each would lift its own limits."""
    assert hm("config", "set", "workspaces.web", '{"parent": "office"}').code == 0
    before = (home / "config.json").read_bytes()
    become(monkeypatch, caller)

    said = hm(*line)

    assert said.code == 2
    assert "Nothing was changed" in said.err
    assert "office" not in said.out + said.err
    assert (home / "config.json").read_bytes() == before


@pytest.mark.parametrize("variable", ["HIVEMIND_WORKSPACE", "HIVEMIND_TEAM"])
def test_an_unknown_workspace_names_no_other(
    hm: Hm, site: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A slip of the finger was answered with the names of all workspaces."""
    assert hm("config", "set", "workspaces.web", '{"parent": "office"}').code == 0
    monkeypatch.setenv(variable, "red")
    monkeypatch.setenv("HIVEMIND_WORKSPACE", "typo")

    for line in (("search", "harbour"), ("list",), ("config", "get", "workspaces")):
        said = hm(*line)

        assert "office" not in said.out + said.err
        assert "web" not in (said.out + said.err).split()


@pytest.mark.parametrize("line", ALL_LINES, ids=" ".join)
def test_a_person_names_any_folder(hm: Hm, site: Path, line: tuple[str, ...]) -> None:
    """A shell in which nothing is set is the owner's."""
    (site / "blocks.json").write_text("[]")

    said = run(hm, line, site)

    assert said.code == 0, said


def test_a_workspace_for_the_agent_takes_no_right_from_the_person(
    hm: Hm, site: Path
) -> None:
    """The option of hm launch says what the agent sees."""
    line = ("launch", "true", "--workspace", "web", "--worktree", "{there}")

    said = run(hm, line, site)

    assert said.code == 0
    assert "nothing was injected" not in said.err


@LIMITED
@pytest.mark.parametrize("names", [(), ("theme-of-site",)])
def test_what_was_injected_for_others_is_treated_as_missing(
    hm: Hm,
    site: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, ...],
    caller: str,
) -> None:
    """In the worktree itself, too: its section is for those who see its project."""
    given = {**CALLERS[caller]}
    if caller == "agent":  # whose project is that of the folder
        given["HIVEMIND_PROJECT"] = "none"
    monkeypatch.chdir(site)
    assert "theme-of-site" in hm("why").out
    for name, text in given.items():
        monkeypatch.setenv(name, text)

    told, as_json = hm("why", *names), hm("why", "--json", *names)

    for said in (told, as_json):
        assert "theme-of-site" not in said.out + said.err.replace("'theme-of-site'", "")
        assert "blue" not in said.out + said.err
    if not names:
        assert told.out == "Nothing has been injected here yet.\n"
        assert json.loads(as_json.out) is None


def test_a_caller_reads_what_was_injected_for_it(
    hm: Hm, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the section is the same that others got."""
    monkeypatch.chdir(site)
    hm("forget", "theme-of-site")
    hm("inject")
    monkeypatch.setenv("HIVEMIND_PROJECT", "none")
    assert hm("why").out == "Nothing has been injected here yet.\n"

    assert hm("inject").out.startswith("CLAUDE.md: unchanged, ")

    assert "CLAUDE.md  unchanged" in hm("why").out
    assert "scopes" not in hm("why", "--json").json
    monkeypatch.setenv("HIVEMIND_PROJECT", "site")
    assert "CLAUDE.md  unchanged" in hm("why").out


def test_what_was_injected_is_readable_after_a_rename(
    hm: Hm, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log names the scopes of its readers, so it follows."""
    assert hm("project", "rename", "site", "store").code == 0
    monkeypatch.chdir(site)
    monkeypatch.setenv("HIVEMIND_PROJECT", "store")

    assert "theme-of-site" in hm("why").out
