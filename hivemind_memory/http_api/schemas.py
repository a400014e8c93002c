"""The schemas that several routes share: the row of a memory, names in a query."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from hivemind_memory.http_api.routes import Answer, Call, CamelAnswer
from hivemind_memory.model.memories import EDGE_KINDS, SHOWN_STATUSES
from hivemind_memory.model.memory_types import BUILT_IN
from hivemind_memory.model.scope import scope_text
from hivemind_memory.redaction import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.model.curation import RecallCounts, StoredMemory

ROW_EXAMPLE = {
    "id": "01KAJ7Q0XW5T3M8Z2V9C4D6E1F",
    "teamName": "",
    "key": "deploy-day",
    "content": "We deploy on Tuesdays.",
    "type": "decision",
    "isActive": True,
    "supersedesId": None,
    "supersedeReason": None,
    "updatedBy": "default",
    "createdAt": "2026-11-21T09:30:00+01:00",
    "updatedAt": "2026-11-21T09:30:00+01:00",
    "importance": 0.8,
    "scope": "projects/shop",
    "visibility": "public",
    "accessCount": 3,
    "lastAccessedAt": "2026-11-22T10:00:00+01:00",
    "status": "active",
    "path": "projects/shop/decisions/deploy-day.md",
}


TYPES: dict[str, Any] = {"examples": list(BUILT_IN)}
"""For the schema of a type: more can be configured."""

VISIBILITIES: dict[str, Any] = {"enum": ["", "public", "private"]}
"""For the schema of a visibility that a request gives."""

SCOPE: dict[str, Any] = {
    "pattern": r"^\s*([A-Za-z]+(/[A-Za-z0-9_][A-Za-z0-9._-]{0,99})?)?\s*$",
    "examples": ["global", "projects/shop", "teams/red", "workspaces/web"],
}
"""For the schema of a scope that a request gives."""

_TOLD_SCOPE: dict[str, Any] = {"pattern": "^(global|(projects|teams|workspaces)/.+)$"}
MAX_NAMES_CHARS = 1_000


def _split_names(value: object) -> object:
    """Return the names of a text that separates them by commas.

    Raises:
        ValueError: It is too long.
    """
    if isinstance(value, str):
        if len(value) > MAX_NAMES_CHARS:
            message = f"must be a string of up to {MAX_NAMES_CHARS:,} characters"
            raise ValueError(message)
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


Names = Annotated[
    list[str],
    BeforeValidator(
        _split_names,
        json_schema_input_type=Annotated[str, Field(max_length=MAX_NAMES_CHARS)],
    ),
    Field(max_length=50),
]
"""Names in a query, separated by commas."""


class Row(CamelAnswer):
    """One memory."""

    id: str = Field(description="its id; its path if it has none")
    team_name: str = Field(description="its team; empty: another scope")
    key: str
    content: str
    type: str = Field(json_schema_extra=TYPES)
    is_active: bool
    supersedes_id: str | None = Field(description="id of the version before")
    supersede_reason: str | None = Field(description="why it replaced that version")
    updated_by: str = Field(description="who wrote it: an agent, a token, a person")
    created_at: str
    updated_at: str
    importance: float
    scope: str = Field(
        description="``global``, ``projects/shop``, ``teams/red`` …",
        json_schema_extra=_TOLD_SCOPE,
    )
    visibility: str = Field(
        description="public or private",
        json_schema_extra={"enum": ["public", "private"]},
    )
    access_count: int = Field(description="how often it was recalled")
    last_accessed_at: str | None
    status: str = Field(
        description="what has become of it",
        json_schema_extra={"enum": [*SHOWN_STATUSES]},
    )
    path: str = Field(description="its note, below the notes folder")


class ReadRow(Row):
    """A memory as it is known now."""

    warning: str = Field(default="", description="why changes may be missing")


class Edge(CamelAnswer):
    """A link of a memory to another one."""

    kind: str = Field(
        description="related_to, updates or contradicts",
        json_schema_extra={"enum": [*EDGE_KINDS]},
    )
    weight: float
    is_outgoing: bool = Field(description="it begins at this memory")
    id: str = Field(description="of the other one, or as it is written there")
    key: str
    path: str = Field(description="empty: it does not exist")
    by: str = Field(description="model: the language model made it", default="")


class Edges(Answer):
    """The links of a memory."""

    data: list[Edge]
    warning: str = Field(default="", description="why changes may be missing")


def row_of(call: Call, memory: StoredMemory, recall: RecallCounts | None = None) -> Row:
    """Return the row of a memory, its secrets masked.

    Args:
        call: Who asks.
        memory: As its note has it.
        recall: How often it was recalled; None: never.
    """
    kind, _, name = memory.scope.partition("/")
    return Row(
        id=memory.id or memory.path,
        team_name=name if kind == "teams" else "",
        key=mask(memory.key),
        content=mask(memory.text),
        type=memory.type,
        is_active=memory.status == "active",
        supersedes_id=next(iter(memory.supersedes), None),
        supersede_reason=mask(memory.reason) or None,
        updated_by=mask(memory.by),
        created_at=memory.created,
        updated_at=memory.updated or memory.created,
        importance=memory.importance,
        scope=scope_text(memory.scope),
        visibility=call.memory.settings.visibility_of(memory.scope, memory.visibility),
        access_count=recall.access_count if recall else 0,
        last_accessed_at=(recall.last_accessed_at or None) if recall else None,
        status=memory.status,
        path=memory.path,
    )


def rows_of(call: Call, memories: Sequence[StoredMemory]) -> list[Row]:
    """Return the rows of some memories."""
    recalls = call.memory.curation.recalls(memories)
    return [
        row_of(call, memory, recalls.get((memory.scope, memory.id)))
        for memory in memories
    ]


def version_of(row: Row) -> str:
    """Return the ``ETag`` of a row: another one after any change of the memory."""
    told = row.model_dump_json(exclude={"access_count", "last_accessed_at"})
    return f'"{sha256(told.encode("utf-8", "replace")).hexdigest()[:20]}"'
