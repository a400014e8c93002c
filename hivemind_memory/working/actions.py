"""Makes blocks of what an agent has done and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivemind_memory.errors import UsageError
from hivemind_memory.working.blocks import (
    FileMemoryBlock,
    HistoryMemoryBlock,
    MemoryBlock,
    MessageMemoryBlock,
    Priority,
)


def create_memory_from_action(action: str, result: Any) -> list[MemoryBlock]:
    """Return the blocks that follow from an action, always as a list.

    Args:
        action: ``read_file`` with ``path`` and perhaps ``start_line``, ``end_line`` and
            ``digest``; ``check_mailbox`` with ``messages``, each with ``from``, ``to``,
            ``subject``, ``content`` and ``path``. Any other becomes history.
        result: What came back.

    Raises:
        UsageError: A field is missing.
    """
    if action == "read_file":
        fields = _mapping(action, result)
        return [
            FileMemoryBlock(
                location=_field(action, fields, "path"),
                start_line=fields.get("start_line"),
                end_line=fields.get("end_line"),
                digest=fields.get("digest"),
                priority=Priority.HIGH,
            )
        ]
    if action == "check_mailbox":
        messages = _field(action, _mapping(action, result), "messages")
        if not isinstance(messages, list | tuple):
            raise UsageError(f"{action}: messages must be a list, not {messages!r}.")
        return [_message(action, _mapping(action, message)) for message in messages]
    said = result if isinstance(result, str) else repr(result)
    return [
        HistoryMemoryBlock(
            action_type=action,
            action_detail="" if result is None else said,
        )
    ]


def _message(action: str, fields: Mapping[str, Any]) -> MessageMemoryBlock:
    """Return one message of a mailbox."""
    return MessageMemoryBlock(
        from_agent=_field(action, fields, "from"),
        to_agent=_field(action, fields, "to"),
        subject=_field(action, fields, "subject"),
        preview=str(_field(action, fields, "content")),
        full_path=_field(action, fields, "path"),
        read=False,
    )


def _mapping(action: str, value: object) -> Mapping[str, Any]:
    """Return a result that has fields."""
    if not isinstance(value, Mapping):
        raise UsageError(f"{action}: the result must have fields, unlike {value!r}.")
    return value


def _field(action: str, fields: Mapping[str, Any], name: str) -> Any:
    """Return a field that must be there."""
    if name not in fields:
        raise UsageError(f"{action}: the result has no field {name!r}.")
    return fields[name]
