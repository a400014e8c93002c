"""What a list of memories is narrowed to, and what a log of writing holds."""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.model.note_path import NotePath


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories a list shows: those that fit all that is given."""

    types: tuple[str, ...] = ()
    """Names or aliases; empty: any."""

    scope: str = ""
    """As a caller names it, ``team/red``; empty: all that the caller reads."""

    since: str = ""
    """First day of writing, ISO 8601."""

    by: str = ""
    """Who wrote it, in any case of letters."""

    source: str = ""
    source_ref: str = ""
    """How what it was derived from begins; empty: anything."""

    statuses: tuple[str, ...] = ("active", "pending")
    """active, pending, superseded, forgotten, expired or done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenItem:
    """An entry or a typed memory, as a log lists it."""

    kind: str
    """entry or memory."""

    at: str
    """ISO 8601; empty if unknown."""

    by: str
    session: str
    source: str
    path: NotePath
    start_line: int
    end_line: int
    id: str
    key: str = ""
    type: str = ""
    scope: str = ""
    text: str = ""
