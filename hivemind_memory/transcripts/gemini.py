"""Reads transcripts of Gemini CLI: ``~/.gemini/tmp/PROJECT/chats/session-….jsonl``.

Seen in version 0.61.0. A message of the model is written again when its tools have
answered, so the second time only its new calls count. Lines that begin with ``$set``
change what is there, or put a summary in its place: none of it is new.
"""

from __future__ import annotations

import os

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.transcripts.message import (
    ASSISTANT,
    USER,
    Message,
    objects_in,
)
from hivemind_memory.transcripts.parts import read_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.transcripts.message import FileState, Record

MARKS = (b'"sessionId"', b'"user"', b'"gemini"')

_MAX_PATH_BYTES = 8 * 1024


def folder_of(path: str) -> str:
    """Return the folder that a file's session worked in; empty: it does not say.

    The transcript names a hash of it; a file beside the folder of chats has the path.
    """
    above = os.path.dirname(os.path.dirname(path))
    try:
        root = os.path.join(above, ".project_root")
        with open(root, "rb", opener=open_regular) as file:
            return os.fsdecode(file.read(_MAX_PATH_BYTES)).strip()
    except OSError:
        return ""


def read_record(record: Record, state: FileState) -> Iterator[Message]:
    """Yield the messages of one line."""
    if "$set" in record:
        return
    kind = record.get("type")
    timestamp = record.get("timestamp", record.get("startTime"))
    state.note(record.get("sessionId"), None, timestamp)
    if kind == USER:
        content = record.get("content")
        if isinstance(content, str):
            content = [{"text": content}]
        yield from read_parts(content, USER, state)
    elif kind == "gemini":
        yield from _read_model(record, state)


def _read_model(record: Record, state: FileState) -> Iterator[Message]:
    """Yield what the model said and called, the first time that it is written."""
    content = record.get("content")
    if isinstance(content, str) and content and state.is_new(record.get("id")):
        yield Message(ASSISTANT, content)
    for call in objects_in(record.get("toolCalls")):
        if state.is_new(call.get("id")):
            yield from state.call(call.get("name"), call.get("id"), call.get("args"))
