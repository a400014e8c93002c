"""Writes sessions as each agent keeps them, from what was said.

The records have what the readers of ``transcripts`` look at, in the form of the ones in
``fixtures/transcripts``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

USER, ASSISTANT, TOOL = "user", "assistant", "tool"

Said = Sequence[tuple[str, str]]
"""Role and text of each message, in order."""

BEGAN_S = 1_795_600_000
_OPENCODE = """
CREATE TABLE IF NOT EXISTS session(id text PRIMARY KEY, parent_id text,
  directory text NOT NULL,
  time_updated integer NOT NULL);
CREATE TABLE IF NOT EXISTS message(id text PRIMARY KEY, session_id text NOT NULL,
  data text NOT NULL);
CREATE TABLE IF NOT EXISTS part(id text PRIMARY KEY, message_id text NOT NULL,
  session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
"""


def put_session(
    user: Path, agent: str, session: str, folder: str, said: Said, *, first: int = 0
) -> Path:
    """Write messages to the transcript of a session; return the file.

    Args:
        user: The user's home.
        agent: Whose session it is.
        session: Its id.
        folder: Where it worked.
        said: What was said.
        first: How many messages it has already: these are added.
    """
    if agent == "opencode":
        return _put_in_database(user, session, folder, said, first)
    file = user / _place(agent, session)
    file.parent.mkdir(parents=True, exist_ok=True)
    if agent == "gemini":
        (file.parents[1] / ".project_root").write_text(folder)
    records = [] if first else _head(agent, session, folder)
    for number, (role, text) in enumerate(said, first):
        records.append(_record(agent, session, folder, number, role, text))
    with file.open("a", encoding="utf-8") as lines:
        for record in records:
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
    return file


def _place(agent: str, session: str) -> str:
    """Return where an agent keeps a session, below the user's home."""
    return {
        "claude": f".claude/projects/-lamp/{session}.jsonl",
        "codex": f".codex/sessions/2026/11/25/rollout-2026-11-25-{session}.jsonl",
        "gemini": f".gemini/tmp/lamp/chats/session-2026-11-25-{session[:8]}.jsonl",
        "qwen": f".qwen/projects/-lamp/chats/{session}.jsonl",
    }[agent]


def _at(number: int) -> str:
    """Return the time of a message."""
    return datetime.fromtimestamp(BEGAN_S + 10 * number, UTC).isoformat()


def _head(agent: str, session: str, folder: str) -> list[dict[str, Any]]:
    """Return what stands before the messages."""
    if agent == "codex":
        payload = {"id": session, "cwd": folder}
        return [{"timestamp": _at(0), "type": "session_meta", "payload": payload}]
    if agent == "gemini":
        return [{"sessionId": session, "startTime": _at(0), "kind": "main"}]
    return []


def _record(
    agent: str, session: str, folder: str, number: int, role: str, text: str
) -> dict[str, Any]:
    """Return the record of one message."""
    call = f"call-{session}-{number}"
    named = {"sessionId": session, "cwd": folder, "timestamp": _at(number)}
    if agent == "claude":
        content: object = text
        if role == TOOL:
            content = [{"type": "tool_result", "tool_use_id": call, "content": text}]
        kind = USER if role == TOOL else role
        return {"type": kind, "message": {"role": kind, "content": content}, **named}
    if agent == "codex":
        kind = "input_text" if role == USER else "output_text"
        item: dict[str, Any] = {
            "type": "message",
            "role": role,
            "content": [{"type": kind, "text": text}],
        }
        if role == TOOL:
            item = {"type": "function_call_output", "call_id": call, "output": text}
        return {"timestamp": _at(number), "type": "response_item", "payload": item}
    response = {"name": "shell", "id": call, "response": {"output": text}}
    if agent == "gemini":
        part = {"functionResponse": response} if role == TOOL else {"text": text}
        if role == ASSISTANT:
            return {**named, "type": "gemini", "id": call, "content": text}
        return {**named, "type": USER, "id": call, "content": [part]}
    part = {"functionResponse": response} if role == TOOL else {"text": text}
    kind = {TOOL: "tool_result"}.get(role, role)
    return {"type": kind, "message": {"role": role, "parts": [part]}, **named}


def _put_in_database(
    user: Path, session: str, folder: str, said: Said, first: int
) -> Path:
    """Write messages to OpenCode's database."""
    file = user / ".local/share/opencode/opencode.db"
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file)
    connection.executescript(_OPENCODE)
    last_ms = 1000 * (BEGAN_S + 10 * (first + len(said)))
    connection.execute(
        "INSERT INTO session VALUES (?, NULL, ?, ?) ON CONFLICT DO UPDATE"
        " SET time_updated = excluded.time_updated",
        (session, folder, last_ms),
    )
    for number, (role, text) in enumerate(said, first):
        message = f"msg-{session}-{number:05}"
        at_ms = 1000 * (BEGAN_S + 10 * number)
        part: dict[str, Any] = {"type": "text", "text": text}
        if role == TOOL:
            done = {"status": "completed", "input": {}, "output": text}
            part = {"type": "tool", "tool": "bash", "callID": message, "state": done}
        name = f"prt-{number:05}-{session}"
        data = json.dumps({"role": USER if role == USER else ASSISTANT})
        connection.execute(
            "INSERT INTO message VALUES (?, ?, ?)", (message, session, data)
        )
        connection.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
            (name, message, session, at_ms, at_ms, json.dumps(part)),
        )
    connection.commit()
    connection.close()
    return file
