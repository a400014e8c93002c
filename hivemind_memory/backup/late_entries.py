"""Puts entries back that only the journal of a backup has.

They were acknowledged after their note was read. Ordinary recovery would not do: it
gives an entry up some minutes after it was written, and a backup may be restored years
later.
"""

from __future__ import annotations

from hivemind_memory.backup.write import JOURNAL, NOTES
from hivemind_memory.errors import NotSavedError
from hivemind_memory.markdown.entry import entry_ids, parse_provenance
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.results import RECOVERY_WINDOW_S, RecoveredEntry
from hivemind_memory.model.scope import scope_of
from hivemind_memory.notes.append import end_of
from hivemind_memory.notes.journal_records import (
    RECOVERED,
    SAVED,
    entries_of,
    mark_line,
    text_of,
)
from hivemind_memory.notes.recovered_entries import recovered_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.notes.journal_records import JournalEntry


def add_late_entries(
    members: dict[str, bytes], known: dict[str, Any], root: str
) -> tuple[RecoveredEntry, ...]:
    """Add what only the journal has to the notes, and mark it as recovered there.

    An entry goes to the end of its own note if that is as the entry found it, so that
    the note becomes what it was; else to ``recovered.md`` of its scope.

    Args:
        members: What the archive holds, by name; changed in place.
        known: What the manifest says about them; changed in place.
        root: The notes folder that the journal names.

    Returns:
        The entries and the note of each, oldest first.
    """
    journal = members[JOURNAL]
    entries = [
        entry
        for entry in entries_of(journal.splitlines(keepends=True)).values()
        if entry.state == SAVED and entry.root == root
    ]
    found = _ids_by_scope(members) if entries else {}
    anywhere = frozenset[str]().union(*found.values())
    back = []
    for entry in entries:
        # A person may have renamed the folder of a scope.
        held = found.get(scope_of(entry.path), anywhere)
        if entry.id in held or _is_deleted(entry, members, known):
            continue
        line = journal[entry.offset : journal.index(b"\n", entry.offset)]
        target = _put_back(entry, text_of(line), members)
        if not target:
            continue
        about = known.setdefault(NOTES + target, {"mtime_ns": 0})
        about["mtime_ns"] = max(int(about["mtime_ns"]), int(entry.at_s * 1e9))
        back.append(RecoveredEntry(id=entry.id, path=entry.path, target=target))
    marks = (mark_line(RECOVERED, entry.id) for entry in back)
    members[JOURNAL] = b"".join((journal, *marks))
    return tuple(back)


def _ids_by_scope(members: dict[str, bytes]) -> dict[str, set[str]]:
    """Return the ids of all entries in the notes of each scope."""
    found: dict[str, set[str]] = {"": set()}
    for name, data in members.items():
        if name.startswith(NOTES):
            scope = scope_of(NotePath(name.removeprefix(NOTES)))
            found.setdefault(scope, set()).update(entry_ids(data))
    return found


def _is_deleted(
    entry: JournalEntry, members: dict[str, bytes], known: dict[str, Any]
) -> bool:
    """Return whether a note lost an entry after its ten minutes, so on purpose."""
    name = NOTES + entry.path
    if name not in members:
        return False
    changed_s = int(known[name]["mtime_ns"]) / 1e9
    return changed_s >= entry.at_s + RECOVERY_WINDOW_S


def _put_back(
    entry: JournalEntry, text: str, members: dict[str, bytes]
) -> NotePath | None:
    """Add an entry to a note; return which, or None if its text is damaged."""
    comment, _, content = text.lstrip("\r\n").partition("\n")
    provenance = parse_provenance(comment)
    if provenance is None:
        return None
    held = members.get(NOTES + entry.path, b"")
    if len(held) == entry.size_before:
        members[NOTES + entry.path] = held + text.encode()
        return entry.path
    target = recovered_note(entry.path)
    held = members.get(NOTES + target, b"")
    try:
        text = end_of(held, target).entry_text(provenance, content)
    except NotSavedError:
        return None  # a person has made it UTF-16
    members[NOTES + target] = held + text.encode()
    return target
