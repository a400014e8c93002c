"""``hm hook session-start``: what it says, when it is silent; it never fails."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hivemind_memory.cli.commands import hook
from hivemind_memory.files import server_start
from tests.connect.conftest import Machine
from tests.support.waiting import HANG_S

HEADING = "## Hivemind Memory (auto-injected, do not edit)"

CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "2.1.332"},
}
OPENING = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
"""What Claude Code sends first."""

NUL_AT_START = json.dumps(
    {"hook_event_name": "SessionStart", "source": "startup", "cwd": "\0"}
).encode()


@pytest.fixture
def worktree(machine: Machine) -> Path:
    """A repository with a file of its own, and a memory with two notes."""
    notes = {
        "global.md": "Tabs are four spaces.\n",
        "shop.md": "The shop deploys on Tuesdays.\n",
    }
    for name, text in notes.items():
        machine.put(f".hivemind/memory/{name}", text)
    folder = machine.root / "shop"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text("# Rules\n")
    for words in (
        ("init", "--quiet"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "shop"),
    ):
        subprocess.run(["git", *words], cwd=folder, env=machine.env, check=True)
    return folder


def said(machine: Machine, worktree: Path, *words: str) -> str:
    """What the hook gives an agent that starts in a worktree."""
    payload = {
        "cwd": str(worktree),
        "source": "startup",
        "hook_event_name": "SessionStart",
    }
    ran = machine.run("hook", "session-start", *words, stdin=json.dumps(payload))
    assert ran.code == 0
    assert ran.err == ""
    if not ran.out:
        return ""
    answer = json.loads(ran.out)["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    return str(answer["additionalContext"])


def files_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_section_is_said_and_the_worktree_untouched(
    machine: Machine, worktree: Path
) -> None:
    """That is what it is for: a repository that may not even be looked at twice."""
    before = files_of(worktree)

    section = said(machine, worktree)

    assert section.startswith(HEADING)
    assert "> Tabs are four spaces." in section
    assert "> The shop deploys on Tuesdays." in section
    assert files_of(worktree) == before


def test_a_subfolder_is_in_its_worktree(machine: Machine, worktree: Path) -> None:
    """Agents are started anywhere."""
    folder = worktree / "src"
    folder.mkdir()

    assert said(machine, folder) == said(machine, worktree)


def test_a_section_in_a_file_is_not_paid_for_twice(
    machine: Machine, worktree: Path
) -> None:
    """Each agent reads its own files, and only those count."""
    machine.run("inject", str(worktree))

    assert said(machine, worktree) == ""
    assert said(machine, worktree, "--agent", "gemini").startswith(HEADING)
    machine.run("inject", "--agent", "gemini", str(worktree))
    assert said(machine, worktree, "--agent", "gemini") == ""


def test_a_section_in_a_file_hides_no_broken_option(
    machine: Machine, worktree: Path
) -> None:
    """Who may see what is unknown then, and what is in the file may be too much."""
    machine.run("inject", str(worktree))
    machine.put(".hivemind/config.json", "{ broken")

    ran = machine.run("hook", "session-start", stdin=f'{{"cwd": "{worktree}"}}')

    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("hivemind: this session starts without memories: ")


def test_off_is_off(machine: Machine, worktree: Path) -> None:
    """However the memories would come."""
    machine.run("inject", "--off", str(worktree))

    assert said(machine, worktree) == ""


def test_an_empty_memory_says_nothing(machine: Machine, worktree: Path) -> None:
    """Instructions for nothing cost tokens too."""
    for note in (machine.home / ".hivemind" / "memory").iterdir():
        note.unlink()

    assert said(machine, worktree) == ""


def test_a_long_section_is_shortened_by_whole_memories(
    machine: Machine, worktree: Path
) -> None:
    """Beyond 10,000 characters Claude Code shows its model a preview only."""
    for number in range(12):
        text = f"The shop's part {number} " + f"word{number} " * 150
        machine.put(f".hivemind/memory/shop/{number}.md", text + "\n")
    machine.put(
        ".hivemind/config.json",
        '{"memory": {"inject_budget_tokens": 20000, "startup_inject_count": 20}}',
    )

    section = said(machine, worktree)

    assert 6_000 < len(section) <= 9_000
    assert "not shown; `hm search` finds more." in section.splitlines()[-1]


@pytest.mark.parametrize(
    ("stdin", "config"),
    [
        (b"", ""),
        (b"{", ""),
        (b"[" * 100_000, ""),
        (b"\xff\x00", ""),
        (b'{"cwd": 3}', ""),
        (b'{"cwd": "/nowhere/at/all"}', ""),
        (b'{"cwd": "/dev/null"}', ""),
        (b'{"cwd": "a\\u0000b"}', ""),
        (NUL_AT_START, ""),
        (b'{"cwd": "/"}', "{ broken"),
        (b'{"cwd": "/"}', '{"memory": {"inject_budget_tokens": "x"}}'),
    ],
)
def test_whatever_comes_it_ends_well(
    machine: Machine, stdin: bytes, config: str
) -> None:
    """An agent that cannot start is worse than one without memories."""
    if config:
        machine.put(".hivemind/config.json", config)

    ran = machine.run("hook", "session-start", stdin=stdin)

    assert ran.code == 0
    assert ran.out == ""
    assert ran.err.count("\n") <= 1
    assert "Traceback" not in ran.err
    assert "This is a bug" not in ran.err


def test_an_agent_that_does_not_close_its_end_waits_seconds_and_no_longer(
    machine: Machine,
) -> None:
    """The limit is ours, so that it is the same under every agent."""
    assert hook.TIMEOUT_S == 5
    impatient = (
        "from hivemind_memory.cli.commands import hook; hook.TIMEOUT_S = 0.2;"
        "from hivemind_memory.cli.main import run; run()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", impatient, "hook", "session-start"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=machine.env,
    ) as process:
        code = process.wait(timeout=HANG_S)
        assert process.stderr is not None
        err = process.stderr.read()

    assert code == 0
    assert b"no answer within 0.2 s" in err


def test_an_agent_that_left_is_nobodys_trouble(
    machine: Machine, worktree: Path
) -> None:
    """Its pipe is closed before the answer comes."""
    with subprocess.Popen(
        [str(machine.hm), "hook", "session-start"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=machine.env,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(json.dumps({"cwd": str(worktree)}).encode())
        process.stdin.close()
        err = process.stderr.read()

    assert process.returncode == 0
    assert b"Traceback" not in err


def answered(machine: Machine, worktree: Path, event: str, **more: str) -> str:
    """What the hook says to an event, checked to be answered by its name."""
    payload = {"cwd": str(worktree), "hook_event_name": event, **more}
    agent = ("--agent", "gemini") if event in ("PreCompress", "BeforeAgent") else ()
    ran = machine.run("hook", "session-start", *agent, stdin=json.dumps(payload))
    assert (ran.code, ran.err) == (0, "")
    if not ran.out:
        return ""
    answer = json.loads(ran.out)["hookSpecificOutput"]
    assert answer["hookEventName"] == event
    return str(answer["additionalContext"])


def test_an_event_of_another_version_is_named_and_answered(
    machine: Machine, worktree: Path
) -> None:
    """In one sentence, with exit code 0: nothing keeps the agent from starting."""
    payload = {"cwd": str(worktree), "hook_event_name": "SessionResumed"}

    ran = machine.run("hook", "session-start", stdin=json.dumps(payload))

    assert ran.code == 0
    assert ran.err == (
        "note: the event SessionResumed is unknown to this version; it is treated as"
        " SessionStart\n"
    )
    assert HEADING in ran.out


def test_a_subagent_gets_the_memories(machine: Machine, worktree: Path) -> None:
    """It begins without what its session was told."""
    section = answered(machine, worktree, "SubagentStart", agent_type="reviewer")

    assert section == said(machine, worktree)


def test_a_subagent_that_gets_no_files_gets_the_section_all_the_same(
    machine: Machine, worktree: Path
) -> None:
    """Claude Code gives its files to no Explore and no Plan."""
    assert machine.run("inject", str(worktree)).code == 0

    told = {
        kind: answered(machine, worktree, "SubagentStart", agent_type=kind)
        for kind in ("Explore", "Plan", "general-purpose")
    }

    assert told["Explore"].startswith(HEADING)
    assert told["Plan"].startswith(HEADING)
    assert told["general-purpose"] == ""


def test_what_gemini_compresses_is_said_again_with_the_next_prompt(
    machine: Machine, worktree: Path
) -> None:
    """It announces a compression with every prompt, and the section came with each."""
    file = machine.root / "session.jsonl"
    told = f"<hook_context>{HEADING}\\n\\n</hook_context>"
    context = '{"$set":{"messages":[{"type":"user","content":"The folder is lamp."}]}}'
    section = f'{{"type":"user","content":[{{"text":"{told}"}}]}}'
    answer = '{"type":"gemini","content":"Done."}'
    touched = '{"$set":{"lastUpdated":"2026-11-23T20:44:57.906Z"}}'
    sessions = {
        "begins": [context],
        "was told": [context, section, touched, answer],
        "is compressed": [context, section, touched, answer, context, answer],
        "was told again": [context, section, answer, context, section, touched],
        "never had it": [context, answer, context, answer],
    }
    said = {}
    for name, lines in sessions.items():
        file.write_text("".join(f"{line}\n" for line in lines))
        more = {"transcript_path": str(file)}
        assert answered(machine, worktree, "PreCompress", **more) == ""
        said[name] = answered(machine, worktree, "BeforeAgent", **more)

    assert [name for name, text in said.items() if text] == ["is compressed"]
    assert said["is compressed"].startswith(HEADING)
    assert answered(machine, worktree, "BeforeAgent") == ""


@pytest.mark.parametrize(
    "words",
    [
        ("session-start", "--agent", "cluade"),
        ("session-start", "--since-another-version"),
        ("another-version",),
    ],
)
def test_a_command_line_that_is_not_understood_stops_no_agent(
    machine: Machine, words: tuple[str, ...]
) -> None:
    """Agents take the code 2 of a hook for an order to stop."""
    ran = machine.run("hook", *words, stdin="{}")

    assert (ran.code, ran.out) == (0, "")
    assert ran.err


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("--of-later",), "`--of-later` is"),
        (("--of-later=2", "--agent", "claude"), "`--of-later=2` is"),
        (("--of-later", "2", "--agent=claude", "-x"), "`--of-later`, `2`, `-x` are"),
    ],
)
def test_a_hook_of_another_version_still_gives_the_memories(
    machine: Machine, worktree: Path, words: tuple[str, ...], shown: str
) -> None:
    """The settings of the agent keep a command line of the version that wrote it."""
    payload = json.dumps({"cwd": str(worktree), "hook_event_name": "SessionStart"})

    ran = machine.run("hook", "session-start", *words, stdin=payload)

    assert ran.code == 0
    assert ran.err == f"note: {shown} unknown to this version and ignored\n"
    section = json.loads(ran.out)["hookSpecificOutput"]["additionalContext"]
    assert "> The shop deploys on Tuesdays." in section


def test_a_mistyped_agent_is_named_right_by_the_hook(machine: Machine) -> None:
    """Whoever reads the agent's log sees what to change."""
    ran = machine.run("hook", "session-start", "--agent", "codx", stdin="{}")

    assert "Did you mean codex?" in ran.err


