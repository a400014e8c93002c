"""Lists the notes that a caller may see, and counts memories and notes.

Where the index has every note of the folder as it is, it answers alone; else the folder
is scanned.
"""

from __future__ import annotations

from collections import Counter

from hivemind_memory.access.rules import may_read
from hivemind_memory.errors import NoteUnreadableError
from hivemind_memory.model.listing import (
    FolderPage,
    NoteRow,
    RowFilter,
    folder_named,
    is_below,
)
from hivemind_memory.model.memories import FORGOTTEN
from hivemind_memory.model.results import ListedNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping
    from typing import Any, TypeVar

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.open_index import IndexHandle
    from hivemind_memory.model.memories import Dispute, MemoryRow
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature, SkippedNote

    T = TypeVar("T")


class MemoryLists:
    """The lists of one memory, for one caller."""

    def __init__(
        self,
        folder: NotesFolder,
        handle: IndexHandle,
        caller: Caller,
        local_iso: Callable[[float], str],
    ) -> None:
        """Read nothing yet.

        Args:
            folder: The notes.
            handle: Their index.
            caller: Who asks.
            local_iso: Returns a time as ISO 8601 in the local time zone.
        """
        self._folder = folder
        self._handle = handle
        self._caller = caller
        self._local_iso = local_iso

    def memories(self) -> tuple[MemoryRow, ...]:
        """Return the typed memories, newest first."""
        scopes = self._caller.scopes
        return self._handle.run_fresh(
            lambda index: tuple(index.memories(scopes=scopes))
        )

    def count(self, *fields: str) -> dict[tuple[Any, ...], int]:
        """Return the values of some fields -> how many memories have them.

        *fields*: ``scope``, ``type``, ``status``, ``source`` or ``day``.
        """
        scopes = self._caller.scopes
        return self._handle.run_fresh(
            lambda index: index.lists().count_memories(*fields, scopes=scopes)
        )

    def count_types(self, today: int, replaced: frozenset[str]) -> dict[str, int]:
        """Return type -> how many active memories have it.

        Args:
            today: Days since the epoch.
            replaced: Paths of those that a link replaces.
        """
        scopes = self._caller.scopes
        active = RowFilter(
            today=today, scopes=scopes, statuses=("active",), replaced=replaced
        )
        return self._handle.run_fresh(lambda index: index.lists().count_types(active))

    def disputes(self) -> list[Dispute]:
        """Return which active memories contradict which, each pair once."""
        scopes = self._caller.scopes
        return self._handle.run_fresh(lambda index: index.lists().disputes(scopes))

    def newest_scope(self) -> str | None:
        """Return the scope of the memory that was created last; None: there is none.

        What was replaced, forgotten or waits in an inbox does not count.
        """
        wanted = RowFilter(
            today=0,
            scopes=self._caller.scopes,
            statuses=("active", "expired", "done"),
        )
        rows, _ = self._handle.run_fresh(
            lambda index: index.lists().memory_page(wanted, limit=1)
        )
        return rows[0].scope if rows else None

    def kept(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what *read* returns; it reads again only once the index has changed.

        One value is kept for each memory: that of the last *key*, which is all that the
        value depends on besides the notes and the vault.
        """
        version = self._handle.run_fresh(lambda index: index.version())
        vault = self._handle.syncer.vault_mark()
        state = (version, vault, self._handle.why_behind, key)
        kept = self._handle.kept
        if kept is None or kept[0] != state:
            kept = self._handle.kept = (state, read())
        value: T = kept[1]
        return value

    def bodies(self, path: NotePath) -> list[tuple[int, int, str]] | None:
        """Return first line, last line and body of each chunk of a note, masked.

        None: the index does not have the note as it is now, by the rules of today.
        """

        def read(index: Index) -> list[tuple[int, int, str]] | None:
            hits = index.hit_source()
            try:
                signature = self._folder.signature(path)
            except NoteUnreadableError:
                return None
            indexed = hits.signatures({path}, only_outdated=False).get(path)
            if (
                self._handle.why_behind
                or not self._handle.syncer.has_current_chunking(index)
                or hits.signatures({path}, only_outdated=True)
                or indexed != signature
            ):
                return None
            return hits.bodies(path)

        if not may_read(self._caller, path):
            return []
        return self._handle.run_fresh(read)

    def note_rows(self) -> list[NoteRow]:
        """Return every indexed note, whoever may see it."""
        return self._handle.run_fresh(lambda index: index.lists().note_rows())

    def notes(self, below: str = "") -> list[ListedNote]:
        """Return the notes that the caller may see and are not forgotten, by path.

        *below*: the folder that they are in or below, as a person names it; empty: any.

        Raises:
            NoteNotFoundError: No note is below a folder of that name.
        """

        def known(index: Index) -> tuple[list[NoteRow], dict[str, str], set[str]]:
            hidden = index.memories(statuses={FORGOTTEN})
            lists = index.lists()
            titles = self._titles(index, None)
            return lists.note_rows(), titles, {row.path for row in hidden}

        def whole(index: Index, _: tuple[SkippedNote, ...]) -> Mapping[NotePath, Any]:
            return index.files().signatures

        signatures: Mapping[NotePath, FileSignature] | None
        with self._handle.lock:
            signatures = self._handle.run_whole(whole)
            # The rows of earlier rules know no title, and nothing else of them is
            # shown.
            found, titles, hidden = self._handle.run_fresh(known, leaves_outdated=True)
            if signatures is None:
                signatures = self._folder.signatures()
        counts = {note.path: note.chunk_count for note in found}
        seen = {
            name
            for name in signatures
            if name not in hidden and may_read(self._caller, name)
        }
        named = folder_named(below, seen)
        return [
            self._listed(
                NoteRow(path, signature[0], signature[2], counts.get(path, 0)), titles
            )
            for path, signature in sorted(signatures.items())
            if path in seen and is_below(path, named)
        ]

    def folder(self, name: str, limit: int, *, offset: int = 0) -> FolderPage:
        """Return some notes that lie in one folder, and which folders there are.

        Args:
            name: Path of the folder; empty: the notes folder itself.
            limit: Notes at most.
            offset: How many to pass over, at least 0.
        """
        scopes = self._caller.scopes

        def read(index: Index, _: tuple[SkippedNote, ...]) -> FolderPage:
            lists = index.lists()
            counts = lists.count_by_folder(scopes)
            found = lists.notes_in(name, scopes, limit, offset)
            titles = self._titles(index, [note.path for note in found])
            return FolderPage(
                folders=tuple(sorted(counts.items())),
                notes=tuple(self._listed(note, titles) for note in found),
                total=counts.get(name, 0),
            )

        page = self._handle.run_whole(read)
        if page is not None:
            return page
        notes = self.notes()
        folders = Counter(note.path.rpartition("/")[0] for note in notes)
        here = [note for note in notes if note.path.rpartition("/")[0] == name]
        return FolderPage(
            folders=tuple(sorted(folders.items())),
            notes=tuple(here[offset : offset + limit]),
            total=len(here),
        )

    def titles(self, paths: Collection[str]) -> dict[str, str]:
        """Return some notes -> the first heading, else the first line of their text.

        Text of untrusted sources is left out.
        """
        return self._handle.run_fresh(
            lambda index: self._titles(index, paths) if paths else {}
        )

    def _titles(self, index: Index, paths: Collection[str] | None) -> dict[str, str]:
        """Return the titles of notes; old rows may hold a secret, and show none."""
        is_current = self._handle.syncer.has_current_chunking(index)
        return index.hit_source().titles(paths) if is_current else {}

    def _listed(self, note: NoteRow, titles: Mapping[str, str]) -> ListedNote:
        """Return a note as a list shows it."""
        return ListedNote(
            path=note.path,
            size_bytes=note.size_bytes,
            updated_at=self._local_iso(note.mtime_ns / 1e9),
            chunk_count=note.chunk_count,
            title=titles.get(note.path, ""),
        )
