"""The list of recovered entries, each kept until a person keeps or deletes it.

A file beside the journal, because an entry may be brought back by a server or a watcher
whose answers a person does not see. It names ids and paths, never a text.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from hivemind_memory.errors import HivemindError
from hivemind_memory.files.atomic import PARTIAL_FILE, write_file
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.places import RETURNED_FILE
from hivemind_memory.markdown.entry import OPENING, parse_provenance
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.results import RecoveredEntry
from hivemind_memory.model.scope import place_in_scope, scope_of
from hivemind_memory.model.value import replaced, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from hivemind_memory.notes.journal_records import JournalEntry

RECOVERED_NAME = "recovered.md"


@value
class ReturnedEntry:
    """An entry that came back, as it is kept."""

    entry: RecoveredEntry
    is_told: bool = False
    """A person has been told of it, apart from ``hm status``."""


def read_returned(journal: str) -> list[ReturnedEntry]:
    """Return the entries that came back, the first one first; torn lines are skipped.

    Args:
        journal: Folder of the journal.
    """
    found = []
    with suppress(OSError), open(os.path.join(journal, RETURNED_FILE), "rb") as lines:
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):
                said = json.loads(line)
                entry = RecoveredEntry(
                    id=str(said["id"]),
                    path=NotePath(said["path"]),
                    target=NotePath(said["target"]),
                )
                found.append(ReturnedEntry(entry=entry, is_told=bool(said["told"])))
    return found


def open_returned(journal: str, folder: NotesFolder) -> list[ReturnedEntry]:
    """Return those that are still where they came back, and are not forgotten."""
    returned = read_returned(journal)
    there = {path: _active_in(folder, path) for path in _targets(returned)}
    return [one for one in returned if one.entry.id in there[one.entry.target]]


def recovered_note(path: NotePath) -> NotePath:
    """Return the note in which an entry of another note comes back.

    It is in the same scope, so that only those who could read the entry can read it,
    and in the inbox of that scope if the entry was pending.

    >>> recovered_note(NotePath("projects/shop/inbox/2026-11-22.md"))
    'projects/shop/inbox/recovered.md'
    """
    folders = (scope_of(path), place_in_scope(path))
    return NotePath("/".join([*filter(None, folders), RECOVERED_NAME]))


def returned_entry(entry: JournalEntry) -> RecoveredEntry:
    """Return where an entry was, and where it comes back."""
    target = recovered_note(entry.path)
    return RecoveredEntry(id=entry.id, path=entry.path, target=target)


def add_returned(journal: str, entries: Collection[JournalEntry]) -> None:
    """Keep entries that are about to come back; the lock of the journal is held.

    If the disk refuses, they come back all the same, if they can.
    """
    if not entries:
        return
    new = [returned_entry(one) for one in entries]
    with suppress(OSError):
        kept = {
            returned.entry.id
            for root in {entry.root for entry in entries}
            for returned in open_returned(journal, NotesFolder(root))
        } - {one.id for one in new}
        before = [one for one in read_returned(journal) if one.entry.id in kept]
        _write(journal, [*before, *(ReturnedEntry(entry=one) for one in new)])


def keep_open(journal: str, folder: NotesFolder, told: Collection[str]) -> None:
    """Forget those that are dealt with, and remember of which a person was told.

    The lock of the journal is held.

    Raises:
        OSError: The disk refused.
    """
    kept = {one.entry.id for one in open_returned(journal, folder)}

    def now(returned: ReturnedEntry) -> ReturnedEntry | None:
        is_told = returned.is_told or returned.entry.id in told
        return (
            replaced(returned, is_told=is_told) if returned.entry.id in kept else None
        )

    _change(journal, now)


def count_returned(journal: str, names: Collection[str]) -> int:
    """Return how many name one of these ids and paths."""
    return sum(_names(one, names) for one in read_returned(journal))


def drop_returned(journal: str, names: Collection[str]) -> int:
    """Delete those that name one of these ids and paths; return how many.

    The lock of the journal is held.

    Raises:
        OSError: The disk refused.
    """
    count = count_returned(journal, names)
    _change(journal, lambda one: None if _names(one, names) else one)
    return count


def rename_returned(journal: str, new_path: Callable[[str], str]) -> None:
    """Let them follow notes that were moved; the lock of the journal is held.

    Raises:
        OSError: The disk refused.
    """

    def moved(returned: ReturnedEntry) -> ReturnedEntry:
        entry = replaced(
            returned.entry,
            path=NotePath(new_path(returned.entry.path)),
            target=NotePath(new_path(returned.entry.target)),
        )
        return replaced(returned, entry=entry)

    _change(journal, moved)


def _names(entry: ReturnedEntry, names: Collection[str]) -> bool:
    """Tell whether one names an id or a path."""
    return any(
        name in names for name in (entry.entry.id, entry.entry.path, entry.entry.target)
    )


def _targets(returned: Iterable[ReturnedEntry]) -> set[NotePath]:
    """Return the notes in which some came back."""
    return {one.entry.target for one in returned}


def _active_in(folder: NotesFolder, path: NotePath) -> frozenset[str]:
    """Return the ids of the entries of a note that are not forgotten."""
    try:
        data, _ = folder.read(path)
    except HivemindError:
        return frozenset()
    lines = (line for line in data.decode("utf-8", "replace").split("\n"))
    comments = (parse_provenance(line) for line in lines if line.startswith(OPENING))
    return frozenset(one.id for one in comments if one and not one.is_forgotten)


def _change(
    journal: str, change: Callable[[ReturnedEntry], ReturnedEntry | None]
) -> None:
    """Replace each by what *change* makes of it; None: it goes."""
    before = read_returned(journal)
    after = [one for one in map(change, before) if one is not None]
    if after != before:
        _write(journal, after)


def _write(journal: str, returned: Iterable[ReturnedEntry]) -> None:
    """Write the file anew; without any there is none."""
    lines = [
        json.dumps(
            {
                "id": entry.entry.id,
                "path": entry.entry.path,
                "target": entry.entry.target,
                "told": entry.is_told,
            }
        )
        for entry in returned
    ]
    path = os.path.join(journal, RETURNED_FILE)
    for name in os.listdir(journal):
        if PARTIAL_FILE.fullmatch(name):  # a killed process left it
            os.unlink(os.path.join(journal, name))
    if lines:
        write_file(path, "".join(f"{line}\n" for line in lines).encode())
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
