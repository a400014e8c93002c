"""Requests and results of curation: save, link, history, forget, restore, purge."""

from __future__ import annotations

from collections.abc import Mapping

from hivemind_memory.model.late_typing import NamedTuple
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.save_hints import SaveHint
from hivemind_memory.model.value import NO_ITEMS, value


@value
class NewMemory:
    """What is to be remembered under a key."""

    key: str
    """1 to 200 characters, any; blank edges do not count."""

    content: str
    type: str = ""
    """A type or an alias; empty: that of the memory it replaces, else context."""

    reason: str = ""
    """Why the active memory is replaced; needed when there is one."""

    importance: float | None = None
    """0..1; None: as its type, and not written down."""

    scope: str = ""  # its folder, ``projects/shop``; empty: global
    is_for_all: bool = False  # the caller named the global scope
    visibility: str = ""  # public, private, or empty: inherited

    related: tuple[str, ...] = ()  # ids, keys or paths
    contradicts: tuple[str, ...] = ()
    expires: str = ""  # ISO date on which it is over; empty: never
    tags: tuple[str, ...] = ()
    is_pinned: bool = False
    by: str = ""
    session: str = ""
    source: str = "agent"  # human, agent, tool or external; the last two wait
    source_ref: str = ""  # what it was derived from, ``specs/ios.md#L40``
    replaces: str = ""  # id of the version that it must replace; empty: any
    replaces_text: str = ""  # its ``text_version`` without entries; empty: any
    more: Mapping[str, object] = NO_ITEMS  # of its front matter

    is_upsert: bool = False
    """The active memory of the key is replaced in its own file, and keeps its id: no
    reason is needed, and no version is kept. No other scope may have the key."""

    is_edit: bool = False
    """It is the text that it replaces, read and changed. Links, expiry and the entries
    below stay, and it is trusted no more than that text was."""

    is_vouched: bool = False  # of an edit: a person has checked it, so it is trusted
    is_proposal: bool = False  # it waits in the inbox, however trusted its source is


@value
class StoredMemory:
    """A memory as it is in its note."""

    path: NotePath
    id: str
    """ULID; empty when a person wrote the note and gave it none."""

    key: str
    type: str
    """Empty: free text."""

    scope: str
    status: str
    """active, superseded, pending or forgotten."""

    text: str
    start_line: int
    """Line of the note on which the text begins, from 1."""

    end_line: int
    importance: float = 0.5
    visibility: str = ""
    created: str = ""
    updated: str = ""
    by: str = ""
    session: str = ""
    source: str = ""
    source_ref: str = ""
    reason: str = ""  # why it replaced what was there before
    supersedes: tuple[str, ...] = ()  # ids, as written
    superseded_by: str = ""
    is_pinned: bool = False
    expires: str = ""
    done: str = ""
    tags: tuple[str, ...] = ()
    claim: Mapping[str, str] = NO_ITEMS
    """Of a claim: confidence, corroborated, domains and verified, as written."""

    more: Mapping[str, str] = NO_ITEMS
    """What a program keeps with it, as written: those of ``PROGRAM_FIELDS``."""


class TextCandidate(NamedTuple):
    """Text that is there already and may say the same."""

    path: str
    start_line: int
    end_line: int
    text: str


@value
class SimilarMemory:
    """A memory that says nearly the same as a new one."""

    path: str
    start_line: int
    end_line: int
    key: str
    """Empty: free text."""

    similarity: float
    """Share of common words, 0..1."""


@value
class SaveResult:
    """What a save did; it is on the disk, synced."""

    path: NotePath
    id: str
    key: str
    type: str
    scope: str
    status: str
    """active, or pending: in the inbox until a person accepts it."""

    is_new: bool
    """False: the active memory says exactly this already; nothing was written."""

    start_line: int  # of the note, on which the text begins, from 1
    end_line: int
    superseded: str = ""  # id of the memory that was replaced; empty: none was
    superseded_path: str = ""
    is_minor: bool = False  # it replaced the other as a minor correction

    near: tuple[SimilarMemory, ...] = ()
    hints: tuple[SaveHint, ...] = ()
    """What might be done better; nothing is wrong. See ``hint_texts``."""

    warnings: tuple[str, ...] = ()
    changed_paths: tuple[NotePath, ...] = ()
    """Notes that were written, to be indexed."""

    is_indexed: bool = False  # a search finds it already, else the next one indexes it


@value
class History:
    """The versions of a memory."""

    key: str
    scope: str
    memories: tuple[StoredMemory, ...]
    """Newest to oldest."""

    missing: tuple[str, ...] = ()
    """Ids that the chain names and that are not there."""

    is_cut: bool = False  # there are more than are shown
    warning: str = ""  # why recent changes may be missing


@value
class MemoryEdge:
    """An edge as it is seen from one of its ends."""

    kind: str
    weight: float
    is_outgoing: bool
    """It begins at the memory that is shown."""

    path: str
    """The other end; empty: it is not there."""

    id: str
    key: str
    by: str = ""
    """model: the language model made it; empty: a person or an agent."""


