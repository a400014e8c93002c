"""``hm connect`` and ``hm disconnect``, as programs, on a machine of the test's own."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.connect.conftest import FILES, PROGRAMS, SETTINGS, Machine

NAMES = tuple(FILES)
OTHERS = {
    "claude": '{"numStartups": 3, "mcpServers": {"x": {"command": "x"}}}',
    "codex": '# mine\nmodel = "m"\n\n[mcp_servers.x]\ncommand = "x" # why\n',
    "gemini": '{\n\t// mine\n\t"mcpServers": {"x": {"command": "x"}}\n}\n',
    "cursor": '{"mcpServers": {}}\n',
    "opencode": '{\n  // mine\n  "theme": "dark",\n  "mcp": {},\n}\n',
    "qwen": '{\r\n  "$version": 4\r\n}',
    "vscode": '{\n\t"inputs": [],\n\t"servers": {"x": {"command": "x"},},\n}\n',
}
"""Settings as people have them, each in a style of its own."""


def entry(machine: Machine, name: str) -> Any:
    """What an agent's file says of the server."""
    text = (machine.home / FILES[name]).read_text(encoding="utf-8")
    if name == "codex":
        return tomllib.loads(text).get("mcp_servers", {}).get("hivemind")
    # Comments and last commas, as far as these tests use them.
    bare = re.sub(r"(?m)^\s*//.*$", "", text)
    found = json.loads(re.sub(r",(\s*})", r"\1", bare))
    table = {"opencode": "mcp", "vscode": "servers"}.get(name, "mcpServers")
    return found.get(table, {}).get("hivemind")


def command_in(machine: Machine, name: str) -> list[str]:
    """The words with which an agent would start the server."""
    found = entry(machine, name)
    if name == "opencode":
        return list(found["command"])
    return [found["command"], *found["args"]]


@pytest.mark.parametrize("has_settings", [False, True])
def test_all_agents_are_connected_and_disconnected_to_the_byte(
    machine: Machine, has_settings: bool
) -> None:
    """Their settings are not ours; what we add is all that may change."""
    machine.install(*PROGRAMS, "cursor")
    if has_settings:
        for name, text in OTHERS.items():
            machine.put(FILES[name], text)
    before = machine.snapshot()

    connected = machine.run("connect", "--yes")

    assert connected.code == 0, connected.err
    for name in NAMES:
        assert command_in(machine, name) == [str(machine.hm), "mcp"]
    middle = machine.snapshot()
    again = machine.run("connect", "--yes")
    assert again.code == 0
    assert again.out.count("already connected") == len(NAMES)
    assert machine.snapshot() == middle
    gone = machine.run("disconnect", "--yes")
    assert gone.code == 0, gone.err
    assert machine.snapshot() == before
    assert not (machine.home / ".hivemind" / "connections.json").exists()
    assert machine.calls == []  # our own edits are all that happens


def test_hooks_and_permissions_come_and_go_with_the_rest(machine: Machine) -> None:
    """Hooks of others fire as before."""
    machine.install("claude", "gemini")
    machine.put(
        SETTINGS,
        '{"hooks": {"SessionStart": [{"hooks": [{"type": "command",'
        ' "command": "echo hi"}]}], "Stop": []},\n "permissions": {"allow": ["Bash"]}}',
    )
    before = machine.snapshot()

    done = machine.run("connect", "--hooks", "--allow", "--yes")

    assert done.code == 0, done.err
    machine.run("init")
    assert "agents: Claude Code (with its hook), " in machine.run("status").out
    settings = json.loads((machine.home / SETTINGS).read_text())
    theirs, ours = settings["hooks"]["SessionStart"]
    assert theirs["hooks"][0]["command"] == "echo hi"
    assert ours["hooks"][0]["command"] == f"'{machine.hm}' hook session-start"
    assert settings["permissions"]["allow"] == [
        "Bash",
        "mcp__hivemind__memory_search",
        "mcp__hivemind__memory_get",
        "mcp__hivemind__memory_list",
        "mcp__hivemind__memory_history",
    ]
    assert "--agent gemini" in (machine.home / FILES["gemini"]).read_text()
    again = machine.run("connect", "--hooks", "--allow", "--yes")
    assert again.out.count("already connected, with its hook") == 2
    assert machine.run("disconnect", "--yes").code == 0
    assert machine.snapshot() == before


