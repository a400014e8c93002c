"""Reads transcripts of Claude Code: ``~/.claude/projects/FOLDER/SESSION.jsonl``.

Seen in version 2.1.330. Only what the user, the model and its tools said is a message:
attachments hold the files that were injected, and requests repeat the conversation.
Much that stands in the user's name is not the user's. A summary says again what was
said, a command of the user puts something out, and a subagent is told by its model.
"""

from __future__ import annotations

import re

from hivemind_memory.transcripts.message import (
    ASSISTANT,
    TOOL,
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

_HUMAN = "human"
_SHELL = re.compile(r"\s*<bash-(?:input|stdout|stderr)>")
_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_ARGUMENTS, _END_OF_ARGUMENTS = "<command-args>", "</command-args>"
_ADDED = re.compile(
    r"\s*(?:<(?:local-command-|system-reminder|task-notification|ide_)"
    r"|\[Request interrupted by user)"
)
"""So begins what the program adds in the user's name, where it does not say so."""

_TAGS = re.compile(r"</?bash-(?:input|stdout|stderr)>")


def read_record(record: Record, state: FileState) -> Iterator[Message]:
    """Yield the messages of one line."""
    role, message = record.get("type"), record.get("message")
    if role not in (USER, ASSISTANT) or not isinstance(message, dict):
        return
    state.note(record.get("sessionId"), record.get("cwd"), record.get("timestamp"))
    if record.get("isMeta") or record.get("isCompactSummary"):
        return  # what the program tells the model, not what a person said
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in objects_in(content):
        kind = block.get("type")
        if kind == "text" and role == USER:
            yield from _said_as_user(text_in([block]), record)
        elif kind == "text":
            yield Message(role, text_in([block]))
        elif kind == "tool_use":
            yield from state.call(
                block.get("name"), block.get("id"), block.get("input")
            )
        elif kind == "tool_result":
            text = text_in(block.get("content"))
            yield from state.result(block.get("tool_use_id"), text)


def _said_as_user(text: str, record: Record) -> Iterator[Message]:
    """Yield what a text in the user's name is: the user's words, or whose else.

    The program says of what was typed that it comes from a human; of a prompt in its
    arguments, and in versions before 2.1, it says nothing.
    """
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if kind == _HUMAN:
        yield Message(USER, text)
    elif record.get("isSidechain"):
        yield Message(ASSISTANT, text)  # the model's task for a subagent
    elif _SHELL.match(text):
        yield Message(TOOL, _TAGS.sub("", text))
    elif _COMMAND.match(text):
        _, _, rest = text.partition(_ARGUMENTS)
        arguments, end, _ = rest.partition(_END_OF_ARGUMENTS)
        if end and arguments.strip():
            yield Message(USER, arguments.strip())
    elif kind is None and not _ADDED.match(text):
        yield Message(USER, text)