def test_an_unknown_agent_is_refused_by_the_hook(
    machine: Machine, worktree: Path
) -> None:
    """It got what is meant for an agent that reads AGENTS.md, and no word of it."""
    payload = json.dumps({"cwd": str(worktree), "hook_event_name": "SessionStart"})

    ran = machine.run("hook", "session-start", "--agent", "nobody", stdin=payload)

    assert (ran.code, ran.out) == (0, "")
    assert "'nobody' is not an agent that hm knows" in ran.err
    assert "Known agents: claude, codex" in ran.err
    assert ran.err.count("\n") == 1


def test_an_agent_of_config_json_is_known_to_the_hook(
    machine: Machine, worktree: Path
) -> None:
    """A person may register the hook with an agent of their own."""
    machine.put(".hivemind/config.json", '{"memory": {"agents": {"nobody": "true"}}}')

    assert "> Tabs are four spaces." in said(machine, worktree, "--agent", "nobody")


def test_the_hook_of_claude_ends_when_the_tools_are_listed(
    machine: Machine, worktree: Path
) -> None:
    """Its first request to the model waits for its hooks, but not for its servers."""
    entry = {"type": "stdio", "command": str(machine.hm), "args": ["mcp"]}
    machine.put(".claude.json", json.dumps({"mcpServers": {"hivemind": entry}}))
    payload = {"hook_event_name": "SessionStart", "cwd": str(worktree)}
    server, asked = (
        subprocess.Popen(
            [*prefix, str(machine.hm), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=machine.env,
            cwd=worktree,
        )
        for prefix, words in (
            ((), ("mcp",)),
            # As an agent does it: there may be a shell between them.
            (("sh", "-c", '"$0" "$@"; exit $?'), ("hook", "session-start")),
        )
    )
    with server, asked:
        assert server.stdin
        assert server.stdout
        assert asked.stdin
        assert asked.stdout
        asked.stdin.write(json.dumps(payload | {"source": "startup"}).encode())
        asked.stdin.close()
        section = json.loads(asked.stdout.readline())
        time.sleep(0.1)
        is_waiting = asked.poll() is None
        server.stdin.write(
            b"".join(json.dumps(one).encode() + b"\n" for one in OPENING)
        )
        server.stdin.flush()
        listed = [json.loads(server.stdout.readline()) for _ in range(2)][1]
        asked.wait(HANG_S)
        server.stdin.close()

    assert section["hookSpecificOutput"]["additionalContext"].startswith(HEADING)
    assert is_waiting
    assert len(listed["result"]["tools"]) > 3
    assert (server.returncode, asked.returncode) == (0, 0)
    assert not [*(machine.home / ".hivemind" / "locks").glob("server-*")]


def refuse_to_wait(*_: object) -> None:
    """Take the place of what must not be called."""
    raise AssertionError


@pytest.mark.parametrize(
    ("source", "words"),
    [("compact", ()), ("startup", ("--agent", "codex")), ("startup", ())],
    ids=["no start", "another agent", "not connected"],
)
def test_a_hook_waits_for_no_server_that_does_not_start(
    machine: Machine,
    worktree: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    words: tuple[str, ...],
) -> None:
    """Nobody is kept waiting for nothing."""
    is_connected = bool(words) or source != "startup"
    entry = {"type": "stdio", "command": str(machine.hm), "args": ["mcp"]}
    servers = {"hivemind": entry} if is_connected else {}
    machine.put(".claude.json", json.dumps({"mcpServers": servers}))
    payload = {"hook_event_name": "SessionStart", "cwd": str(worktree)}
    monkeypatch.setattr(server_start, "wait_until_listed", refuse_to_wait)

    ran = machine.run(
        "hook", "session-start", *words, stdin=json.dumps(payload | {"source": source})
    )

    assert ran.code == 0
    assert ran.err == ""
