"""What has changed in the memory, for programs that show it as it changes."""

from __future__ import annotations

from dataclasses import dataclass

SAVED, SUPERSEDED, FORGOTTEN, INDEXED = "saved", "superseded", "forgotten", "indexed"
"""Kinds of events."""

RESET = "reset"
"""Kind of what a client is told that cannot be told what it missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvent:
    """One thing that changed. No text of a note is in it."""

    kind: str
    scope: str
    path: str
    """Empty: of what was superseded, only the id is told."""

    place: int = 0
    """In the stream of this process; 0: it is not told yet."""

    number: int = 0
    """Of the change in the log; 0: it is not from the log."""

    at: str = ""
    """ISO 8601."""

    id: str = ""
    by_id: str = ""
    """Id of what replaced it."""

    visibility: str | None = ""
    """What the memory says of itself; None: unknown, so no visitor is told."""

    is_entry: bool = False
    """It is an entry of a note, or a whole note: no visitor is told."""
