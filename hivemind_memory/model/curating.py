"""What is asked of typed memories, and what comes back: saving, history, edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hivemind_memory.model.note_path import NotePath


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """What somebody wants to have remembered under a key."""

    key: str
    """1 to 200 characters, any; blank edges do not count."""

    content: str
    type: str = ""
    """A type or an alias; empty: that of the memory it replaces, else context."""

    reason: str = ""
    """Why the memory in force is replaced; needed when there is one."""

    importance: float | None = None
    """0..1; None: as its type, and not written down."""

    scope: str = ""
    """Its folder, ``projects/shop``; empty: global."""

    visibility: str = ""
    """public, private, or empty: inherited."""

    related: tuple[str, ...] = ()
    """Ids, keys or paths."""

    contradicts: tuple[str, ...] = ()
    expires: str = ""
    """ISO date on which it is over; empty: never."""

    tags: tuple[str, ...] = ()
    is_pinned: bool = False
    by: str = ""
    session: str = ""
    source: str = "agent"
    """human, agent, tool or external; the last two wait in the inbox."""

    source_ref: str = ""
    """What it was derived from, ``specs/ios.md#L40``."""

    more: Mapping[str, object] = field(default_factory=dict)
    """Further lines of its front matter, as ``confidence``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A memory as it stands in its note."""

    path: NotePath
    id: str
    """ULID; empty when a person wrote the note and gave it none."""

    key: str
    type: str
    """Empty: free text."""

    scope: str
    standing: str
    """active, superseded, waiting or forgotten."""

    text: str
    first_line: int
    """Line of the note on which the text begins, from 1."""

    last_line: int
    importance: float = 0.5
    visibility: str = ""
    created: str = ""
    updated: str = ""
    by: str = ""
    session: str = ""
    source: str = ""
    source_ref: str = ""
    reason: str = ""
    """Why it replaced what was there before."""

    supersedes: tuple[str, ...] = ()
    """As written: ids."""

    superseded_by: str = ""
    is_pinned: bool = False
    expires: str = ""
    done: str = ""
    tags: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """Text that is there already and may say the same."""

    path: str
    first_line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A memory that says nearly the same as a new one."""

    path: str
    first_line: int
    last_line: int
    key: str
    """Empty: free text."""

    similarity: float
    """Share of common words, 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a save did; it is on the disk, synced."""

    path: NotePath
    id: str
    key: str
    type: str
    scope: str
    standing: str
    """active, or waiting: it lies in the inbox until a person moves it."""

    is_new: bool
    """False: the memory in force says exactly this already; nothing was written."""

    first_line: int
    """Line of the note on which the text begins, from 1."""

    last_line: int
    superseded: str = ""
    """Id of the memory that was replaced; empty: none was."""

    superseded_path: str = ""
    is_minor: bool = False
    """It replaced the other as a minor correction."""

    near: tuple[Near, ...] = ()
    hints: tuple[str, ...] = ()
    """What might be done better; nothing is wrong."""

    warnings: tuple[str, ...] = ()
    changed_paths: tuple[NotePath, ...] = ()
    """Notes that were written, to be indexed."""

    is_indexed: bool = False
    """A search finds it already; else the next one indexes it first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What a link, or the end of one, did."""

    kind: str
    """related_to, updates or contradicts."""

    from_path: NotePath
    from_id: str
    to_path: str
    to_id: str
    """As it was named when there is no such memory."""

    weight: float
    is_changed: bool
    """False: it was so already; nothing was written."""

    changed_paths: tuple[NotePath, ...] = ()
    is_indexed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What a memory was and is."""

    key: str
    scope: str
    memories: tuple[Recalled, ...]
    """Newest to oldest."""

    missing: tuple[str, ...] = ()
    """Ids that the chain names and that are not there."""

    is_cut: bool = False
    """There are more than are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEdge:
    """An edge as it is seen from one of its ends."""

    kind: str
    weight: float
    is_outgoing: bool
    """It begins at the memory that is shown."""

    path: str
    """The other end; empty: it is not there."""

    id: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFigures:
    """How often a memory was asked for."""

    access_count: int = 0
    last_accessed_at: str = ""
    """ISO 8601; empty: never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One memory with all that is known about it."""

    memory: Recalled
    edges: tuple[ShownEdge, ...] = ()
    chain: tuple[Recalled, ...] = ()
    """Newest to oldest, itself included."""

    recall: RecallFigures = RecallFigures()
