"""Reads the transcripts of OpenCode: ``~/.local/share/opencode/opencode.db``.

Seen in version 1.18.33. It is an SQLite file with a row for each part of a message. A
part that grows is updated in place, so parts are read by the time of their last update,
and one that is known is replaced.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from hivemind_memory.sqlite.other_programs import open_of_another_program
from hivemind_memory.transcripts.message import (
    ASSISTANT,
    USER,
    FileState,
    Message,
    text_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CHANGED = """
SELECT part.id, part.session_id, session.directory, part.time_created,
  part.time_updated, message.data, part.data, session.parent_id
FROM part
JOIN message ON message.id = part.message_id
JOIN session ON session.id = part.session_id
WHERE part.time_updated >= ?
ORDER BY part.time_updated, part.id
"""


_OF_SESSION = """
SELECT part.id, part.session_id, session.directory, part.time_created,
  part.time_updated, message.data, part.data, session.parent_id
FROM part
JOIN message ON message.id = part.message_id
JOIN session ON session.id = part.session_id
WHERE part.session_id = ?
ORDER BY part.time_created, part.id
"""
_NEWEST = "SELECT id, directory, time_updated FROM session ORDER BY time_updated DESC"


class ChangedPart(NamedTuple):
    """A part that is new or was updated."""

    id: str
    session: str
    folder: str
    created_ms: int
    updated_ms: int
    messages: tuple[Message, ...]
    """At most two: a call and its result."""

    size_bytes: int


def session_ids(path: str) -> frozenset[str]:
    """Return the sessions that the database holds.

    Raises:
        HivemindError: It cannot be read now.
    """
    with open_of_another_program(path) as rows:
        return frozenset(str(row[0]) for row in rows("SELECT id FROM session", ()))


def changed_parts(path: str, since_ms: int) -> Iterator[ChangedPart]:
    """Yield the parts that were updated at or after a time, the oldest first.

    Raises:
        HivemindError: The database cannot be read now.
    """
    yield from _parts(path, _CHANGED, since_ms)


def session_parts(path: str, session: str) -> Iterator[ChangedPart]:
    """Yield the parts of a session, the oldest first.

    Raises:
        HivemindError: The database cannot be read now.
    """
    yield from _parts(path, _OF_SESSION, session)


def newest_sessions(path: str) -> list[tuple[str, str, int]]:
    """Return id, folder and last change, in ms, of the sessions, the newest first.

    Raises:
        HivemindError: The database cannot be read now.
    """
    with open_of_another_program(path) as rows:
        return [
            (str(session), str(folder), int(str(updated)))
            for session, folder, updated in rows(_NEWEST, ())
        ]


def _parts(path: str, sql: str, value: object) -> Iterator[ChangedPart]:
    """Yield the parts that a query finds."""
    with open_of_another_program(path) as rows:
        for row in rows(sql, (value,)):
            part_id, session, folder, created, updated, message, data, parent = row
            text = str(data)
            yield ChangedPart(
                str(part_id),
                str(session),
                str(folder),
                int(str(created)),
                int(str(updated)),
                tuple(_read_part(_parsed(str(message)), _parsed(text), parent)),
                len(text),
            )


def _parsed(text: str) -> dict[str, object]:
    """Return a JSON object; an empty one for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_part(
    message: dict[str, object], part: dict[str, object], parent: object
) -> Iterator[Message]:
    """Yield the messages of one part; *parent* is the session that began its own."""
    role, kind = message.get("role"), part.get("type")
    if parent and role == USER:
        role = ASSISTANT  # the model's task for a subagent
    if kind == "text" and role in ("user", "assistant") and not part.get("synthetic"):
        if text := text_in(part.get("text")):
            yield Message(str(role), text)
    elif kind == "tool":
        done = part.get("state")
        if not isinstance(done, dict) or done.get("status") not in (
            "completed",
            "error",
        ):
            return
        state = FileState()
        yield from state.call(part.get("tool"), part.get("callID"), done.get("input"))
        output = text_in(done.get("output", done.get("error")))
        yield from state.result(part.get("callID"), output)
