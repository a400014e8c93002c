"""Reads transcripts of Qwen Code: ``~/.qwen/projects/FOLDER/chats/SESSION.jsonl``.

Seen in version 0.24.4.
"""

from __future__ import annotations

from hivemind_memory.transcripts.message import ASSISTANT, USER
from hivemind_memory.transcripts.parts import read_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.transcripts.message import FileState, Message, Record

MARKS = (b'"user"', b'"assistant"', b'"tool_result"')

_ROLES = {USER: USER, ASSISTANT: ASSISTANT, "tool_result": USER}


def read_record(record: Record, state: FileState) -> Iterator[Message]:
    """Yield the messages of one line."""
    role, message = _ROLES.get(str(record.get("type"))), record.get("message")
    if role is None or not isinstance(message, dict):
        return
    state.note(record.get("sessionId"), record.get("cwd"), record.get("timestamp"))
    if record.get("provenance") in ("system", "hook"):
        return
    yield from read_parts(message.get("parts"), role, state)