@pytest.mark.parametrize(
    ("name", "file", "hooks"),
    [
        (
            "claude",
            SETTINGS,
            {"SessionStart": 10, "SubagentStart": 10, "SessionEnd": 10, "Stop": 10},
        ),
        (
            "codex",
            ".codex/hooks.json",
            {"SessionStart": 10, "SubagentStart": 10, "SessionEnd": 3, "Stop": 10},
        ),
        (
            "gemini",
            FILES["gemini"],
            {"SessionStart": 10_000, "BeforeAgent": 10_000, "SessionEnd": 10_000},
        ),
        (
            "qwen",
            FILES["qwen"],
            {"SessionStart": 10_000, "SessionEnd": 10_000, "Stop": 10_000},
        ),
    ],
)
@pytest.mark.parametrize("has_settings", [False, True])
def test_hooks_and_capture_are_registered_and_undone_to_the_byte(
    machine: Machine,
    name: str,
    file: str,
    hooks: dict[str, int],
    has_settings: bool,
) -> None:
    """Each event has its own timeout, in the agent's unit."""
    machine.install(name)
    if has_settings:
        machine.put(FILES[name], OTHERS[name])
        if file != FILES[name]:
            machine.put(file, '{"hooks": {"Stop": []},\n "other": [1]}')
    before = machine.snapshot()

    done = machine.run("connect", name, "--hooks", "--capture", "--yes")

    assert done.code == 0, done.err
    assert ("trust it: type /hooks" in done.err) == (name == "codex")
    bare = re.sub(
        r"^\s*//.*", "", (machine.home / file).read_text(), flags=re.MULTILINE
    )
    found = json.loads(bare)["hooks"]
    assert {
        event: group["hooks"][0]["timeout"]
        for event, groups in found.items()
        for group in groups
    } == hooks
    agent = "" if name == "claude" else f" --agent {name}"
    for event, kind in (("SessionStart", "start"), ("SessionEnd", "end")):
        [hook] = found[event][0]["hooks"]
        assert hook["command"] == f"'{machine.hm}' hook session-{kind}{agent}"
    middle = machine.snapshot()
    machine.run("connect", name, "--hooks", "--capture", "--yes")
    assert machine.snapshot() == middle
    assert machine.run("disconnect", name, "--yes").code == 0
    assert machine.snapshot() == before


def test_doctor_names_a_hook_that_no_longer_works(machine: Machine) -> None:
    """Its program is gone, or an event of this version is missing; connect mends it."""
    machine.install("claude", "qwen")
    machine.put(".hivemind/memory/global.md", "Tabs are four spaces.\n")
    words = ("connect", "claude", "qwen", "--hooks", "--capture", "--yes")
    machine.run(*words)
    assert "agent hooks" not in machine.run("doctor").out
    file, other = machine.home / SETTINGS, machine.home / FILES["qwen"]
    settings = json.loads(file.read_text())
    del settings["hooks"]["SubagentStart"]
    file.write_text(json.dumps(settings))
    other.write_text(other.read_text().replace(str(machine.hm), "/gone/hm"))

    said = machine.run("doctor")

    start, end = "tells a session its memories", "captures a session"
    assert said.code == 1
    for title, problem, flag in (
        ("Claude Code", f"{start} is not registered for SubagentStart", "--hooks"),
        ("Qwen Code", f"{start} runs /gone/hm, which is gone", "--hooks"),
        ("Qwen Code", f"{end} runs /gone/hm, which is gone", "--capture"),
    ):
        name = title.split()[0].lower()
        assert (
            f"problem\tagent hooks\t{title}: its hook that {problem}\n"
            f"\thint\t`hm connect {name} {flag}` registers it again.\n"
        ) in said.out
    machine.run(*words)
    assert "agent hooks" not in machine.run("doctor").out


