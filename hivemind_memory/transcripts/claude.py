"""Reads transcripts of Claude Code: ``~/.claude/projects/FOLDER/SESSION.jsonl``.

Seen in version 2.1.330. Only what the user, the model and its tools said is a message:
attachments hold the files that were injected, and requests repeat the conversation.
"""

from __future__ import annotations

from hivemind_memory.transcripts.message import (
    ASSISTANT,
    USER,
    Message,
    objects_in,
    text_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.transcripts.message import FileState, Record

MARKS = (b'"user"', b'"assistant"')
"""One of these is in every line that holds a message."""


def read_record(record: Record, state: FileState) -> Iterator[Message]:
    """Yield the messages of one line."""
    role, message = record.get("type"), record.get("message")
    if role not in (USER, ASSISTANT) or not isinstance(message, dict):
        return
    state.note(record.get("sessionId"), record.get("cwd"), record.get("timestamp"))
    if record.get("isMeta"):
        return  # what the program tells the model, not what a person said
    content = message.get("content")
    if isinstance(content, str):
        yield Message(role, content)
    for block in objects_in(content):
        kind = block.get("type")
        if kind == "text":
            yield Message(role, text_in([block]))
        elif kind == "tool_use":
            yield from state.call(
                block.get("name"), block.get("id"), block.get("input")
            )
        elif kind == "tool_result":
            text = text_in(block.get("content"))
            yield from state.result(block.get("tool_use_id"), text)
