"""Two hundred secrets through every way in and out: they are in the vault and nowhere.

Whatever a command, a tool or a route prints is gathered, and every file below the home
and in a worktree is searched in the end, in all usual encodings.
"""

from __future__ import annotations

import json
import os
import random
import signal
import string
import subprocess
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from hivemind_memory.cli.table import command_names
from hivemind_memory.vault.vault import Vault
from tests.http_api.served import serving
from tests.support.forked import HM, start
from tests.vault.conftest import Hm

COUNT = 200
TOOLS = {
    *("memory_write", "memory_save", "memory_learn", "memory_search", "memory_get"),
    *("memory_history", "memory_list", "memory_link", "memory_forget"),
}
UNTRIED = {
    # Tried as servers.
    *("mcp", "serve", "dashboard", "watch"),
    # They become another program, or start one.
    *("attach", "edit", "exec", "inbox edit", "kill", "launch", "sessions"),
    # They show and write no text of a note.
    *("completion", "config path", "config set", "config unset", "connect"),
    *("disconnect", "eval run", "eval suggest", "git-hook install", "git-hook remove"),
    *("git-hook run", "git-hook status", "help", "init", "model fetch", "model list"),
    *("project adopt", "project merge", "project rename", "restore-backup"),
    *("token add", "version"),
}
"""Commands that the test does not run, and why."""

AT_ONCE = 25
"""Secrets in one text: a typed memory has at most 4,000 characters."""


def secrets() -> list[str]:
    """Return values of many looks, of which no rule knows one."""
    rng = random.Random(4711)
    letters = string.ascii_lowercase

    def word(length: int) -> str:
        return "".join(rng.choice(letters) for _ in range(length))

    looks = (
        lambda: f"{word(6)}-{word(5)}",
        lambda: f"{word(5)} {word(6)} {word(4)}",
        lambda: f"{word(4)}/{word(4)}+{word(3)}?{word(2)}",
        lambda: f'{word(5)}"{word(4)}\\{word(4)}',
        lambda: f"{word(5)}ü{word(3)}雪{word(3)}",
        lambda: f"{word(4)}{rng.randrange(10**6):06}",
    )
    return [looks[number % len(looks)]() for number in range(COUNT)]


def forms(value: str) -> Iterator[str]:
    """Yield the forms in which a value must be nowhere."""
    raw = value.encode()
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(raw, safe="")
    yield b64encode(raw).decode().rstrip("=")
    yield urlsafe_b64encode(raw).decode().rstrip("=")
    yield raw.hex()


def texts(values: list[str], rng: random.Random) -> list[str]:
    """Return texts that hold all values, each in one of its forms."""
    return [
        "We noted these: "
        + " ; ".join(
            rng.choice(list(forms(value))) for value in values[at : at + AT_ONCE]
        )
        for at in range(0, len(values), AT_ONCE)
    ]


class Captured:
    """Everything that was printed."""

    def __init__(self, hm: Hm) -> None:
        self._hm = hm
        self.parts: list[tuple[str, bytes]] = []
        self.commands: set[str] = set()

    def hm(self, *words: str, stdin: bytes = b"", **environ: str) -> bytes:
        """Run ``hm``, gather what it prints, and return standard output."""
        ran = self._hm(*words, stdin=stdin, **environ)
        self.add(words[0], ran.stdout + ran.stderr)
        names = set(command_names())
        for size in (1, 2):
            self.commands |= {" ".join(words[:size])} & names
        assert b"Traceback" not in ran.stderr
        return ran.stdout

    def add(self, what: str, data: bytes) -> None:
        """Gather what was printed."""
        self.parts.append((what, data))

    def leaks(self, values: list[str]) -> list[str]:
        """Return what was printed with which form of a value."""
        return [
            f"{what}: {form}"
            for what, data in self.parts
            for value in values
            for form in forms(value)
            if form.encode() in data
        ]


def files_with(folder: Path, values: list[str]) -> list[str]:
    """Return the files below a folder that hold a value, those of the vault apart."""
    found = []
    wanted = [form.encode() for value in values for form in forms(value)]
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "vault":
            data = path.read_bytes()
            found += [f"{path}: {one!r}" for one in wanted if one in data]
    return found


