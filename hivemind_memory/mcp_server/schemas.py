"""The shapes of the tools' results, as their output schemas describe them.

Some clients show the model only these objects, some only the text that ``wording``
makes of them; so each holds everything, and what has nothing to say is left out.

The shapes of what the tools for typed memories return.
"""

from __future__ import annotations

from pydantic import BaseModel, Field


class FoundHit(BaseModel):
    """One place in the notes."""

    path: str
    start_line: int
    end_line: int
    score: float = Field(description="0 to 1, larger is better")
    snippet: str = Field(description="the lines as they stand in the note")
    headings: str = Field(default="", description="headings above the place")
    date: str = Field(default="", description="day of the entry")
    id: str = Field(default="", description="of a memory or an entry, for forgetting")
    type: str = Field(default="", description="of a typed memory")
    key: str = Field(default="", description="of a typed memory")
    scope: str = Field(default="", description="where it lies; absent: global")
    standing: str = Field(
        default="active",
        description="superseded: replaced by a newer one; waiting: an untrusted claim",
    )
    source: str = Field(
        default="", description="tool or external: untrusted, from outside"
    )
    disputed_by: str = Field(
        default="", description="place of a newer memory that says otherwise"
    )


class SearchSummary(BaseModel):
    """How strong an answer is."""

    mode: str = Field(description="hybrid: words and meanings; keyword: words; off")
    is_fresh: bool = Field(description="every change until now was looked at")
    reason: str = Field(default="", description="why it is not hybrid")
    why_empty: str = Field(default="", description="why nothing was found")
    stale_notes: int = Field(
        default=0, description="notes that changed and are not indexed"
    )
    skipped_notes: int = Field(default=0, description="files that could not be read")
    pending_vectors: int = Field(default=0, description="chunks without a vector yet")
    ignored_terms: int = Field(default=0, description="terms beyond those that count")
    below_min_score: int = Field(
        default=0, description="candidates that min_score held back"
    )
    superseded: int = Field(
        default=0, description="older memories that a hit supersedes, left out"
    )
    over_limit: int = Field(
        default=0, description="candidates that max_results held back"
    )
    suggestions: list[str] = Field(
        default_factory=list, description="words of the notes near to those asked"
    )
    warnings: list[str] = Field(default_factory=list)
    go_on: str = Field(default="", description="what was cut, and how to read it")


class SearchOut(BaseModel):
    """What memory_search returns."""

    hits: list[FoundHit]
    report: SearchSummary


class PassageOut(BaseModel):
    """What memory_get returns."""

    path: str
    start_line: int
    end_line: int
    text: str
    line_count: int = Field(description="lines of the whole note")
    go_on: str = Field(default="", description="what was cut, and how to read it")


class ListedOut(BaseModel):
    """One note."""

    path: str
    size_bytes: int
    updated_at: str
    chunk_count: int


class ListOut(BaseModel):
    """What memory_list returns."""

    files: list[ListedOut]
    file_count: int = Field(description="notes in all")
    go_on: str = Field(default="", description="what was cut, and how to read it")


class WriteOut(BaseModel):
    """What memory_write returns, once the entry is on the disk."""

    path: str
    start_line: int
    end_line: int
    id: str
    is_indexed: bool = Field(description="a search finds it already")
    warnings: list[str] = Field(default_factory=list)


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
