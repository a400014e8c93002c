"""Which acknowledged entries are no longer in any note, and should be.

Decides with care, for a false answer makes a copy: an editor that is just saving, a
note that was renamed, and an old entry that a person deletes must not look like a loss.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from hivemind_memory.errors import HivemindError, NoteNotFoundError, NotePathError
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.notes.entries import OPENING
from hivemind_memory.notes.folder import NotesFolder
from hivemind_memory.notes.journal_records import SAVED, WINDOW_S, is_young

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hivemind_memory.model.snapshot import Stamp
    from hivemind_memory.notes.journal_records import JournalEntry

_ID = re.compile(OPENING.encode() + rb"(?:[!-~]+ )*?id=([0-9A-HJKMNP-TV-Z]{26}) ")
# An editor that saves in place empties the file first: a note that changed a moment ago
# and misses something is looked at again until it has not changed for so long.
_YOUNG_S = 2.0
_QUIET_S = 0.05
_LOOKS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Glance:
    """What one look at a note showed; by default, that it is not there."""

    changed_s: float
    """When it last changed; if it is not there, when its folder did."""

    ids: frozenset[str] = frozenset()
    stamp: Stamp | None = None
    is_empty: bool = False


def vanished(entries: Iterable[JournalEntry], now_s: float) -> list[JournalEntry]:
    """Return the saved entries that are in no note and should be, oldest first.

    An entry counts while it is young, and later if its note has not changed since then:
    so it vanished in time, though nobody looked.
    """
    notes: dict[tuple[str, NotePath], list[JournalEntry]] = {}
    for entry in entries:
        if entry.state == SAVED:
            notes.setdefault((entry.root, entry.path), []).append(entry)
    missing: dict[str, list[JournalEntry]] = {}
    for (root, path), saved in notes.items():
        lost = _missing_from(NotesFolder(root), path, saved, now_s)
        missing.setdefault(root, []).extend(lost)
    return [
        entry
        for root, lost in missing.items()
        for entry in _in_no_note(NotesFolder(root), lost)
    ]


def _missing_from(
    folder: NotesFolder, path: NotePath, entries: list[JournalEntry], now_s: float
) -> list[JournalEntry]:
    """Return the entries that their note lost early enough to get them back."""
    glance = _glance(folder, path)
    for _ in range(_LOOKS):
        if glance is None:
            return []
        missing = [
            entry
            for entry in entries
            if entry.id not in glance.ids
            and (is_young(entry, now_s) or glance.changed_s < entry.at_s + WINDOW_S)
        ]
        if not missing or abs(now_s - glance.changed_s) > _YOUNG_S:
            return missing
        time.sleep(_QUIET_S)
        before, glance = glance, _glance(folder, path)
        if glance == before:
            return [] if glance.is_empty else missing
    return []


def _glance(folder: NotesFolder, path: NotePath) -> _Glance | None:
    """Return which entries a note holds now, or None when nobody can tell."""
    try:
        data, stamp = folder.read(path)
    except (NoteNotFoundError, NotePathError):
        try:
            return _Glance(changed_s=_parent_changed_s(folder, path))
        except (OSError, HivemindError):
            return None
    except HivemindError:
        return None
    ids = frozenset(match.decode() for match in _ID.findall(data))
    return _Glance(
        ids=ids, changed_s=stamp[0] / 1e9, stamp=stamp, is_empty=not data.strip()
    )


def _parent_changed_s(folder: NotesFolder, path: str) -> float:
    """Return when a name last came or went where a note should be."""
    while True:
        try:
            with folder.open_parent(NotePath(path)) as parent:
                return parent.own_status().st_mtime
        except (FileNotFoundError, NotADirectoryError):
            path = path.rpartition("/")[0]


def _in_no_note(folder: NotesFolder, entries: list[JournalEntry]) -> list[JournalEntry]:
    """Return the entries that no note of the folder holds: a person may move them."""
    found: set[str] = set()
    for path in folder.stamps() if entries else ():
        glance = _glance(folder, path)
        found |= glance.ids if glance else frozenset()
    return [entry for entry in entries if entry.id not in found]
