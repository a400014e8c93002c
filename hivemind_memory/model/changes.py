"""A change as the log of changes records it: enough to undo it, and no text."""

from __future__ import annotations

from dataclasses import dataclass

from hivemind_memory.model.curation import AffectedItem, FailedItem

WRITE, SAVE, FORGET, RESTORE = "write", "save", "forget", "restore"
LINK, ACCEPT, RETURN, PURGE = "link", "accept", "return", "purge"
EDIT, DONE = "edit", "done"
"""Kinds of changes. An edit was made in an editor, so the text before it is unknown; a
done marks a memory as done, or as open again. A return puts an accepted claim back into
the inbox. An ``unlink`` is a link that goes; a claim that is learned and one that is
rejected are a save and a forget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedItem:
    """One memory or entry that a change concerns."""

    kind: str
    """entry or memory."""

    path: str
    """Where it was."""

    id: str = ""
    """ULID; empty: a note of a person without one."""

    digest: str = ""
    """Keyed hash of its text, of what was written, saved or accepted; see
    ``StateFile``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One call that changed the memory."""

    id: str
    """ULID; what a person types to take it back."""

    kind: str
    at: str
    """ISO 8601."""

    actor: str
    """Who made it: what only the same kind of caller may take back unasked."""

    items: tuple[ChangedItem, ...] = ()
    others: tuple[ChangedItem, ...] = ()
    """Versions that became active or superseded again because of it."""

    field: str = ""
    """Of a link or a done: what changed in the front matter of the first item."""

    before: tuple[object, ...] = ()
    after: tuple[object, ...] = ()
    """What that held, as in the note."""

    undoes: str = ""
    """Id of the change that this one took back; empty: none."""

    undone_by: str = ""
    """Id of the change that took this one back; empty: it is in effect."""

    is_undo: bool = False
    """``hm undo`` made it: the next ``hm undo`` goes further back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoResult:
    """What taking back a change did; it is on disk, synced."""

    undone: str
    """Id of the change that was taken back."""

    kind: str
    """What that change was, such as write or forget."""

    at: str
    """When it was made."""

    scopes: tuple[str, ...] = ()
    """Of the notes that it is about; empty: global."""

    id: str = ""
    """Id of this change; taking it back makes the other one again."""

    forgotten: tuple[AffectedItem, ...] = ()
    restored: tuple[AffectedItem, ...] = ()
    reactivated: tuple[AffectedItem, ...] = ()
    """Earlier versions that are active again."""

    superseded: tuple[AffectedItem, ...] = ()
    """Versions that are superseded again."""

    pending: tuple[AffectedItem, ...] = ()
    """Claims that wait in the inbox again."""

    accepted: tuple[AffectedItem, ...] = ()
    """Claims that are out of the inbox again."""

    link: str = ""
    """Note whose links are as they were before; empty: none."""

    reopened: str = ""
    """Note that is open again; empty: none."""

    done: str = ""
    """Note that is done again; empty: none."""

    already: bool = False
    """It was so already; only the record is new."""

    failed: tuple[FailedItem, ...] = ()
    is_dry_run: bool = False
    changed_paths: tuple[str, ...] = ()
    is_indexed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneResult:
    """A memory that was marked as done or as open; it is on disk, synced."""

    path: str
    key: str
    day: str
    """On which it was done; empty: it is open."""

    is_changed: bool
    """False: it was so already."""

    changed_paths: tuple[str, ...] = ()
    is_indexed: bool = False
