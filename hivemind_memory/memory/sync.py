"""Updates the index from the notes folder. The same rule for one note and for all."""

from __future__ import annotations

from hivemind_memory.errors import HivemindError, NotSavedError
from hivemind_memory.files.places import has_journal_entries, vault_beside
from hivemind_memory.memory.background_notes import holds_memory, leave_all
from hivemind_memory.memory.note_indexer import (
    BATCH_BYTES,
    BATCH_NOTES,
    LARGE_NOTE_BYTES,
    NoteIndexer,
)
from hivemind_memory.memory.rule_changes import RULES
from hivemind_memory.model.snapshot import (
    FolderChanges,
    IndexedFiles,
    compare_files,
)
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.files.scan import FolderSnapshot
    from hivemind_memory.index.port import Index, IndexedNote
    from hivemind_memory.memory.background_notes import LargeNoteRule
    from hivemind_memory.memory.note_indexer import ChunkSettings, Progress
    from hivemind_memory.memory.sync_round import SyncRound
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.results import RecoveredEntry, SyncResult
    from hivemind_memory.model.snapshot import FileSignature
    from hivemind_memory.notes.journal import Journal


MAX_LOOKED_THROUGH = 5_000  # notes, in about 3 s; more are read in the background
BODY_VERSION = "bodies 7"
"""Version of the rules for terms and searched text; a new name rereads all notes."""

REDACTION_VERSION = "secrets 21"
"""Which rules hide secrets from the index; with others every note is read again."""

QUICK_NOTES = 16
"""So many changes are applied while other processes that want to write wait."""

MAX_NAMED = 64
"""So many notes that are named are looked at one by one; a scan of a folder of 1,000
takes as long."""

MAX_ROUNDS = 5
"""How often a sync looks again because another process was faster with some note."""