def test_codex_is_offered_its_hook_and_told_to_trust_it(machine: Machine) -> None:
    """It runs no hook that a person has not trusted; `/hooks` is where they do it."""
    machine.install("codex")
    file = machine.home / ".codex" / "hooks.json"

    shown = machine.run("connect", "codex", "--hooks", "--dry-run")
    is_written = file.exists()
    done = machine.run("connect", "codex", "--hooks", "--yes")

    assert "hook session-start --agent codex" in shown.out + shown.err
    assert not is_written
    [group] = json.loads(file.read_text())["hooks"]["SessionStart"]
    [hook] = group["hooks"]
    assert hook["command"] == f"'{machine.hm}' hook session-start --agent codex"
    assert "trust it: type /hooks in Codex" in done.err
    machine.run("disconnect", "codex", "--yes")
    assert not file.exists()


def test_a_hook_beside_ours_stays_when_ours_goes(machine: Machine) -> None:
    """Somebody put it into the same group."""
    machine.install("claude")
    machine.run("connect", "claude", "--hooks", "--yes")
    file = machine.home / SETTINGS
    settings = json.loads(file.read_text())
    group = settings["hooks"]["SessionStart"][0]["hooks"]
    group.append({"type": "command", "command": "echo hm hook session"})
    file.write_text(json.dumps(settings))

    machine.run("disconnect", "claude", "--yes")

    settings = json.loads(file.read_text())
    [left] = settings["hooks"]["SessionStart"][0]["hooks"]
    assert left["command"] == "echo hm hook session"


def test_what_is_named_hivemind_and_differs_is_replaced_and_shown(
    machine: Machine,
) -> None:
    """After an update the old path leads nowhere; the user's own options stay."""
    machine.install("claude", "codex")
    machine.put(
        FILES["claude"],
        json.dumps(
            {
                "mcpServers": {
                    "hivemind": {
                        "command": "/old/hm",
                        "args": ["mcp"],
                        "env": {"A": "b", "HIVEMIND_HOME": "/old"},
                        "alwaysLoad": True,
                    }
                }
            }
        ),
    )
    machine.put(
        FILES["codex"],
        '[mcp_servers.hivemind]\ncommand = "/old/hm"\nargs = ["mcp"]\n'
        "startup_timeout_sec = 20\n\n[mcp_servers.hivemind.env]\n"
        'HIVEMIND_HOME = "/old"\n\n[tui]\nx = 1\n',
    )
    machine.put(
        SETTINGS,
        '{"hooks": {"SessionStart": [{"hooks": [{"type": "command",'
        ' "command": "/old/hm hook session-start", "timeout": 3}]}]}}',
    )

    done = machine.run("connect", "--yes")

    assert done.out.count("differs") == 2
    assert "/old/hm" in done.out
    assert entry(machine, "claude") == {
        "type": "stdio",
        "command": str(machine.hm),
        "args": ["mcp"],
        "env": {"A": "b"},
        "alwaysLoad": True,
    }
    assert entry(machine, "codex") == {
        "command": str(machine.hm),
        "args": ["mcp"],
        "startup_timeout_sec": 20,
        "env_vars": ["HIVEMIND_WORKSPACE"],
    }
    [group] = json.loads((machine.home / SETTINGS).read_text())["hooks"]["SessionStart"]
    [hook] = group["hooks"]
    assert hook["command"] == f"'{machine.hm}' hook session-start"
    assert hook["timeout"] == 3
    assert machine.run("connect", "--yes").out.count("already connected") == 2


def test_a_home_of_its_own_is_written_down(machine: Machine) -> None:
    """Agents pass few variables on; without it they would use another memory."""
    machine.install("codex", "opencode", "claude")
    hive = str(machine.root / "my hive")

    machine.run("connect", "--hooks", "--yes", HIVEMIND_HOME=hive)

    assert entry(machine, "codex")["env"] == {"HIVEMIND_HOME": hive}
    assert entry(machine, "opencode")["environment"] == {"HIVEMIND_HOME": hive}
    assert f"HIVEMIND_HOME='{hive}' " in (machine.home / SETTINGS).read_text()
    # The usual home is another memory, and it must be seen that this differs.
    assert machine.run("connect", "--dry-run").out.count("differs") == 3


