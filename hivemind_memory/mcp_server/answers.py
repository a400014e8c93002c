"""The shapes of the tools' results, as their output schemas describe them.

Some clients show the model only these objects, some only the text that ``wording``
makes of them; so each holds everything, and what has nothing to say is left out.
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