class Syncer:
    """Updates one index from one folder.

    Events and timers are hints that it is time; what changed is found out here, by
    comparing a scan of the folder with what the index knows.
    """

    def __init__(
        self,
        folder: NotesFolder,
        journal_dir: str,
        chunking: ChunkSettings,
        now: Callable[[], float],
        types: Mapping[str, MemoryType] | None = None,
    ) -> None:
        self._folder = folder
        self._journal_dir = journal_dir
        self._chunking = chunking
        self._now = now
        self._types = types or {}
        self._indexer = NoteIndexer(folder, chunking, now, self._types)
        self._journal: Journal | None = None

    @property
    def folder(self) -> NotesFolder:
        """The folder that is indexed."""
        return self._folder

    @property
    def has_links(self) -> bool:
        """Notes behind links are read too; no event reports their changes."""
        return bool(self._folder.links)

    def sync(
        self,
        index: Index,
        *,
        progress: Progress | None = None,
        seen: tuple[IndexedFiles, FolderSnapshot] | None = None,
        may_take_large: LargeNoteRule | None = None,
        leaves_outdated: bool = False,
        left: set[NotePath] | None = None,
    ) -> SyncResult:
        """Apply what changed; ``took_s`` is left to the caller.

        Args:
            index: The index to update.
            progress: Called with the progress.
            seen: What the index held, and a later scan of the folder; None: scan now.
            may_take_large: Asked before each large note; None: all are indexed.
            leaves_outdated: Leave what ``left_for_later`` names.
            left: Gathers the notes that were not indexed, but will have to be.
        """
        from hivemind_memory.memory.sync_round import SyncRound
        from hivemind_memory.model.results import SyncResult

        recovered = self.recover()
        index.sweep()
        if self._invalidate_old_chunking(index) or recovered:
            seen = None
        added = updated = removed = chunks = 0
        for _ in range(MAX_ROUNDS):
            # In this order: what the index gains after the scan is newer than the scan.
            known, snapshot = seen or (index.files(), self._folder.snapshot())
            seen = None
            if snapshot.partial:
                from hivemind_memory.files.atomic import remove_partial_files

                remove_partial_files(self._folder.root, snapshot.partial, self._now())
            work = SyncRound(
                self._folder,
                index,
                known.signatures,
                snapshot.skipped,
                may_take_large,
            )
            later = self.left_for_later(known) if leaves_outdated else frozenset()
            changes = compare_files(
                snapshot.signatures,
                replaced(known, unsettled=known.unsettled - later),
                snapshot.unlisted,
            )
            later = later.difference(changes.changed, changes.gone)
            self._apply(index, changes, work, progress)
            added += len(work.added)
            updated += len(work.updated)
            removed += work.removed
            chunks += work.chunks
            if not work.overtaken:
                break
        if left is not None:
            left.update(work.left, later)
        return SyncResult(
            added=added,
            updated=updated,
            removed=removed,
            unchanged=max(
                0,
                len(snapshot.signatures) - added - updated - len({*work.left, *later}),
            ),
            chunks=chunks,
            recovered=len(recovered),
            recovered_entries=recovered,
            skipped=tuple(work.skipped),
        )

    def left_for_later(self, known: IndexedFiles) -> frozenset[NotePath]:
        """Return outdated notes, if to read them again takes longer than an answer may.

        Their text has not changed, so the old rows answer meanwhile.
        """
        sizes = [known.signatures[path][2] for path in known.outdated]
        is_quick = len(sizes) <= BATCH_NOTES and sum(sizes) <= BATCH_BYTES
        return frozenset() if is_quick else known.outdated

    def recover(self) -> tuple[RecoveredEntry, ...]:
        """Put back acknowledged entries that vanished; return which."""
        if not has_journal_entries(self._journal_dir):
            return ()
        from hivemind_memory.notes.recovery import recover

        if self._journal is None:
            from hivemind_memory.notes.journal import Journal

            self._journal = Journal(self._journal_dir, self._folder.root)
        try:
            return recover(self._journal, self._now())
        except NotSavedError:
            # The journal still has it, and the next scan tries again: no reason to
            # answer nothing now.
            return ()

    def holds_memory(self, path: NotePath, data: bytes) -> bool:
        """Return whether a note is more than free text; see ``background_notes``."""
        return holds_memory(path, data, self._types)

    def snapshot(self) -> FolderSnapshot:
        """Return what the folder holds now."""
        return self._folder.snapshot()

    def find_changes(self, known: IndexedFiles) -> tuple[FolderChanges, FolderSnapshot]:
        """Return what differs between the folder and *known*, and the scan itself."""
        snapshot = self._folder.snapshot()
        changes = compare_files(snapshot.signatures, known, snapshot.unlisted)
        return changes, snapshot

    def origin_of(self, index: Index) -> tuple[str, ...]:
        """Return what changes once the index is another one, though no note changed."""
        from hivemind_memory.index.port import MADE
        from hivemind_memory.memory.sync_round import LAST_PURGE

        kept = (index.get_meta(key) for key in (MADE, LAST_PURGE, RULES))
        return (*kept, self.vault_mark())

    def has_current_chunking(self, index: Index) -> bool:
        """Return whether the index was cut with the settings of today."""
        kept = index.get_meta(RULES)
        if kept == self._chunking_key():
            return True
        locked = self._chunking_key(is_locked=True)
        return kept == locked and self._is_vault_locked()

    def sync_note(
        self,
        index: Index,
        path: NotePath,
        may_take_large: LargeNoteRule | None = None,
    ) -> bool:
        """Update the index of one note; return whether that was done."""
        from hivemind_memory.memory.sync_round import SyncRound

        for _ in range(MAX_ROUNDS):
            known = _signatures(index.notes_at((path,)))
            work = SyncRound(self._folder, index, known, may_take_large=may_take_large)
            self._apply(index, FolderChanges(changed=(path,)), work, None)
            if not work.overtaken:
                return not work.skipped and not work.left
        return False

    def sync_named(self, index: Index, names: Collection[str]) -> bool:
        """Update the index of what may have changed; nothing else has.

        Args:
            index: The index, equal to the folder but for these.
            names: Paths below the notes folder, of whatever files.

        Returns:
            False: That is not so easily done; compare the whole folder.
        """
        from hivemind_memory.files.named_notes import signatures_of

        if len(names) > MAX_NAMED or index.has_unfinished() or index.has_outdated():
            return False
        found = signatures_of(self._folder, names)
        if found is None or (found and self.recover()):
            return False
        indexed = index.notes_at(list(found))
        if any(found[path] is None and path not in indexed for path in found):
            # It came and went since: perhaps another name of a note, which was changed
            # by that name. No event names the note then.
            return False
        changes = FolderChanges(
            changed=tuple(
                path
                for path, signature in found.items()
                if signature and not self._is_indexed(path, indexed.get(path))
            ),
            gone=tuple(path for path in indexed if found[path] is None),
        )
        if changes.is_empty:
            return True
        from hivemind_memory.memory.sync_round import SyncRound

        work = SyncRound(
            self._folder, index, _signatures(indexed), may_take_large=leave_all
        )
        self._apply(index, changes, work, None)
        return not (work.overtaken or work.skipped or work.left)

    def _is_indexed(self, path: NotePath, known: IndexedNote | None) -> bool:
        """Return whether the index has the bytes of a note, with their signature."""
        if known is None:
            return False
        from hivemind_memory.files.reader import read_note

        try:
            read = read_note(self._folder, path)
        except HivemindError:
            return False
        return read.signature == known.signature and read.digest == known.digest

    def _apply(
        self,
        index: Index,
        changes: FolderChanges,
        work: SyncRound,
        progress: Progress | None,
    ) -> None:
        """Apply *changes*; one bad note never hides the others."""
        if not self._is_quick(changes):
            self._apply_all(index, changes, work, progress)
            return
        # Many processes see the same change. Who waited finds it indexed.
        with index.writer_lock():
            self._apply_all(index, changes, work, progress)

    def _is_quick(self, changes: FolderChanges) -> bool:
        """Return whether changes are few and small: then others may wait for them."""
        if len(changes.changed) > QUICK_NOTES:
            return False
        return sum(map(self._size_of, changes.changed)) <= LARGE_NOTE_BYTES

    def _size_of(self, path: NotePath) -> int:
        """Return the bytes of a note; 0 if it cannot be read now."""
        try:
            signature = self._folder.signature(path)
        except HivemindError:
            return 0
        return signature[2] if signature else 0

    def _apply_all(
        self,
        index: Index,
        changes: FolderChanges,
        work: SyncRound,
        progress: Progress | None,
    ) -> None:
        """Apply *changes*; see ``_apply``."""
        gone = list(changes.gone)
        if changes.changed and self._is_vault_locked():
            # What is indexed now is masked again when the vault can be opened.
            index.set_meta(RULES, self._chunking_key(is_locked=True))
        if changes.changed:
            gone += self._indexer.index_notes(index, changes.changed, work, progress)
        gone = [path for path in gone if path in work.known]
        if gone:
            index.remove(gone, work.may_remove)

    def _invalidate_old_chunking(self, index: Index) -> bool:
        """Have every note chunked again when its settings changed; return whether."""
        if self.has_current_chunking(index):
            return False
        from hivemind_memory.memory.rule_changes import apply_rules, is_other_vault

        rules = self._chunking_key(is_locked=self._is_vault_locked())
        is_vault = is_other_vault(index.get_meta(RULES), rules)
        holding = self._holding_secrets(index) if is_vault else None
        apply_rules(index, rules, holding=holding)
        return True

    def _holding_secrets(self, index: Index) -> frozenset[NotePath] | None:
        """Return the notes in which a value of the vault may be; None: too many."""
        from hivemind_memory.files.reader import read_note
        from hivemind_memory.markdown.text import decode
        from hivemind_memory.redaction.redact import may_hold_known

        holding, paths = set(), index.files().signatures
        if len(paths) > MAX_LOOKED_THROUGH:
            return None
        for path in paths:
            try:
                text = decode(read_note(self._folder, path).data)
            except HivemindError:
                holding.add(path)
                continue
            if may_hold_known(f"{path}\n{text}"):
                holding.add(path)
        return frozenset(holding)

    def _chunking_key(self, *, is_locked: bool = False) -> str:
        """Return what shapes the index; with something else it has other rows.

        Args:
            is_locked: As it is where the values of the vault are not known.
        """
        own = "".join(f" {own_type!r}" for own_type in self._types.values())
        return (
            f"{self._chunking.name} {BODY_VERSION} {REDACTION_VERSION}"
            f"{self.vault_mark(is_locked=is_locked)}{own}"
        )

    def vault_mark(self, *, is_locked: bool = False) -> str:
        """Return the state of the vault, whose values are hidden from the index."""
        path = vault_beside(self._journal_dir)
        if not path:
            return ""
        from hivemind_memory.vault.vault_file import read_generation

        return f" vault {read_generation(path)}{' locked' if is_locked else ''}"

    def _is_vault_locked(self) -> bool:
        """Return whether there is a vault whose values are not known."""
        if not vault_beside(self._journal_dir):
            return False
        from hivemind_memory.vault.opened import why_locked

        return bool(why_locked())


def _signatures(
    indexed: Mapping[NotePath, IndexedNote],
) -> dict[NotePath, FileSignature]:
    """Return the signatures that the index has of some notes."""
    return {path: note.signature for path, note in indexed.items()}