def test_a_folder_of_notes_is_passed_on(machine: Machine) -> None:
    """--memory-dir says which notes, also for the server."""
    machine.install("claude")

    machine.run("--memory-dir", "notes", "connect", "--yes")

    words = [str(machine.hm), "mcp", "--memory-dir", str(machine.root / "notes")]
    assert command_in(machine, "claude") == words


def test_http_takes_the_token_and_never_shows_it(machine: Machine) -> None:
    """What is printed ends in logs and in the context of agents."""
    machine.install(*PROGRAMS, "cursor")
    shown = machine.run("connect", "--http", "--dry-run")
    assert not (machine.home / ".hivemind").exists()

    done = machine.run("connect", "--http", "--port", "9001", "--yes")

    token = (machine.home / ".hivemind" / "mcp-token").read_text().strip()
    assert done.code == 0, done.err
    assert "running: hm mcp --http --port 9001\n" in done.err
    for name in NAMES:
        file = machine.home / FILES[name]
        assert f"Bearer {token}" in file.read_text()
        assert "http://127.0.0.1:9001/mcp" in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = machine.run("connect", "--http", "--port", "9001", "--json")
    gone = machine.run("disconnect", "--yes")
    for ran in (shown, done, again, gone):
        assert token not in ran.out + ran.err
    assert {one["state"] for one in again.json["agents"]} == {"connected"}


def test_a_token_in_a_file_that_others_may_read_is_warned_of(machine: Machine) -> None:
    """The mode is the user's, and so is the decision."""
    machine.install("qwen")
    machine.put(FILES["qwen"], "{}").chmod(0o644)

    done = machine.run("connect", "qwen", "--http", "--dry-run")

    assert "other users can read" in done.err


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1), ("no\n", 1)])
def test_a_person_is_asked_after_seeing_the_change(
    machine: Machine, answer: str, code: int
) -> None:
    """Nothing but a yes is a yes."""
    machine.install("claude")

    ran = machine.ask("connect", answer=answer)

    assert ran.code == code
    assert ran.out.index('+    "hivemind": {') < ran.out.index("[y/N]")
    # The files may have scrolled off the screen.
    assert "the settings of Claude Code? [y/N]" in " ".join(ran.out.split())
    assert (machine.home / FILES["claude"]).exists() == (code == 0)


@pytest.mark.parametrize("words", [(), ("--json",), ("--hooks", "--allow")])
def test_without_a_terminal_and_a_yes_nothing_is_changed(
    machine: Machine, words: tuple[str, ...]
) -> None:
    """A script must say that it means it."""
    machine.install("claude", "codex")

    ran = machine.run("connect", *words)

    assert ran.code == 1
    assert "hivemind" in ran.out
    assert "Nothing was changed" in ran.err
    assert machine.snapshot() == {}


def test_a_dry_run_shows_and_changes_nothing(machine: Machine) -> None:
    """It is also the view of how everything stands."""
    machine.install("claude", "codex", "cursor", "opencode")
    machine.run("connect", "claude", "--yes")
    machine.put(
        FILES["codex"], '[mcp_servers.hivemind]\ncommand = "/old/hm"\nargs = ["mcp"]\n'
    )
    machine.put(FILES["opencode"], "{ broken")
    before = machine.snapshot()

    ran = machine.run("connect", "--dry-run")

    lines = [" ".join(line.split()[:4]) for line in ran.out.splitlines()[:6]]
    assert lines[0].startswith("Claude Code already connected")
    assert lines[1].startswith("Codex differs")
    assert lines[2].startswith("Gemini CLI not installed")
    assert lines[3].startswith("Cursor not connected")
    assert lines[4].startswith("OpenCode unusable")
    assert ran.code == 1  # one cannot be read
    assert machine.snapshot() == before