@value
class RecallCounts:
    """How often a memory was asked for."""

    access_count: int = 0
    last_accessed_at: str = ""
    """ISO 8601; empty: never."""


@value
class MemoryDetails:
    """One memory with all that is known about it."""

    memory: StoredMemory
    edges: tuple[MemoryEdge, ...] = ()
    chain: tuple[StoredMemory, ...] = ()
    """Newest to oldest, itself included."""

    replaced_by: str = ""
    """Path of an active memory that replaces it by a link; empty: there is none."""

    recall: RecallCounts = RecallCounts()
    warnings: tuple[str, ...] = ()


ENTRY, MEMORY, NOTE = "entry", "memory", "note"
"""What can be forgotten: an appended entry, a typed memory, a whole note of a person
(that can only be purged)."""


@value
class MemorySelector:
    """Which memories are meant: one by its name, or all that fit all that is given."""

    name: str = ""
    """Id of a memory or an entry, a key, or the path of a typed memory; for a purge the
    path of any note."""

    scope: str = ""
    """As a caller names it, ``team/red``: where to look; alone: all that is there."""

    session: str = ""
    source: str = ""
    """human, agent, tool or external."""

    day: str = ""
    """Day of writing, ISO 8601."""

    is_everywhere: bool = False
    """Without a name and a scope: in all scopes that the caller sees."""

    @property
    def is_set(self) -> bool:
        """It means as many memories as there are."""
        return not self.name

    @property
    def is_whole_scope(self) -> bool:
        """It means all that is in a scope."""
        return self.is_set and not (self.session or self.source or self.day)


@value
class UnfinishedPurge:
    """A purge that could not do everything, to be finished."""

    id: str

    @classmethod
    def of_hash(cls, name: bytes) -> UnfinishedPurge:
        """Return the one whose plan ``state.db`` keeps under a hash."""
        return cls(id=name.hex()[:8])

    @property
    def command(self) -> str:
        """What finishes it."""
        return f"hm forget --purge --finish {self.id}"


@value
class AffectedItem:
    """One memory that was forgotten, restored or purged."""

    kind: str
    """entry, memory or note."""

    path: str
    id: str
    """ULID; empty where there is none."""

    key: str
    """Of a typed memory."""

    start_line: int
    end_line: int
    why: str = ""
    """named, or by what else it came: older (an earlier version of the same key), inbox
    (a pending claim of the same key), copy (the same text)."""


@value
class FailedItem:
    """One thing that was not done, and why."""

    what: str
    """A path, a worktree or a place."""

    why: str


@value
class ForgetResult:
    """What forgetting did; it is on the disk, synced."""

    memories: tuple[AffectedItem, ...] = ()
    reactivated: tuple[AffectedItem, ...] = ()
    """Earlier versions that are active again, for what replaced them is forgotten."""

    already: int = 0
    """Memories that were forgotten before."""

    failed: tuple[FailedItem, ...] = ()
    changed_paths: tuple[str, ...] = ()
    is_indexed: bool = False
    """No search shows them any more; else the next one indexes that first."""

    is_dry_run: bool = False
    """Nothing was changed: ``memories`` are those that would be hidden."""

    texts: Mapping[str, str] = NO_ITEMS
    """Of a dry run: id of a memory, or its path -> the first line of its text."""

    id: str = ""
    """Names this forget: ``restore`` takes it. Empty: nothing was hidden, or the change
    could not be recorded."""


@value
class RestoreResult:
    """What a restoring did; it is on the disk, synced."""

    memories: tuple[AffectedItem, ...] = ()
    superseded: tuple[AffectedItem, ...] = ()
    """Reactivated versions that are superseded again."""

    already: int = 0
    """Memories that were not forgotten."""

    failed: tuple[FailedItem, ...] = ()
    changed_paths: tuple[str, ...] = ()
    is_indexed: bool = False
    id: str = ""
    """Names this change: ``undo`` takes it."""

    left: tuple[str, ...] = ()
    """Other forgets that hid more of what was named; each is restored by itself."""


@value
class PurgeCount:
    """A place that held something of what is purged."""

    name: str
    count: int
    unit: str
    """What is counted: entries, vectors, pages …"""


@value
class PurgeResult:
    """Where purged memories were, and where they still may be."""

    is_dry_run: bool
    memories: tuple[AffectedItem, ...]
    places: tuple[PurgeCount, ...]
    """Every place that was searched, including empty ones."""

    left: tuple[FailedItem, ...] = ()
    """What could not be done now; see ``finish``."""

    out_of_reach: tuple[FailedItem, ...] = ()
    """Where the text may still be and what to do; no purge gets there."""

    reactivated: tuple[AffectedItem, ...] = ()
    worktrees: tuple[str, ...] = ()
    """Worktrees whose section quoted one of them."""

    finish: str = ""
    """The command that does the rest; empty: nothing is left, or that is not known."""

    @property
    def is_complete(self) -> bool:
        """All that is in reach is done."""
        return not self.left and not self.is_dry_run
