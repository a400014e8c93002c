"""Puts entries back that only the journal of a backup has.

They were acknowledged after their note was read. Ordinary recovery would not do: it
gives an entry up some minutes after it was written, and a backup may be restored years
later.
"""

from __future__ import annotations

from hivemind_memory.backup.write import JOURNAL, NOTES
from hivemind_memory.errors import NotSavedError
from hivemind_memory.files.scope_folders import PROJECT_RECORD
from hivemind_memory.markdown.entry import entry_ids, parse_provenance
from hivemind_memory.model.results import RECOVERY_WINDOW_S, RecoveredEntry
from hivemind_memory.model.scope import inner_path, scope_of
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.append import end_of
from hivemind_memory.notes.entry_scopes import owners_in, path_now, scope_now
from hivemind_memory.notes.journal_records import (
    RECOVERED,
    SAVED,
    copied_line,
    entries_of,
    mark_line,
    text_of,
)
from hivemind_memory.notes.recovered_entries import recovered_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hivemind_memory.backup.staged import Staged
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.notes.journal_records import JournalEntry

_COMMENT_BYTES = 1 << 14
"""More than the comment of an entry takes up to its id."""


def add_late_entries(
    members: dict[str, Staged], known: dict[str, Any], root: str
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
    journal = members[JOURNAL].read()
    entries = [
        entry
        for entry in entries_of(journal.splitlines(keepends=True)).values()
        if entry.state == SAVED and entry.root == root
    ]
    folders = _Folders(members if entries else {})
    back = []
    renamed = {}
    for journaled in entries:
        scope = folders.scope_of(journaled)
        if scope is None:
            continue
        entry = replaced(journaled, path=path_now(journaled, scope))
        renamed[entry.id] = entry.path
        if folders.holds(entry, scope) or _is_deleted(entry, members, known):
            continue
        line = journal[entry.offset : journal.index(b"\n", entry.offset)]
        target = _put_back(entry, text_of(line), members)
        if not target:
            continue
        about = known.setdefault(NOTES + target, {"mtime_ns": 0})
        about["mtime_ns"] = max(int(about["mtime_ns"]), int(entry.at_s * 1e9))
        back.append(RecoveredEntry(id=entry.id, path=entry.path, target=target))
    marks = (mark_line(RECOVERED, entry.id) for entry in back)
    lines = journal.splitlines(keepends=True)
    joined = b"".join((*(copied_line(line, renamed) for line in lines), *marks))
    members[JOURNAL] = members[JOURNAL].stage.add(joined)
    return tuple(back)


class _Folders:
    """The folders of the scopes in an archive, and the entries in their notes."""

    def __init__(self, members: dict[str, Staged]) -> None:
        self._ids: dict[str, dict[str, frozenset[str]]] = {"": {}}
        self._owners: dict[str, frozenset[str]] = {}
        for name, staged in members.items():
            if name.startswith(NOTES):
                path = name.removeprefix(NOTES)
                scope, inner = scope_of(path), inner_path(path)
                if scope:
                    self._owners.setdefault(scope, frozenset())
                if scope and inner == PROJECT_RECORD:
                    self._owners[scope] = owners_in(staged.read())
                else:
                    self._ids.setdefault(scope, {})[inner] = _ids_in(staged)

    def scope_of(self, entry: JournalEntry) -> str | None:
        """Return the scope that an entry belongs to; None: another has its name.

        An archive has no inodes: the folder of another scope is the renamed one if it
        has the entry in a note of the same name.
        """
        own, inner = scope_of(entry.path), inner_path(entry.path)

        def is_its_folder(scope: str) -> bool:
            held = self._ids.get(scope, {}).get(inner, frozenset())
            return scope == own or entry.id in held

        return scope_now(entry, self._owners, is_its_folder)

    def holds(self, entry: JournalEntry, scope: str) -> bool:
        """Return whether a scope has an entry; any, if the folder of that is gone."""
        notes = self._ids.get(scope)
        held = self._ids.values() if notes is None else (notes,)
        return any(entry.id in ids for notes in held for ids in notes.values())


def _is_deleted(
    entry: JournalEntry, members: dict[str, Staged], known: dict[str, Any]
) -> bool:
    """Return whether a note lost an entry after its ten minutes, so on purpose."""
    name = NOTES + entry.path
    if name not in members:
        return False
    changed_s = int(known[name]["mtime_ns"]) / 1e9
    return changed_s >= entry.at_s + RECOVERY_WINDOW_S


def _put_back(
    entry: JournalEntry, text: str, members: dict[str, Staged]
) -> NotePath | None:
    """Add an entry to a note; return which, or None if its text is damaged."""
    comment, _, content = text.lstrip("\r\n").partition("\n")
    provenance = parse_provenance(comment)
    if provenance is None:
        return None
    nothing = members[JOURNAL].stage.add(b"")
    held = members.get(NOTES + entry.path, nothing)
    if held.size == entry.size_before:
        members[NOTES + entry.path] = held.plus(text.encode())
        return entry.path
    target = recovered_note(entry.path)
    held = members.get(NOTES + target, nothing)
    try:
        text = end_of(held.read(), target).entry_text(provenance, content)
    except NotSavedError:
        return None  # a person has made it UTF-16
    members[NOTES + target] = held.plus(text.encode())
    return target


def _ids_in(staged: Staged) -> frozenset[str]:
    """Return the ids of the entries in a note of any size."""
    found: frozenset[str] = frozenset()
    before = b""
    for piece in staged.pieces():
        found |= entry_ids(before + piece)
        before = piece[-_COMMENT_BYTES:]
    return found