def test_an_agent_that_is_not_installed_is_refused_by_name(machine: Machine) -> None:
    """Somebody counts on it; and then the others are not changed either."""
    machine.install("claude")

    ran = machine.run("connect", "claude", "gemini", "--yes")

    assert ran.code == 1
    assert ran.err.startswith("error: Gemini CLI is not installed here, so nothing was")
    assert machine.snapshot() == {}


def test_a_dry_run_shows_the_others_if_one_agent_is_not_installed(
    machine: Machine,
) -> None:
    """It showed nothing at all."""
    machine.install("claude")
    words = ("connect", "claude", "gemini", "--dry-run")

    ran, shown = machine.run(*words), machine.run(*words, "--json").json

    lines = [" ".join(line.split()) for line in ran.out.splitlines()[:2]]
    assert lines == ["Claude Code not connected", "Gemini CLI not installed"]
    assert '+    "hivemind": {' in ran.out
    assert "Gemini CLI is not installed here, so nothing would be changed." in ran.err
    assert ran.code == 1
    assert [bool(one["changes"]) for one in shown["agents"]] == [True, False]
    assert len(shown["errors"]) == 1


@pytest.mark.parametrize("words", [(), ("all",), ("claude", "--hooks", "--allow")])
def test_an_agent_over_http_stays_so_unless_it_is_named_alone(
    machine: Machine, words: tuple[str, ...]
) -> None:
    """A plain `hm connect --yes` made a program of the address."""
    machine.install("claude", "codex", "opencode")
    names = ("claude", "codex", "opencode")
    assert machine.run("connect", *names, "--http", "--yes").code == 0
    before = {name: (machine.home / FILES[name]).read_text() for name in names}

    ran = machine.run("connect", *words, "--yes")

    assert ran.code == 0, ran.err
    assert "Claude Code  already connected" in re.sub("  +", "  ", ran.out)
    after = {name: (machine.home / FILES[name]).read_text() for name in names}
    assert after == before
    assert (machine.home / SETTINGS).exists() == bool(words[1:])
    assert machine.run("connect", "claude", "--yes").code == 0
    entry = json.loads((machine.home / FILES["claude"]).read_text())
    assert entry["mcpServers"]["hivemind"]["type"] == "stdio"


def test_an_unknown_agent_and_useless_options_are_mistakes(machine: Machine) -> None:
    """An option that does nothing would be believed to do something."""
    machine.install("codex", "claude", "qwen")

    for words in (
        ("connect", "emacs"),
        ("disconnect", "emacs"),
        ("connect", "cursor", "--hooks"),
        ("connect", "opencode", "--capture"),
        ("connect", "codex", "--allow"),
        ("connect", "claude", "--port", "1"),
    ):
        ran = machine.run(*words)
        assert ran.code == 2, words
        assert ran.err.startswith("error: ")
    assert machine.snapshot() == {}


