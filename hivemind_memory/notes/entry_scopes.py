"""Tells in which scope an entry belongs now.

A person may rename the folder of a scope, and its old name may be given to another one
at once. So an entry belongs to what the journal recorded of its folder, not to a name:
the repositories that the record of the project named, and the inode of the folder that
held its note.
"""

from __future__ import annotations

import os

from hivemind_memory.files.descriptors import open_regular
from hivemind_memory.files.digests import sha256_hex
from hivemind_memory.files.scope_folders import (
    PROJECT_RECORD,
    SEEN_FOLDER,
    spelled_name,
    spelled_path,
)
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.scope import FOLDERS, inner_path, kind_of, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from collections.abc import Set as AbstractSet

    from hivemind_memory.notes.journal_records import JournalEntry

_MAX_RECORD_BYTES = 64 * 1024
_MAX_OWNERS = 16
"""Each entry in the journal names so many at most; the first ones identify best."""


def scope_now(
    entry: JournalEntry,
    owners: Mapping[str, AbstractSet[str]],
    is_its_folder: Callable[[str], bool],
) -> str | None:
    """Return the scope that an entry belongs to, or None if another has its name.

    Args:
        entry: The entry as the journal knows it.
        owners: What the record of each scope that has a folder names.
        is_its_folder: Returns whether the folder of a scope is the one that the entry
            was written to, by any name.
    """
    own = scope_of(entry.path)
    like = [scope for scope in owners if kind_of(scope) == kind_of(own)]
    if not own or not like:
        return own
    best = max(
        like, key=lambda scope: (len(entry.owners & owners[scope]), scope == own)
    )
    if entry.owners & owners[best]:
        return best
    for scope in like:
        is_others = bool(entry.owners and owners[scope])
        if scope != own and not is_others and is_its_folder(scope):
            return scope
    if not owners.get(own):
        return own
    return None if entry.owners or not is_its_folder(own) else own


def path_now(entry: JournalEntry, scope: str) -> NotePath:
    """Return the path of an entry's note in the scope that the entry belongs to."""
    if scope == scope_of(entry.path):
        return entry.path
    return NotePath(f"{scope}/{inner_path(entry.path)}")


def owners_in(record: bytes) -> frozenset[str]:
    """Return what the record of a project names, as short digests.

    >>> owners_in(b"github.com/me/shop") == owners_in(b"gitlab.com/me/shop")
    False
    """
    fields = [line.split(b"\t") for line in record.splitlines()]
    named = [row[0] for row in fields if len(row) == 1 and row[0].strip()]
    seen = [b"\t".join(row[:2]) for row in fields if row[0] == SEEN_FOLDER.encode()]
    return frozenset(sha256_hex(name)[:16] for name in (*named, *seen)[:_MAX_OWNERS])


def owners_of(notes: str, path: NotePath) -> frozenset[str]:
    """Return what the record of the project of a note names; empty: it has none.

    Args:
        notes: The notes folder.
        path: A note below it, or where one will be.
    """
    scope = scope_of(path)
    if kind_of(scope) != "project":
        return frozenset()
    record = spelled_path(notes, NotePath(f"{scope}/{PROJECT_RECORD}"))
    try:
        with open(os.path.join(notes, record), "rb", opener=open_regular) as file:
            return owners_in(file.read(_MAX_RECORD_BYTES))
    except OSError:
        return frozenset()


class ScopeFolders:
    """The folders of all scopes as they are now; look soon, for they may change."""

    __slots__ = ("_found", "_owners", "_root")

    def __init__(self, root: str, found: Mapping[str, Collection[str]]) -> None:
        """List them.

        Args:
            root: The notes folder.
            found: The ids of the entries in each scope that has notes.
        """
        self._root = root
        self._found = found
        self._owners = {
            scope: owners_of(root, NotePath(f"{scope}/x"))
            for kind in FOLDERS.values()
            for scope in self._scopes_below(kind)
        }

    def __contains__(self, scope: str) -> bool:
        return not scope or scope in self._owners

    def scope_of(self, entry: JournalEntry) -> str | None:
        """Return the scope that an entry belongs to; None: another has its name.

        The inode of a folder that was deleted may be given to another one, so it only
        says that a scope is the one meant if the entry is there.
        """
        own = scope_of(entry.path)

        def is_its_folder(scope: str) -> bool:
            if scope == own:
                return entry.folder in (0, self._inode(entry, scope))
            is_there = entry.id in self._found.get(scope, ())
            return is_there and entry.folder == self._inode(entry, scope)

        return scope_now(entry, self._owners, is_its_folder)

    def _scopes_below(self, kind: str) -> set[str]:
        """Return the scopes of a kind that have a folder."""
        above = os.path.join(self._root, spelled_name(self._root, kind))
        try:
            with os.scandir(above) as rows:
                return {f"{kind}/{row.name.casefold()}" for row in rows if row.is_dir()}
        except OSError:
            return set()

    def _inode(self, entry: JournalEntry, scope: str) -> int:
        """Return the inode of the folder that holds an entry's note in a scope."""
        path = spelled_path(self._root, path_now(entry, scope))
        try:
            return os.stat(os.path.join(self._root, os.path.dirname(path))).st_ino
        except OSError:
            return -1
