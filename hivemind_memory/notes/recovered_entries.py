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
from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.places import RECOVERED_FILE
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
class RecoveryRecord:
    """A recovered entry, as the file records it."""

    entry: RecoveredEntry
    is_reported: bool = False
    """A command other than ``hm status`` has reported it to a person."""


def read_recovered(journal: str) -> list[RecoveryRecord]:
    """Return all records, the oldest first; torn lines are skipped.

    Args:
        journal: Folder of the journal.
    """
    found = []
    with (
        suppress(OSError),
        open(os.path.join(journal, RECOVERED_FILE), "rb", opener=open_regular) as lines,
    ):
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):
                record = json.loads(line)
                entry = RecoveredEntry(
                    id=str(record["id"]),
                    path=NotePath(record["path"]),
                    target=NotePath(record["target"]),
                )
                found.append(
                    RecoveryRecord(entry=entry, is_reported=bool(record["told"]))
                )
    return found


def open_recovered(journal: str, folder: NotesFolder) -> list[RecoveryRecord]:
    """Return the records of entries that are still there and not forgotten."""
    records = read_recovered(journal)
    there = {path: _active_in(folder, path) for path in _targets(records)}
    return [
        record for record in records if record.entry.id in there[record.entry.target]
    ]


def recovered_note(path: NotePath) -> NotePath:
    """Return the note that receives a lost entry of another note.

    It is in the same scope, so that only those who could read the entry can read it,
    and in the inbox of that scope if the entry was pending.

    >>> recovered_note(NotePath("projects/shop/inbox/2026-11-22.md"))
    'projects/shop/inbox/recovered.md'
    """
    folders = (scope_of(path), place_in_scope(path))
    return NotePath("/".join([*filter(None, folders), RECOVERED_NAME]))


def recovered_entry(entry: JournalEntry) -> RecoveredEntry:
    """Return where an entry was, and which note receives it."""
    target = recovered_note(entry.path)
    return RecoveredEntry(id=entry.id, path=entry.path, target=target)


def add_recovered(journal: str, entries: Collection[JournalEntry]) -> None:
    """Record entries that are about to be recovered; the lock of the journal is held.

    If that fails, they are recovered all the same, if possible.
    """
    if not entries:
        return
    new = [recovered_entry(entry) for entry in entries]
    with suppress(OSError):
        kept = {
            record.entry.id
            for root in {entry.root for entry in entries}
            for record in open_recovered(journal, NotesFolder(root))
        } - {entry.id for entry in new}
        before = [
            record for record in read_recovered(journal) if record.entry.id in kept
        ]
        _write(journal, [*before, *(RecoveryRecord(entry=entry) for entry in new)])


def keep_open(journal: str, folder: NotesFolder, reported: Collection[str]) -> None:
    """Drop records that are settled, and mark those that were reported to a person.

    The lock of the journal is held.

    Raises:
        OSError: The disk refused.
    """
    kept = {record.entry.id for record in open_recovered(journal, folder)}

    def now(record: RecoveryRecord) -> RecoveryRecord | None:
        is_reported = record.is_reported or record.entry.id in reported
        return (
            replaced(record, is_reported=is_reported)
            if record.entry.id in kept
            else None
        )

    _change(journal, now)


def count_recovered(journal: str, is_gone: Callable[[str, str], bool]) -> int:
    """Return how many records name an entry that is gone.

    Args:
        journal: The folder of the journal.
        is_gone: Takes the path and the id of an entry.
    """
    return sum(_is_of_gone(record, is_gone) for record in read_recovered(journal))


def drop_recovered(journal: str, is_gone: Callable[[str, str], bool]) -> int:
    """Delete the records that name an entry that is gone; return how many.

    The lock of the journal is held.

    Raises:
        OSError: The disk refused.
    """
    count = count_recovered(journal, is_gone)
    _change(journal, lambda record: None if _is_of_gone(record, is_gone) else record)
    return count


def rename_recovered(journal: str, new_path: Callable[[str], str]) -> None:
    """Rename notes in the records; the lock of the journal is held.

    Raises:
        OSError: The disk refused.
    """

    def moved(record: RecoveryRecord) -> RecoveryRecord:
        entry = replaced(
            record.entry,
            path=NotePath(new_path(record.entry.path)),
            target=NotePath(new_path(record.entry.target)),
        )
        return replaced(record, entry=entry)

    _change(journal, moved)


def _is_of_gone(record: RecoveryRecord, is_gone: Callable[[str, str], bool]) -> bool:
    """Return whether a record names an entry that is gone, by where it was or is."""
    entry = record.entry
    return is_gone(entry.path, entry.id) or is_gone(entry.target, entry.id)


def _targets(records: Iterable[RecoveryRecord]) -> set[NotePath]:
    """Return the notes that received the entries."""
    return {record.entry.target for record in records}


def _active_in(folder: NotesFolder, path: NotePath) -> frozenset[str]:
    """Return the ids of the entries of a note that are not forgotten."""
    try:
        data, _ = folder.read(path)
    except HivemindError:
        return frozenset()
    lines = (line for line in data.decode("utf-8", "replace").split("\n"))
    comments = (parse_provenance(line) for line in lines if line.startswith(OPENING))
    return frozenset(
        comment.id for comment in comments if comment and not comment.is_forgotten
    )


def _change(
    journal: str, change: Callable[[RecoveryRecord], RecoveryRecord | None]
) -> None:
    """Replace each record by what *change* returns; None: delete it."""
    before = read_recovered(journal)
    after = [changed for changed in map(change, before) if changed is not None]
    if after != before:
        _write(journal, after)


def _write(journal: str, records: Iterable[RecoveryRecord]) -> None:
    """Rewrite the file; without records, delete it."""
    lines = [
        json.dumps(
            {
                "id": entry.entry.id,
                "path": entry.entry.path,
                "target": entry.entry.target,
                "told": entry.is_reported,
            }
        )
        for entry in records
    ]
    path = os.path.join(journal, RECOVERED_FILE)
    for name in os.listdir(journal):
        if PARTIAL_FILE.fullmatch(name):  # a killed process left it
            os.unlink(os.path.join(journal, name))
    if lines:
        write_file(path, "".join(f"{line}\n" for line in lines).encode())
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
