"""Blocks as JSON and back: in snapshots, and in files that a person writes.

An object names its kind as ``type`` and has the fields of the block. Fields that
another program adds are kept as metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any

from hivemind_memory.errors import UsageError
from hivemind_memory.working.blocks import (
    BLOCK_CLASSES,
    MemoryBlock,
    MemoryType,
    Priority,
)
from hivemind_memory.working.json_values import json_safe

_MOMENTS = ("timestamp", "expiry")


def block_to_json(block: MemoryBlock) -> dict[str, Any]:
    """Return a block as an object; fields that say nothing are left out."""
    written: dict[str, Any] = {}
    for field in fields(block):
        value = getattr(block, field.name)
        if isinstance(value, Enum):
            value = value.name.lower()
        if field.name == "metadata" and not value:
            continue
        if value is not None and value != ():
            written[field.name] = json_safe(value)
    return written


def block_from_json(value: object) -> MemoryBlock:
    """Return the block that an object describes.

    Raises:
        UsageError: It describes none; the message names the field.
    """
    if not isinstance(value, Mapping):
        raise UsageError(f"A block must be a JSON object, not {value!r}.")
    given = dict(value)
    kind = _named(MemoryType, "type", given.pop("type", None))
    known = {field.name for field in fields(BLOCK_CLASSES[kind])}
    parts: dict[str, Any] = {"type": kind}
    extra = {key: given.pop(key) for key in list(given) if key not in known}
    for name, part in given.items():
        if part is None and name in ("priority", *_MOMENTS):
            continue
        if name == "priority":
            parts[name] = _named(Priority, name, part)
        elif name in _MOMENTS:
            parts[name] = _moment(name, part)
        else:
            parts[name] = part
    if extra:
        own = parts.get("metadata", {})
        if not isinstance(own, Mapping):
            raise UsageError(f"metadata must be a JSON object, not {own!r}.")
        parts["metadata"] = {**extra, **own}
    try:
        return BLOCK_CLASSES[kind](**parts)
    except TypeError as error:
        # Python names the fields that are missing after a colon.
        missing = str(error).partition(": ")[2] or str(error)
        raise UsageError(f"A block of type {kind.value} needs {missing}.") from error


def _named(names: Any, field: str, value: object) -> Any:
    """Return the member of an enumeration that a text names, in any case."""
    for member in names:
        if isinstance(value, str) and value.lower() == member.name.lower():
            return member
    known = ", ".join(member.name.lower() for member in names)
    if value is None:
        raise UsageError(f"A block needs a {field}: one of {known}.")
    raise UsageError(f"{field} must be one of {known}, not {value!r}.")


def _moment(name: str, value: object) -> datetime:
    """Return an ISO 8601 time; the block checks its zone."""
    try:
        return datetime.fromisoformat(str(value))
    except ValueError as error:
        message = f"{name} must be a time in ISO 8601 form, not {value!r}."
        raise UsageError(message) from error
