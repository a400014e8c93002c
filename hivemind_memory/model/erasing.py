"""What is asked of forgetting and purging, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass

ENTRY, MEMORY, NOTE = "entry", "memory", "note"
"""What can be forgotten: an appended entry, a typed memory, a whole note of a person
(that can only be purged)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
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

    @property
    def is_set(self) -> bool:
        """It means as many memories as there are."""
        return not self.name

    @property
    def is_whole_scope(self) -> bool:
        """It means all that is in a scope."""
        return self.is_set and not (self.session or self.source or self.day)


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """One memory that was forgotten, restored or purged."""

    kind: str
    """entry, memory or note."""

    path: str
    id: str
    """ULID; empty where there is none."""

    key: str
    """Of a typed memory."""

    first_line: int
    last_line: int
    why: str = ""
    """named, or by what else it came: older (an earlier version of the same key), inbox
    (a waiting claim of the same key), copy (the same text)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """One thing that was not done, and why."""

    what: str
    """A path, a worktree or a place."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What forgetting did; it is on the disk, synced."""

    memories: tuple[Affected, ...] = ()
    reinstated: tuple[Affected, ...] = ()
    """Earlier versions that are in force again, for what replaced them is forgotten."""

    already: int = 0
    """Memories that were forgotten before."""

    failed: tuple[Failed, ...] = ()
    changed_paths: tuple[str, ...] = ()
    is_indexed: bool = False
    """No search shows them any more; else the next one indexes that first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restoring did; it is on the disk, synced."""

    memories: tuple[Affected, ...] = ()
    replaced: tuple[Affected, ...] = ()
    """Reinstated versions that are replaced again."""

    already: int = 0
    """Memories that were not forgotten."""

    failed: tuple[Failed, ...] = ()
    changed_paths: tuple[str, ...] = ()
    is_indexed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place that held something of what is purged."""

    name: str
    count: int
    unit: str
    """What is counted: entries, vectors, pages …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Where purged memories were, and where they still may be."""

    is_dry_run: bool
    memories: tuple[Affected, ...]
    places: tuple[Place, ...]
    """Every place that was looked at, those with nothing in them too."""

    left: tuple[Failed, ...] = ()
    """What could not be done now; the same purge again finishes it."""

    out_of_reach: tuple[Failed, ...] = ()
    """Where the text may still be and what to do; no purge gets there."""

    reinstated: tuple[Affected, ...] = ()
    worktrees: tuple[str, ...] = ()
    """Worktrees whose section quoted one of them."""

    @property
    def is_complete(self) -> bool:
        """All that is in reach is done."""
        return not self.left and not self.is_dry_run