def test_many_at_once_connect_once(machine: Machine) -> None:
    """A script of setup may run in every new terminal."""
    machine.install("claude", "codex")
    running = [
        subprocess.Popen(
            [str(machine.hm), "connect", "--yes"],
            env=machine.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(6)
    ]

    ends = [(one.communicate()[1], one.returncode) for one in running]

    assert [code for _, code in ends] == [0] * 6, ends
    assert command_in(machine, "claude") == [str(machine.hm), "mcp"]
    assert command_in(machine, "codex") == [str(machine.hm), "mcp"]
    assert machine.run("disconnect", "--yes").code == 0
    assert machine.snapshot() == {}


def test_no_agent_at_all_is_said(machine: Machine) -> None:
    """And is no failure: there was nothing to do."""
    ran = machine.run("connect")

    assert ran.code == 0
    assert ran.out.count("not installed") == len(NAMES)
    assert "None of the supported agents is installed here." in ran.err
    started = f"`{shlex.join((str(machine.hm), 'mcp'))}`"
    assert f"Any MCP client can start {started}." in ran.err


def test_a_claude_of_the_old_kind_is_found(machine: Machine) -> None:
    """Its installer made an alias of the shell, which is not on the path."""
    machine.put(".claude/local/claude", "#!/bin/sh\n")

    assert machine.run("connect", "claude", "--yes").code == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude", '{"a": 1,}'),
        ("claude", '{"a": 1} // x'),
        ("claude", '{"mcpServers": []}'),
        ("claude", b'{"a": "\xff"}'),
        ("codex", "a = \n"),
        ("codex", 'mcp_servers = { x = { command = "x" } }\n'),
        ("gemini", '{"a": 1,}'),
        ("cursor", "[]"),
        ("opencode", "{"),
        ("qwen", '{"mcpServers": "x"}'),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence_and_the_others_are_not(
    machine: Machine, name: str, text: str | bytes
) -> None:
    """Nothing that we write could make it better."""
    machine.install(*PROGRAMS, "cursor")
    file = machine.put(FILES[name], text)
    before = file.read_bytes()

    ran = machine.run("connect", "--yes", "--hooks", "--allow")

    assert ran.code == 1
    [error] = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert str(file) in error
    assert "Traceback" not in ran.err
    assert file.read_bytes() == before
    assert ran.out.count(": connected") == len(NAMES) - 1


def test_a_broken_second_file_of_an_agent_keeps_the_first_as_it_is(
    machine: Machine,
) -> None:
    """Half connected is worse than not."""
    machine.install("claude")
    machine.put(SETTINGS, '{"hooks": {"SessionStart": 3}}')
    before = machine.snapshot()

    ran = machine.run("connect", "--hooks", "--yes")

    assert ran.code == 1
    assert "hooks.SessionStart" in ran.err
    assert machine.snapshot() == before


def test_a_link_stays_a_link_and_a_mode_a_mode(machine: Machine) -> None:
    """People keep their settings in a repository of dot files."""
    machine.install("claude")
    target = machine.put("dotfiles/claude.json", "{}\n")
    target.chmod(0o640)
    (machine.home / FILES["claude"]).symlink_to("dotfiles/claude.json")
    before = machine.snapshot()

    machine.run("connect", "--yes")

    assert (machine.home / FILES["claude"]).is_symlink()
    assert "hivemind" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    machine.run("disconnect", "--yes")
    assert machine.snapshot() == before


def test_a_file_that_may_not_be_written_is_left_alone(machine: Machine) -> None:
    """Something else manages it, and would take the change back."""
    machine.install("claude", "codex")
    machine.put(FILES["claude"], "{}").chmod(0o444)

    ran = machine.run("connect", "--yes")

    assert ran.code == 1
    assert "is read-only" in ran.err
    assert (machine.home / FILES["claude"]).read_text() == "{}"
    assert entry(machine, "codex")


def test_a_byte_order_mark_and_an_empty_file_come_back(machine: Machine) -> None:
    """Editors on Windows write the one, ``touch`` the other."""
    machine.install("gemini", "qwen", "codex", "claude")
    machine.put(FILES["gemini"], b'\xef\xbb\xbf{"a": 1}\r\n')
    machine.put(FILES["qwen"], "\n")
    machine.put(FILES["codex"], "")
    machine.put(SETTINGS, '{"permissions": {"allow": [ ]}}')
    before = machine.snapshot()

    assert machine.run("connect", "--allow", "--hooks", "--yes").code == 0
    assert (machine.home / FILES["gemini"]).read_bytes().startswith(b"\xef\xbb\xbf{")
    assert machine.run("disconnect", "--yes").code == 0

    assert machine.snapshot() == before


def test_what_others_added_meanwhile_stays(machine: Machine) -> None:
    """We made the file, but it is not ours any more."""
    machine.install("claude")
    machine.run("connect", "claude", "--yes")
    file = machine.home / FILES["claude"]
    file.write_text(json.dumps(json.loads(file.read_text()) | {"numStartups": 1}))

    machine.run("disconnect", "claude", "--yes")

    assert json.loads(file.read_text()) == {"numStartups": 1}


def test_an_agent_is_disconnected_that_is_installed_no_more(machine: Machine) -> None:
    """Its file may be read by the next version."""
    machine.install("qwen")
    machine.run("connect", "--yes")
    (machine.programs / "qwen").unlink()

    assert machine.run("disconnect", "qwen", "--yes").code == 0

    assert machine.snapshot() == {}
    assert "not connected" in machine.run("disconnect", "qwen").out


@pytest.mark.parametrize("text", ['{"a": 1,}', b'{"a": "\xff"}', "", '{"b": []}'])
def test_a_broken_file_without_us_is_no_error_when_disconnecting(
    machine: Machine, text: str | bytes
) -> None:
    """A program that calls it may stop at an error; here there is nothing to do."""
    file = machine.put(FILES["gemini"], text)
    before = file.read_bytes()

    ran = machine.run("disconnect", "--yes")

    assert ran.code == 0, ran.err
    assert (str(file) in ran.err) == ("1" in str(text) or "xff" in str(text))
    assert "error" not in ran.err
    assert file.read_bytes() == before
    answer = json.loads(machine.run("disconnect", "--json", "--yes").out)
    assert answer["errors"] == []
    assert {one["state"] for one in answer["agents"]} == {"not connected"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (FILES["gemini"], '{"mcpServers": {"hivemind": {}},,}'),
        (FILES["gemini"], '{"mcpServers": {"hivemind": {}},,}'.encode("utf-16")),
        (FILES["gemini"], '{"command": "hm hook session-start",,}'),
        (SETTINGS, '{"command": "hm hook session-start",,}'),
    ],
)
def test_a_broken_file_that_may_hold_ours_is_an_error_when_disconnecting(
    machine: Machine, name: str, text: str | bytes
) -> None:
    """What is ours would stay there."""
    file = machine.put(name, text)

    ran = machine.run("disconnect", "--yes")

    assert ran.code == 1
    assert f"error: {file}" in ran.err


