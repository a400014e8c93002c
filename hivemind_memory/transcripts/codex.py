"""Reads transcripts of Codex: ``~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl``.

Seen in version 0.169.0. Its records of events say the same as the items of the
conversation, so only the items are read. The user's first items are instructions and
files that the program adds.
"""

from __future__ import annotations

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

MARKS = (b'"response_item"', b'"session_meta"')

_ADDED = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>"),
    *("# AGENTS.md instructions", "<permissions instructions>"),
)
"""So begins what versions without ``content_item_kinds`` add in the user's name."""

_COMMAND_KIND, _COMMAND = "shell.user_command", "<user_shell_command>"

_CALLS = frozenset({"function_call", "custom_tool_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})


def read_record(record: Record, state: FileState) -> Iterator[Message]:
    """Yield the messages of one line."""
    kind, item = record.get("type"), record.get("payload")
    if not isinstance(item, dict):
        return
    if kind == "session_meta":
        state.note(item.get("id"), item.get("cwd"), record.get("timestamp"))
    if kind != "response_item":
        return
    state.note(None, None, record.get("timestamp"))
    what = item.get("type")
    if what == "message" and item.get("role") in (USER, ASSISTANT):
        yield from _messages_in(item)
    elif what in _CALLS:
        arguments = item.get("arguments", item.get("input"))
        yield from state.call(item.get("name"), item.get("call_id"), arguments)
    elif what in _RESULTS:
        output = item.get("output")
        if isinstance(output, dict):
            output = output.get("content")
        yield from state.result(item.get("call_id"), text_in(output))


def _messages_in(item: Record) -> Iterator[Message]:
    """Yield what the user or the model said, without what the program added.

    A command that the user ran with ``!`` and what it put out are of a tool.
    """
    passed = item.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, dict) else None
    for at, part in enumerate(objects_in(item.get("content"))):
        text, role = text_in([part]), item["role"]
        if role == USER and isinstance(kinds, list) and at < len(kinds):
            kind = str(kinds[at])
            if kind == _COMMAND_KIND:
                role = TOOL
            elif not kind.startswith("user."):
                continue
        elif role == USER and text.lstrip().startswith(_COMMAND):
            role = TOOL
        elif role == USER and text.lstrip().startswith(_ADDED):
            continue
        if text:
            yield Message(role, text)
