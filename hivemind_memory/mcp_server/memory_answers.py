"""The shapes of what the tools for typed memories return."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SaveOut(BaseModel):
    """What memory_save returns, once the memory is on the disk."""

    path: str
    start_line: int
    end_line: int
    id: str
    key: str
    type: str
    scope: str = Field(default="", description="where it lies; absent: global")
    standing: str = Field(
        default="active", description="waiting: in the inbox until a person moves it"
    )
    is_new: bool = Field(
        default=True, description="false: it said exactly this already"
    )
    superseded: str = Field(default="", description="id of the memory it replaced")
    is_indexed: bool = Field(description="a search finds it already")
    hints: list[str] = Field(default_factory=list, description="what could be better")
    warnings: list[str] = Field(default_factory=list)


class VersionOut(BaseModel):
    """One version of a memory."""

    id: str
    path: str
    start_line: int
    end_line: int
    standing: str = Field(description="active, or superseded: it was replaced")
    type: str = ""
    at: str = Field(default="", description="when it was written, ISO 8601")
    by: str = ""
    reason: str = Field(default="", description="why it replaced the one before")
    text: str


class HistoryOut(BaseModel):
    """What memory_history returns."""

    key: str
    scope: str = ""
    memories: list[VersionOut] = Field(description="newest first")
    missing: list[str] = Field(
        default_factory=list, description="ids in the chain that are not there"
    )
    go_on: str = Field(default="", description="what was cut, and how to read it")


class LinkOut(BaseModel):
    """What memory_link returns."""

    kind: str
    from_path: str
    to_path: str
    weight: float
    is_changed: bool = Field(description="false: it was so already")
    is_indexed: bool


class AffectedOut(BaseModel):
    """One memory or entry."""

    path: str
    start_line: int
    end_line: int
    id: str = ""
    key: str = ""


class ForgetOut(BaseModel):
    """What memory_forget returns."""

    forgotten: list[AffectedOut]
    already: int = Field(default=0, description="those that were forgotten before")
    failed: list[str] = Field(default_factory=list)
    is_indexed: bool = Field(description="no search shows them any more")
    undo: str = Field(default="", description="how a person brings it back")