def test_a_file_that_broke_after_connecting_is_an_error_when_disconnecting(
    machine: Machine,
) -> None:
    """Its record says that we wrote there."""
    machine.install("gemini")
    machine.run("connect", "--yes")
    machine.put(FILES["gemini"], "{,}")

    assert machine.run("disconnect", "--yes").code == 1


def test_variables_lead_to_other_files(machine: Machine) -> None:
    """Each agent has one; the file that counts is the one that it reads."""
    machine.install(*PROGRAMS)
    at = machine.root / "elsewhere"
    places = {
        "CLAUDE_CONFIG_DIR": ("c/.claude.json", "c"),
        "CODEX_HOME": ("x/config.toml", "x"),
        "GEMINI_CLI_HOME": ("g/.gemini/settings.json", "g"),
        "QWEN_HOME": ("q/settings.json", "q"),
        "XDG_CONFIG_HOME": ("o/opencode/opencode.jsonc", "o"),
    }
    env = {name: str(at / folder) for name, (_, folder) in places.items()}

    assert machine.run("connect", "--yes", **env).code == 0

    for file, _ in places.values():
        assert "hivemind" in (at / file).read_text()
    assert machine.snapshot() == {}
    assert machine.run("disconnect", "--yes", **env).code == 0
    assert list(at.rglob("*")) == []


def test_opencode_keeps_the_file_that_it_has(machine: Machine) -> None:
    """It reads three names; a second file would only confuse."""
    machine.install("opencode")
    machine.put(".config/opencode/opencode.json", "{}")

    machine.run("connect", "--yes")

    assert "hivemind" in (machine.home / ".config/opencode/opencode.json").read_text()
    assert not (machine.home / FILES["opencode"]).exists()


