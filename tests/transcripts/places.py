"""A user's home with transcripts of agents, and the activity over it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hivemind_memory.access.rules import OWNER, Caller
from hivemind_memory.model.activity import ReadReport
from hivemind_memory.model.agents import TRANSCRIPT_SOURCES
from hivemind_memory.model.value import replaced
from hivemind_memory.state.state_file import StateFile
from hivemind_memory.transcripts.activity import Activity
from hivemind_memory.transcripts.sources import chosen_sources
from tests.support.sandbox import Sandbox

RECORDED = Path(__file__).parents[2] / "fixtures" / "transcripts"
"""Made by the real agents, see ``benchmarks/real_clients/recordings.py``."""

FILES = {
    "claude": ".claude/projects/-home-you-lamp/session.jsonl",
    "codex": ".codex/sessions/2026/11/25/rollout-session.jsonl",
    "gemini": ".gemini/tmp/lamp/chats/session-1.jsonl",
    "opencode": ".local/share/opencode/opencode.db",
    "qwen": ".qwen/projects/-home-you-lamp/chats/session.jsonl",
}
"""Where each agent keeps a transcript, below the user's home."""

LAMP = "/home/you/lamp"
"""Where the recorded agents worked."""

ROWS = """
SELECT messages.id, files.source, files.session, files.folder, messages.line,
  messages.part,
  place, role, tool, text
FROM messages JOIN files ON files.id = file ORDER BY messages.id
"""


def put_recorded(user: Path, *names: str) -> None:
    """Put recorded transcripts where their agents keep them."""
    for name in names or TRANSCRIPT_SOURCES:
        file = user / FILES[name]
        file.parent.mkdir(parents=True, exist_ok=True)
        if name == "opencode":
            connection = sqlite3.connect(file)
            connection.executescript((RECORDED / "opencode.sql").read_text("utf-8"))
            connection.close()
        else:
            shutil.copy(RECORDED / f"{name}.jsonl", file)
        if name == "gemini":
            (file.parents[1] / ".project_root").write_text(LAMP)


def claude_line(text: str, role: str = "user", second: int = 0, **more: Any) -> str:
    """Return a line as Claude Code writes it."""
    record = {
        "type": role,
        "message": {"role": role, "content": text},
        "timestamp": f"2026-11-25T{second // 3600:02}:{second // 60 % 60:02}:"
        f"{second % 60:02}.000Z",
        "cwd": LAMP,
        "sessionId": "one",
        **more,
    }
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"


def put_claude(user: Path, lines: Iterable[str], name: str = "session") -> Path:
    """Write a transcript of Claude Code; return the file."""
    file = user / FILES["claude"].replace("session", name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(lines), encoding="utf-8")
    return file


@contextmanager
def activity_over(
    sandbox: Sandbox,
    user: Path,
    *,
    caller: Caller = OWNER,
    names: tuple[str, ...] = TRANSCRIPT_SOURCES,
    find_scope: Callable[[str], str] = lambda _folder: "projects/lamp",
    **options: Any,
) -> Iterator[Activity]:
    """Open the activity of a user's home."""
    with sandbox.memory() as memory:
        settings = replaced(memory.settings, **options)
        state = StateFile.at(sandbox.places)
        opened = Activity(
            sandbox.places,
            settings,
            memory.clocks,
            caller=caller,
            state=state,
            sources=chosen_sources(names, str(user), {}),
            find_scope=find_scope,
        )
        with opened:
            yield opened
        state.close()


def read_all(sandbox: Sandbox, user: Path, **more: Any) -> ReadReport:
    """Read all that is new."""
    with activity_over(sandbox, user, **more) as activity:
        return activity.read()


def rows(sandbox: Sandbox) -> list[tuple[Any, ...]]:
    """Return all messages that are kept."""
    connection = sqlite3.connect(sandbox.places.transcripts_file)
    try:
        return connection.execute(ROWS).fetchall()
    finally:
        connection.close()


def texts(sandbox: Sandbox) -> list[str]:
    """Return the texts that are kept, oldest first."""
    return [row[-1] for row in rows(sandbox)]
