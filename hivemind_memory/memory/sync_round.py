"""Decides whose reading of a note counts when several processes index at once.

Another process may be faster with a note, and a purge may come between: what was read
before is then not written. Counts what one round of a sync did.
"""

from __future__ import annotations

from hivemind_memory.errors import (
    HivemindError,
    NoteForbiddenError,
    NoteUnreadableError,
)
from hivemind_memory.files.reader import read_note
from hivemind_memory.memory.rule_changes import RULES
from hivemind_memory.model.snapshot import SkippedNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.files.reader import ReadNote
    from hivemind_memory.index.port import Index, TouchedNote
    from hivemind_memory.memory.background_notes import LargeNoteRule
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature


LAST_PURGE = "last purge"
"""Key of a value in the index that is another one after each purge."""


class SyncRound:
    """One comparison of folder and index, and what became of it."""

    def __init__(
        self,
        folder: NotesFolder,
        index: Index,
        known: Mapping[NotePath, FileSignature],
        skipped: tuple[SkippedNote, ...] = (),
        may_take_large: LargeNoteRule | None = None,
    ) -> None:
        self.may_take_large = may_take_large
        self.known = known
        """What the index held before the folder was scanned or a note was read."""
        self.skipped = list(skipped)
        self.added: set[NotePath] = set()
        self.updated: set[NotePath] = set()
        self.removed = self.chunks = 0
        self.overtaken: list[NotePath] = []
        """Notes that another process indexed meanwhile, from newer bytes."""
        self.left: list[NotePath] = []
        """Large notes that changed and are left for later."""
        self._folder = folder
        self._same: list[TouchedNote] = []
        self._read: dict[NotePath, tuple[str, str]] = {}
        self._grown: set[NotePath] = set()
        self._index = index
        self._last_purge = index.get_meta(LAST_PURGE)
        self._rules = index.get_meta(RULES)

    @property
    def knows_rules(self) -> bool:
        """Whether the index says which rules made its rows; a new one does not yet."""
        return bool(self._rules)

    def add_same(self, path: NotePath, read: ReadNote, *, is_settled: bool) -> None:
        """Note that the index has these bytes already, with another signature."""
        from hivemind_memory.index.port import TouchedNote

        self._same.append(TouchedNote(path, read.signature, read.digest, is_settled))

    def record_same(self) -> None:
        """Have the index record the signatures of the notes that were added."""
        if self._same:
            self._index.touch(self._same)
            self._same = []

    def record_read(
        self, path: NotePath, *, before: str, digest: str, is_whole: bool
    ) -> None:
        """Record that a note was read, and which bytes the index had before that."""
        self._read[path] = (before, digest)
        if not is_whole:
            self._grown.add(path)

    def may_replace(
        self, path: NotePath, signature: FileSignature | None, digest: str
    ) -> bool:
        """Return whether what was read may replace what the index holds now.

        What it held before the reading is older. If it holds something else by now,
        another process was faster, and the bytes on the disk decide. So they do after a
        purge: it may have left the index as it was before the purged text was written.
        """
        if self._index.get_meta(RULES) != self._rules:
            self.overtaken.append(path)  # masked by rules that do not count any more
            return False
        before, read_digest = self._read[path]
        if digest != before and path in self._grown:
            self.overtaken.append(path)  # what was read is not the whole note
            return False
        if digest != before or self._index.get_meta(LAST_PURGE) != self._last_purge:
            try:
                is_newest = read_note(self._folder, path).digest == read_digest
            except HivemindError:
                is_newest = False
            if not is_newest:
                self.overtaken.append(path)
                return False
        (self.added if signature is None else self.updated).add(path)
        return True

    def may_remove(
        self, path: NotePath, signature: FileSignature | None, _: str
    ) -> bool:
        """Return whether a note may be removed: it is gone, or not to be read."""
        is_unreadable = any(note.path == path for note in self.skipped)
        is_unchanged = is_unreadable and signature == self.known.get(path)
        try:
            is_there = self._folder.signature(path) is not None
        except NoteForbiddenError:
            is_there = False
        except NoteUnreadableError as error:
            self.skipped.append(SkippedNote.because(path, error))
            return False
        if not is_unchanged and is_there:
            self.overtaken.append(path)
            return False
        self.removed += signature is not None
        return True