def test_a_command_that_needs_this_shell_is_not_registered(machine: Machine) -> None:
    """Agents pass few variables on: the server would not start, and nobody know why."""
    machine.install("claude")
    python = ("-c", "from hivemind_memory.cli.main import run; run()")
    env = {"PYTHONPATH": str(Path(__file__).parents[2]), **machine.env}
    done = subprocess.run(
        [sys.executable, "-S", *python, "connect", "--yes"],
        env=env | {"PYTHONPATH": os.pathsep.join([env["PYTHONPATH"], *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )

    if done.returncode == 0:
        pytest.skip("the package is installed for this Python")
    assert "Nothing was changed" in done.stderr
    assert machine.snapshot() == {}


def test_json_says_everything(machine: Machine) -> None:
    """For programs that set machines up."""
    machine.install("claude")

    ran = machine.run("connect", "--json", "--yes")

    assert ran.code == 0
    assert ran.json["is_changed"] is True
    assert ran.json["errors"] == []
    first, *others = ran.json["agents"]
    assert first["agent"] == "claude"
    assert first["state"] == "not connected"
    assert first["changes"][0]["diff"].startswith("--- /dev/null")
    assert {one["state"] for one in others} == {"not installed"}


def test_the_tools_that_are_allowed_are_those_that_only_read() -> None:
    """Two lists that must agree; what an option adds is asked about."""
    from hivemind_memory.connect.agents import READING_TOOLS
    from hivemind_memory.mcp_server.server_description import described_tools

    reading = {
        tool.name
        for tool in described_tools()
        if "read-only" in tool.hints and "listed only if" not in tool.hints
    }

    assert set(READING_TOOLS) == reading


@pytest.mark.parametrize("answer", ["y\n", "n\n"])
def test_init_on_a_terminal_offers_to_connect_the_installed_agents(
    machine: Machine, answer: str
) -> None:
    """The first command of a new user is followed by the second one's question."""
    machine.install("claude", "codex")

    ran = machine.ask("init", answer=answer)

    assert ran.code == 0
    assert "Installed here: Claude Code, Codex.\n" in ran.out
    assert (machine.home / ".claude.json").exists() == (answer == "y\n")
    assert (machine.home / ".hivemind" / "memory" / "global.md").exists()


def test_init_asks_nothing_without_a_terminal_or_without_agents(
    machine: Machine,
) -> None:
    """A script must not wait for an answer, and there must be something to offer."""
    alone = machine.ask("init", answer="y\n")
    machine.install("claude")
    piped = machine.run("init")

    assert "[y/N]" not in f"{alone.out}{piped.out}{piped.err}"
    assert (alone.code, piped.code) == (0, 0)
    assert "hm connect" in piped.out
    assert machine.snapshot() == {}


def test_init_names_every_agent_that_it_offers_to_connect(machine: Machine) -> None:
    """An editor has settings here, and often no program on the PATH."""
    machine.install("claude")
    machine.put(".cursor/mcp.json", "{}\n")

    ran = machine.ask("init", answer="n\n")

    assert "Installed here: Claude Code, Cursor.\n" in ran.out
    assert "Cursor       not connected\n" in ran.out


def test_init_connects_without_asking_if_that_was_agreed_to(machine: Machine) -> None:
    """A script that sets up a machine has no terminal."""
    machine.install("claude")

    ran = machine.run("init", "--yes")

    assert ran.code == 0
    assert "Claude Code: connected\n" in ran.out
    assert (machine.home / FILES["claude"]).exists()


def test_qwen_code_offers_our_tools_in_the_first_request(machine: Machine) -> None:
    """It hides the tools of a server until its model looks for them; `false` stays."""
    machine.install(*PROGRAMS)
    machine.run("connect", "qwen", "--yes")
    assert entry(machine, "qwen")["alwaysLoadTools"] is True

    path = machine.home / FILES["qwen"]
    path.write_text(path.read_text().replace("true", "false"))
    machine.run("connect", "qwen", "--yes")
    assert entry(machine, "qwen")["alwaysLoadTools"] is False


@pytest.mark.parametrize("name", ["gemini", "opencode", "qwen"])
@pytest.mark.parametrize("comment", ["// mine", "/* mine */"])
def test_a_comment_in_a_file_that_we_made_keeps_it(
    machine: Machine, name: str, comment: str
) -> None:
    """The whole file was deleted, with what a person had typed."""
    machine.install(name)
    machine.run("connect", name, "--yes")
    file = machine.home / FILES[name]
    file.write_text(f"{comment}\n{file.read_text()}")

    assert machine.run("disconnect", name, "--yes").code == 0

    assert file.read_text().startswith(f"{comment}\n")
    assert "hivemind" not in file.read_text()
