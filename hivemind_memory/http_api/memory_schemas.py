"""What the routes of memories take and answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hivemind_memory.http_api.routes import Answer, Fields
from hivemind_memory.http_api.schemas import (
    SCOPE,
    TYPES,
    VISIBILITIES,
    Names,
    Row,
)

MAX_LIMIT = 100

_Text = Annotated[str, Field(max_length=100_000)]
_Short = Annotated[str, Field(max_length=1_100)]
_Refs = Annotated[list[_Short], Field(max_length=50)]


class ChainFields(Fields):
    """Which part of a list is shown."""

    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 50
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0


class ListFields(ChainFields):
    """Which memories a list shows, and which part of it."""

    q: Annotated[
        str, Field(max_length=1_000, description="words that the memories contain")
    ] = ""
    type: Names = Field(default=[], description="only these types")
    scope: Annotated[
        str,
        Field(
            max_length=200,
            description="only this scope: projects/shop",
            json_schema_extra=SCOPE,
        ),
    ] = ""
    team: Annotated[str, Field(max_length=200, description="only this team")] = ""
    status: Literal[
        "active", "superseded", "pending", "forgotten", "expired", "done", "all"
    ] = "active"


class Page(Answer):
    """Some of the memories that fit."""

    data: list[Row] = Field(description="newest first")
    total: int = Field(description="how many fit")
    warning: str = Field(default="", description="why changes may be missing")


class SaveFields(Fields):
    """What a memory is saved with."""

    key: Annotated[_Short, Field(description="short lasting name: deploy-day")]
    content: Annotated[_Text, Field(description="what to remember")]
    type: Annotated[
        _Short, Field(description="default: context", json_schema_extra=TYPES)
    ] = ""
    supersede_reason: Annotated[
        str, Field(max_length=2_000, description="why it replaces the active one")
    ] = ""
    importance: Annotated[
        float | None, Field(ge=0, le=1, description="default: by type")
    ] = None
    scope: Annotated[
        _Short, Field(description="default: the token's own", json_schema_extra=SCOPE)
    ] = ""
    visibility: Annotated[
        _Short,
        Field(description="public or private", json_schema_extra=VISIBILITIES),
    ] = ""
    related: _Refs = Field(default=[], description="keys or ids")
    contradicts: _Refs = Field(default=[], description="keys or ids")
    expires: Annotated[_Short, Field(description="expiry date: 2026-12-31")] = ""
    tags: _Refs = Field(default=[], description="tags to find it by")
    source_ref: Annotated[_Short, Field(description="file or URL it comes from")] = ""


class ChangeFields(Fields):
    """What changes in a memory; what is left out stays."""

    supersede_reason: Annotated[
        str, Field(min_length=1, max_length=2_000, description="why it changes")
    ]
    content: Annotated[_Text | None, Field(description="the new text")] = None
    type: Annotated[_Short, Field(json_schema_extra=TYPES)] = ""
    importance: Annotated[float | None, Field(ge=0, le=1)] = None
    visibility: Annotated[_Short, Field(json_schema_extra=VISIBILITIES)] = ""
    expires: _Short = ""
    tags: _Refs = Field(default=[])


class SavedRow(Row):
    """A memory that was saved."""

    is_new: bool = Field(description="false: the memory already said exactly this")
    warnings: list[str]
    hints: list[str] = Field(description="what to improve")


class Forgotten(Answer):
    """What forgetting did."""

    success: Literal[True] = True
    deleted: bool = Field(description="false: there was nothing to forget")