def call_tools(captured: Captured, values: list[str], rng: random.Random) -> None:
    """Call every tool of a server over stdio, with the secrets in what it takes."""
    calls: list[tuple[str, dict[str, object]]] = []
    for number, text in enumerate(texts(values, rng)):
        calls += [
            ("memory_write", {"content": text}),
            ("memory_save", {"key": f"tool-{number}", "content": text}),
            ("memory_learn", {"topic": f"topic {number}", "claim": text[:900]}),
            ("memory_search", {"query": "noted these", "max_results": 50}),
            ("memory_get", {"path": text[:200]}),
            ("memory_history", {"key": text[:200]}),
        ]
    calls += [
        ("memory_list", {}),
        ("memory_get", {"path": "before.md"}),
        ("memory_history", {"key": "tool-0"}),
        ("memory_link", {"from": "tool-0", "to": "tool-1", "kind": "related_to"}),
        ("memory_forget", {"key": "tool-1"}),
    ]
    assert {name for name, _ in calls} == TOOLS
    messages: list[dict[str, object]] = [
        {
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        *(
            {
                "id": number,
                "method": "tools/call",
                "params": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(calls, start=1)
        ),
    ]
    pipe = subprocess.PIPE
    with start([*HM, "mcp"], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode())
            process.stdin.write(b"\n")
            process.stdin.flush()
            if "id" in message:
                line = process.stdout.readline()
                captured.add(f"tool {message}"[:60], line)
                assert b'"id":' in line
        process.stdin.close()
        captured.add("server", process.stdout.read() + process.stderr.read())
        process.wait(60)


def ask_routes(captured: Captured, values: list[str], rng: random.Random) -> None:
    """Ask every route that shows or takes a text."""
    with serving() as served:
        for text in texts(values, rng):
            for answer in (
                served.ask(
                    "POST", "/workspaces/w/memory", json={"key": "a", "value": text}
                ),
                served.ask(
                    "POST", "/workspaces/w/memory", json={"key": text[:250], "value": 1}
                ),
                served.ask("GET", "/api/v1/search?q=noted+these&max_results=50"),
                served.ask("GET", "/api/v1/memories/tool-0"),
                served.ask("GET", f"/workspaces/w/memory/{quote(text[:200], safe='')}"),
                served.ask("GET", "/workspaces/w/memory"),
                served.ask("GET", "/api/v1/vault"),
            ):
                captured.add("route", answer.content)
        served.process.send_signal(signal.SIGTERM)
        served.process.wait(60)
        assert served.process.stderr is not None
        captured.add("hm serve", served.process.stderr.read().encode())


@pytest.mark.thorough
def test_two_hundred_secrets_are_in_the_vault_and_nowhere_else(
    home: Path, hm: Hm, tmp_path: Path
) -> None:
    """In no file, no answer, no error and no log, in none of the usual forms."""
    values, rng = secrets(), random.Random(1)
    before = home / "memory/before.md"
    before.write_text("# Before\n\nA person wrote: " + " ; ".join(values[:60]) + "\n")
    hm("sync")
    hm("search", "person wrote")
    vault = Vault(str(home))
    for number, value in enumerate(values[1:]):
        vault.set(f"S{number}", value, now_s=1, is_secret=True)
    captured = Captured(hm)
    captured.hm("vault", "set", "LAST", stdin=values[0].encode())
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    subprocess.run(["git", "init", "-q", str(worktree)], check=True)

    agent = {"CLAUDECODE": "1"}
    for number, text in enumerate(texts(values, rng)):
        captured.hm("write", "-", stdin=text.encode())
        captured.hm("save", f"key-{number}", "-", stdin=text.encode())
        captured.hm("save", f"key-{number}", "--reason", text[:150], "It changed.")
        captured.hm("learn", f"topic {number}", text[:900])
        captured.hm("kv", "set", f"k{number}", "-", stdin=text.encode())
        captured.hm("kv", "set", text[:200], "1")
        captured.hm("search", text[:300])
        captured.hm("search", "--json", "--explain", text[:300])
    call_tools(captured, values, rng)
    ask_routes(captured, values, rng)
    captured.hm("rebuild")
    blocks = ("--root", str(before.parent), "--blocks", str(tmp_path / "blocks.json"))
    for words in (
        ("search", "noted these"),
        ("search", "--json", "person wrote"),
        ("list", "--json"),
        ("list", "--memories", "--json"),
        ("tags", "--json"),
        ("log", "--json"),
        ("show", "key-0", "--json"),
        ("history", "key-0", "--json"),
        ("get", "before.md"),
        ("activity", "list", "--json"),
        ("activity", "search", values[13], "--json"),
        ("activity", "show", values[14]),
        ("activity", "status", "--json"),
        ("kv", "list", "--json"),
        ("vault", "list", "--json"),
        ("vault", "get", "S0"),
        ("vault", "get", "S0", "--show"),
        ("vault", "delete", "NONE"),
        ("vault", "exec", "S0", "NONE", "--", "env"),
        ("status", "--json"),
        ("doctor",),
        ("inbox", "list"),
        ("forget", "key-1"),
        ("undo",),
        ("inject", str(worktree), "--yes"),
        ("why", str(worktree), "--json"),
        ("hook", "session-start"),
        ("backup", str(tmp_path / "backup.tar.gz")),
        ("config", "list"),
        ("config", "get", "min_score"),
        ("kv", "get", values[2]),
        ("kv", "delete", values[3]),
        ("done", values[4]),
        ("link", values[5], "key-0", "--kind", "updates"),
        ("unlink", values[6], "key-0", "--kind", "updates"),
        ("restore", values[7]),
        ("inbox", "accept", values[8]),
        ("inbox", "reject", values[9]),
        ("token", "list", "--json"),
        ("token", "revoke", values[10]),
        ("project", "list", "--json"),
        ("project", "show", str(worktree)),
        ("sync", "--json"),
        ("eject", str(worktree)),
        ("context", "add", "before.md", *blocks),
        ("context", "list", *blocks),
        ("context", "build", *blocks, "--json"),
        ("context", "build", *blocks, "--task", "what a person wrote"),
        ("context", "clean", *blocks),
        ("bulletin", "--json"),
        ("used", values[15]),
        ("jobs", "list", "--json"),
        ("consolidate", "--json"),
        ("consolidate", "--only", values[16]),
        ("jobs", "retry", values[16]),
        ("capture", values[16]),
        ("hook", "session-end"),
        ("skill", "promote", values[17]),
        ("skill", "promote", "key-0", "--name", values[18][:60]),
        ("skill", "list", "--json"),
        ("skill", "show", values[19]),
        ("skill", "sync", values[20]),
        ("skill", "demote", values[21]),
        ("get", values[11]),
        ("show", values[12]),
    ):
        captured.hm(*words, **agent if words[0] in {"get", "hook"} else {})

    assert captured.leaks(values) == []
    assert set(command_names()) - captured.commands == UNTRIED
    before.unlink()
    hm("sync")
    hm("forget", "--purge", "--yes", "key-0")
    for folder in (home, worktree):
        assert files_with(folder, values) == []
    subprocess.run(
        ["tar", "xzf", "backup.tar.gz", "--one-top-level=out"], cwd=tmp_path, check=True
    )
    (tmp_path / "out/notes/before.md").unlink()
    assert files_with(tmp_path / "out", values) == []
    assert not (tmp_path / "out/vault.json").exists()


@pytest.mark.parametrize("at", range(6))
def test_a_killed_write_leaves_no_value_outside(home: Path, hm: Hm, at: int) -> None:
    """Whatever moment it dies at."""
    hm("vault", "set", "A", stdin=b"plover-saddle")
    pipe = subprocess.PIPE
    with start([*HM, "write", "-"], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(b"It is plover-saddle." * 200)
        process.stdin.close()
        try:
            process.wait(0.02 * at)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
    hm("search", "it is")

    assert files_with(home, ["plover-saddle"]) == []
