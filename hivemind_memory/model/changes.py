"""A change as the log of changes records it: enough to undo it, and no text."""

from __future__ import annotations

from collections.abc import Mapping

from hivemind_memory.model.curation import AffectedItem, FailedItem
from hivemind_memory.model.display import age_text
from hivemind_memory.model.value import NO_ITEMS, value

WRITE, SAVE, FORGET, RESTORE = "write", "save", "forget", "restore"
LINK, ACCEPT, RETURN, PURGE = "link", "accept", "return", "purge"
EDIT, DONE = "edit", "done"
RENAME, MERGE = "rename", "merge"
COMMAND = "command"
"""Kinds of changes. An edit was made in an editor, so the text before it is unknown; a
done marks a memory as done, or as open again. A return puts an accepted claim back into
the inbox. An ``unlink`` is a link that goes; a claim that is learned and one that is
rejected are a save and a forget. A rename and a merge are of projects. A command
changes no memory, but the settings, say."""


@value
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


@value
class Change:
    """One call that changed the memory."""

    id: str
    """ULID; what a person types to undo the change."""

    kind: str
    at: str
    """ISO 8601."""

    actor: str
    """Who made it: what only the same kind of caller may undo unasked."""

    terminal: str = ""
    """Terminal session in which it was made; empty: in none, or by an agent."""

    items: tuple[ChangedItem, ...] = ()
    others: tuple[ChangedItem, ...] = ()
    """Versions that became active or superseded again because of it."""

    field: str = ""
    """Of a link or a done: what changed in the front matter of the first item.

    A rename and a merge have the names of both projects in *before* and *after*. A
    command is in *after*, and what reverses it, if there is such, in *before*.
    """

    before: tuple[object, ...] = ()
    after: tuple[object, ...] = ()
    """What that held, as in the note."""

    undoes: str = ""
    """Id of the change that this one undid; empty: none."""

    undone_by: str = ""
    """Id of the change that undid this one; empty: it is in effect."""

    is_undo: bool = False
    """``hm undo`` made it: the next ``hm undo`` goes further back."""

    text: str = ""
    """How its first text begins now, or what was linked; never recorded."""


@value
class NewerChange:
    """A change of others that is newer than the one that was undone."""

    id: str
    kind: str
    origin: str
    """Who made it: person, program or agent."""

    path: str
    """Of the first note that it changed."""

    age_s: float
    """How long ago."""

    def notice(self, count: int = 1) -> str:
        """Return a sentence that names it, and how to undo it.

        Args:
            count: How many such changes there are, this one included.
        """
        makers = {
            "agent": "an agent's",
            "model": "the language model's",
            "program": "a program's",
        }
        maker = makers.get(self.origin, "another person's")
        made = f"{maker} {self.kind} of {age_text(self.age_s)} ago in {self.path}"
        first = "the latest change is not yours"
        if count > 1:
            first = f"{count} newer changes are not yours; the latest"
        return f"{first}: {made}; `hm undo {self.id}` undoes it"


@value
class UndoResult:
    """What undoing a change did; it is on disk, synced."""

    undone: str
    """Id of the change that was undone."""

    kind: str
    """What that change was, such as write or forget."""

    at: str
    """When it was made."""

    scopes: tuple[str, ...] = ()
    """Of the notes that it is about; empty: global."""

    id: str = ""
    """Id of this change; undoing it makes the other one again."""

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

    texts: Mapping[str, str] = NO_ITEMS
    """Id of what was hidden or shown, or its path -> the first line of its text."""

    newer: NewerChange | None = None
    """The newest change of others that was passed over; None: there is none."""

    newer_count: int = 0
    """How many were passed over."""

    failed: tuple[FailedItem, ...] = ()
    is_dry_run: bool = False
    changed_paths: tuple[str, ...] = ()
    is_indexed: bool = False


@value
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
