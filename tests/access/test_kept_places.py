"""What an agent writes never gets into a replaced version, nor unnoticed into an inbox.

Every command and tool is listed here: a new one joins ``COMMANDS`` or ``TOOLS`` with
what it tries, or is named among those that write no text to a note.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from hivemind_memory.cli.table import all_commands
from hivemind_memory.mcp_server import server
from tests.support.access_matrix import CONFIG, Side, note, ulid

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the editor is a script")

TEXT = "An intruder was here."
OLD, CLAIM = ulid(1), ulid(2)

COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "write": (("write", "--file", "{there}", TEXT), ("write", "--file", "{new}", TEXT)),
    "edit": (("edit", "{there}"), ("edit", "{new}"), ("edit", "{id}")),
    "inbox edit": (("inbox", "edit", "{there}"), ("inbox", "edit", "{id}")),
    "save": (
        ("save", "{there}", TEXT),
        ("save", "--reason", "it moved", "port", TEXT),
        ("save", "--source", "external", "port", TEXT),
        ("save", "--source", "external", "port", TEXT),
    ),
    "learn": (("learn", "{there}", TEXT), ("learn", "--source", "tool", "pip", TEXT)),
    "link": (
        ("link", "{there}", "intruder", "--kind", "related_to"),
        ("link", "{id}", "intruder", "--kind", "updates"),
    ),
    "unlink": (("unlink", "{there}", "guest", "--kind", "related_to"),),
    "inbox accept": (("inbox", "accept", "{there}"),),
    "inbox reject": (("inbox", "reject", "{there}"),),
    "forget": (("forget", "{there}"),),
    "done": (("done", "{there}"),),
    "restore": (("restore", "{there}"),),
    "undo": (("undo",),),
    "project adopt": (("project", "adopt", "a"),),
    "project rename": (("project", "rename", "a", "intruder"),),
    "project merge": (("project", "merge", "a", "intruder"),),
    "init": (("init",),),
    "restore-backup": (("restore-backup", "{there}"),),
}
"""Command -> what an agent tries with it."""

WITHOUT_TEXT = {
    *("search", "get", "list", "tags", "log", "show", "history", "inbox list"),
    *("bulletin", "used", "skill list", "skill show", "skill promote"),
    *("skill sync", "skill demote"),
    *("connect", "disconnect", "mcp", "completion", "help", "version"),
    *("hook session-start", "inject", "eject", "why", "project show", "project list"),
    *("token add", "token list", "token revoke"),
    *("kv get", "kv set", "kv list", "kv delete", "serve", "dashboard"),
    *("context build", "context add", "context list", "context clean"),
    *("activity search", "activity show", "activity list"),
    *("vault list", "vault set", "vault get", "vault delete", "vault exec"),
    *("launch", "exec", "sessions", "attach", "kill", "eval run", "eval suggest"),
    *("git-hook status", "git-hook install", "git-hook remove", "git-hook run"),
    *("sync", "rebuild", "status", "doctor", "watch", "backup"),
    *("config list", "config get", "config set", "config unset", "config path"),
    *("model list", "model fetch", "jobs list", "jobs retry", "hook session-end"),
    "capture",
    "consolidate",
}
"""Commands that write no text to a note."""

TOOLS: dict[str, tuple[dict[str, Any], ...]] = {
    "memory_write": (
        {"content": TEXT, "file": "{there}"},
        {"content": TEXT, "file": "{new}"},
    ),
    "memory_save": (
        {"key": "{there}", "content": TEXT},
        {"key": "port", "content": TEXT, "supersede_reason": "it moved"},
    ),
    "memory_learn": (
        {"topic": "pip", "claim": TEXT},
        {"topic": "{there}", "claim": TEXT},
    ),
    "memory_link": (
        {"from": "{there}", "to": "intruder", "kind": "related_to"},
        {"from": "{id}", "to": "intruder", "kind": "updates"},
    ),
    "memory_forget": ({"id": "{there}"},),
    "memory_get": (),
    "memory_history": (),
    "memory_list": (),
    "memory_search": (),
}
"""Tool -> what an agent tries with it; nothing: it only reads."""

PLACES = ("superseded", "inbox")
_SAVED = ("saved", "a search finds it", "active")


@pytest.fixture
def side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Side:
    """An agent's home, with a replaced version and a pending claim of a key."""
    for name in [one for one in os.environ if one.startswith("HIVEMIND_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "PROJECT", "TEAM", "WORKSPACE"):
        monkeypatch.setenv(f"HIVEMIND_{name}", "")
    monkeypatch.setenv("HIVEMIND_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("CLAUDECODE", "1")
    script = tmp_path / "editor"
    script.write_text(f'#!/bin/sh\necho "{TEXT}" >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "home/memory/projects/a"
    for path, text in {
        "port.md": note(0, "port", "The port is 5433.", supersedes=OLD),
        f"superseded/port--{OLD}.md": note(
            1, "port", "It was 5432.", superseded_by=ulid(0), related="[guest]"
        ),
        f"inbox/port--{CLAIM}.md": note(2, "port", "It is 1.", source="external"),
        "intruder.md": note(3, "intruder", "A door."),
        "guest.md": note(4, "guest", "A window."),
    }.items():
        (notes / path).parent.mkdir(parents=True, exist_ok=True)
        (notes / path).write_text(text)
    (tmp_path / "home/config.json").write_text(json.dumps(CONFIG))
    return Side(tmp_path / "home", "project a")


def filled(words: Any, place: str) -> Any:
    """Return words or arguments with the names of a note in a place."""
    if isinstance(words, dict):
        return {name: filled(value, place) for name, value in words.items()}
    if not isinstance(words, str):
        return tuple(filled(one, place) for one in words)
    memory_id = OLD if place == "superseded" else CLAIM
    folder = f"projects/a/{place}"
    there, new = f"{folder}/port--{memory_id}.md", f"{folder}/new.md"
    filling = {"there": there, "new": new, "id": memory_id}
    return words.format(**filling) if "{" in words else words


def texts(side: Side, place: str) -> dict[str, str]:
    """Return the notes of a place."""
    folder = side.home / "memory/projects/a" / place
    return {one.name: one.read_text() for one in folder.glob("*.md")}


def check(side: Side, before: dict[str, str], said: str) -> None:
    """Check that nothing was put into a version, and that what waits is told."""
    for name, text in texts(side, "superseded").items():
        assert "ntruder" not in text, (name, said)
        assert "guest" in text or "It was 5432." not in text, (name, said)
    after = texts(side, "inbox")
    if any(TEXT in after[name] and after[name] != before.get(name) for name in after):
        assert "person to accept it" in said
        line = said.casefold().replace("already", "")
        assert not [one for one in _SAVED if one in line], said


def test_every_command_and_tool_is_listed() -> None:
    """A new one is tried here, or is said to write nothing."""
    names = {one.name for one in all_commands()}
    prebuilt = json.loads(Path(server.__file__).with_name("tools.json").read_text())

    assert {*COMMANDS, *WITHOUT_TEXT} == names
    assert not WITHOUT_TEXT & {*COMMANDS}
    assert {*re.findall(r'"name": "(memory_\w+)"', json.dumps(prebuilt["tools"]))} == {
        *TOOLS
    }


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_an_agent(side: Side, command: str, place: str) -> None:
    """Whatever it is called with."""
    for line in COMMANDS[command]:
        before = texts(side, "inbox")

        [(_, said)] = side.commands([filled(line, place)])

        check(side, before, said)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("tool", [name for name, calls in TOOLS.items() if calls])
def test_a_tool_of_an_agent(side: Side, tool: str, place: str) -> None:
    """Whatever it is called with."""
    for call in TOOLS[tool]:
        before = texts(side, "inbox")

        [(_, said)] = side.tools([(tool, filled(call, place))])

        check(side, before, said.partition('\n{"')[0])


def test_a_person_edits_a_replaced_version(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is their file."""
    monkeypatch.delenv("CLAUDECODE")
    monkeypatch.setitem(os.environ, "HIVEMIND_PROJECT", "")
    owner = Side(side.home, "owner")
    monkeypatch.setattr(
        "tests.support.access_matrix.CALLERS", {"owner": ({"project": ""}, ())}
    )

    [(_, said)] = owner.commands([filled(("edit", "{there}"), "superseded")])

    assert said.startswith("0\n")
    assert TEXT in texts(side, "superseded")[f"port--{OLD}.md"]
