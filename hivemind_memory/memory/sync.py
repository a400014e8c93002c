"""Updates the index from the notes folder. The same rule for one note and for all."""

from __future__ import annotations

from hivemind_memory.errors import (
    NoteNotFoundError,
    NotePathError,
    NoteUnreadableError,
    NotSavedError,
)
from hivemind_memory.files.places import has_journal_entries
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.snapshot import (
    FolderChanges,
    IndexedFiles,
    SkippedNote,
    compare_files,
    is_of_same_day,
    is_settled,
)
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.files.reader import NoteReader, ReadNote
    from hivemind_memory.files.scan import FolderSnapshot
    from hivemind_memory.index.port import FileRecord, Index
    from hivemind_memory.markdown.blocks import BlockReader
    from hivemind_memory.memory.sync_round import SyncRound
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note import Note
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.results import RecoveredEntry, SyncResult
    from hivemind_memory.notes.journal import Journal

    _ReadNote = tuple[NotePath, ReadNote, bool]
    "A note, what was read of it, and whether that is settled."

    Progress = Callable[[str, int, int], None]
    "Called with the phase, how much is done, and how much there is."


BODY_VERSION = "bodies 3"
"""What of a chunk is searched, by which terms; with another name all is read again."""

REDACTION_VERSION = "secrets 7"
"""Which rules hide secrets from the index; with others every note is read again."""

BATCH_CHUNKS = 500
"""Chunks, and with them whole notes, that one transaction takes: some 20 ms of work."""

BATCH_NOTES = 500
"""Notes that are read before the first is masked, and masked before the first is cut:
each of these takes a third longer by turns."""

BATCH_BYTES = 500_000
"""Their bytes, with those of the last one."""


LARGE_NOTE_BYTES = 100_000
"""A note with more that is new to this process may take longer to index than a search
may wait: up to 2 s for 1 MB."""

MAX_ROUNDS = 5
"""How often a sync looks again because another process was faster with some note."""


class ChunkSettings:
    """How notes are cut."""

    __slots__ = ("limit_chars", "overlap_chars")

    def __init__(self, *, limit_chars: int, overlap_chars: int) -> None:
        self.limit_chars = limit_chars
        self.overlap_chars = overlap_chars

    @property
    def name(self) -> str:
        """What the index remembers: other settings make other chunks."""
        return f"{self.limit_chars}/{self.overlap_chars}"


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
        self._block_reader: BlockReader | None = None
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
        may_take_large: Callable[[], bool] | None = None,
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
                self._folder, index, known, snapshot.skipped, may_take_large
            )
            later = self.left_for_later(known) if leaves_outdated else frozenset()
            changes = compare_files(
                snapshot.signatures,
                replaced(known, unsettled=known.unsettled - later),
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

    def snapshot(self) -> FolderSnapshot:
        """Return what the folder holds now."""
        return self._folder.snapshot()

    def find_changes(self, known: IndexedFiles) -> tuple[FolderChanges, FolderSnapshot]:
        """Return what differs between the folder and *known*, and the scan itself."""
        snapshot = self._folder.snapshot()
        return compare_files(snapshot.signatures, known), snapshot

    def has_current_chunking(self, index: Index) -> bool:
        """Return whether the index was cut with the settings of today."""
        return index.get_meta("chunking") == self._chunking_key()

    def sync_note(
        self,
        index: Index,
        path: NotePath,
        may_take_large: Callable[[], bool] | None = None,
    ) -> bool:
        """Update the index of one note; return whether that was done."""
        from hivemind_memory.memory.sync_round import SyncRound

        for _ in range(MAX_ROUNDS):
            work = SyncRound(self._folder, index, index.files(), (), may_take_large)
            self._apply(index, FolderChanges(changed=(path,)), work, None)
            if not work.overtaken:
                return not work.skipped and not work.left
        return False

    def _apply(
        self,
        index: Index,
        changes: FolderChanges,
        work: SyncRound,
        progress: Progress | None,
    ) -> None:
        """Apply *changes*; one bad note never hides the others."""
        gone = list(changes.gone)
        if changes.changed:
            from hivemind_memory.files.reader import NoteReader

            with NoteReader(self._folder) as reader:
                gone += self._index_notes(
                    index, changes.changed, work, reader, progress
                )
        gone = [path for path in gone if path in work.known]
        if gone:
            index.remove(gone, work.may_remove)

    def _index_notes(
        self,
        index: Index,
        paths: Sequence[NotePath],
        work: SyncRound,
        reader: NoteReader,
        progress: Progress | None,
    ) -> list[NotePath]:
        """Index what some notes hold, in batches; return those that are not found."""
        gone = []
        batch: list[_ReadNote] = []
        batch_bytes = 0
        total = len(paths)
        digests: dict[NotePath, str] = {}
        for done, path in enumerate(paths):
            if progress is not None:
                progress("indexing", done, total)
            if done % BATCH_NOTES == 0:
                work.record_same()
                digests = index.digests_of(paths[done : done + BATCH_NOTES])
            try:
                found = self._read(path, digests.get(path, ""), work, reader)
            except NoteNotFoundError:
                gone.append(path)  # since the scan
            except (NotePathError, NoteUnreadableError) as error:
                # A rebuild could not read it either, so it is not found any more.
                work.skipped.append(SkippedNote(path=path, reason=str(error)))
                gone.append(path)
            else:
                if found is not None:
                    batch.append(found)
                    batch_bytes += len(found[1].data)
            if len(batch) >= BATCH_NOTES or batch_bytes >= BATCH_BYTES:
                self._write(index, batch, work)
                batch, batch_bytes = [], 0
        self._write(index, batch, work)
        work.record_same()
        if progress is not None:
            progress("indexing", total, total)
        return gone

    def _write(self, index: Index, found: Sequence[_ReadNote], work: SyncRound) -> None:
        """Index some notes that were read."""
        if not found:
            return
        notes = self._blocks().read_all([(path, read.data) for path, read, _ in found])
        batch: list[tuple[Note, FileRecord]] = []
        batch_chunks = 0
        for note, (_, read, settled) in zip(notes, found, strict=True):
            batch.append((note, self._record(note, read, is_settled=settled)))
            batch_chunks += len(note.chunks)
            if batch_chunks >= BATCH_CHUNKS:
                work.chunks += index.replace(batch, work.may_replace)
                batch, batch_chunks = [], 0
        if batch:
            work.chunks += index.replace(batch, work.may_replace)

    def _read(
        self, path: NotePath, before: str, work: SyncRound, reader: NoteReader
    ) -> _ReadNote | None:
        """Return what a note holds and whether it is settled; None: indexed already.

        *before* is the digest of the bytes that the index had a moment ago.
        """
        # The time before it is read: what changes during a long pause afterward may
        # still bear the signature of these bytes.
        now_ns = int(self._now() * 1e9)
        known = work.known.get(path)
        read = reader.read(path)
        settled = is_settled(read.signature, now_ns)
        if (
            known is not None
            # Another day of the last edit may be another day of the note.
            and is_of_same_day(known, read.signature)
            and before == read.digest
        ):
            if known != read.signature or settled:
                work.add_same(path, read, is_settled=settled)
            return None
        is_large = (
            len(read.data) > LARGE_NOTE_BYTES
            and self._blocks().count_new_chars(path, read.data) > LARGE_NOTE_BYTES
        )
        if is_large and work.may_take_large is not None and not work.may_take_large():
            work.left.append(path)
            return None
        work.record_read(path, before=before, digest=read.digest)
        return path, read, settled

    def _record(self, note: Note, read: ReadNote, *, is_settled: bool) -> FileRecord:
        """Return what the index records of a note besides its chunks."""
        # What parses and cuts notes loads only when one has changed.
        from hivemind_memory.index.port import FileRecord
        from hivemind_memory.notes.memory_header import day_of_note, header_of

        return FileRecord(
            signature=read.signature,
            digest=read.digest,
            is_settled=is_settled,
            day=day_of_note(note.path, note.front_matter, read.signature[0]),
            scope=scope_of(note.path),
            header=header_of(
                note.path,
                note.front_matter,
                (chunk.body for chunk in note.chunks),
                self._types,
            ),
        )

    def _blocks(self) -> BlockReader:
        """Return what reads notes, and keeps what it has read."""
        if self._block_reader is None:
            from hivemind_memory.markdown.blocks import BlockReader
            from hivemind_memory.redaction.redact import mask

            self._block_reader = BlockReader(
                mask,
                limit_chars=self._chunking.limit_chars,
                overlap_chars=self._chunking.overlap_chars,
            )
        return self._block_reader

    def _invalidate_old_chunking(self, index: Index) -> bool:
        """Have every note chunked again when its settings changed; return whether."""
        if self.has_current_chunking(index):
            return False
        from hivemind_memory.memory.rule_changes import apply_rules

        apply_rules(index, self._chunking_key())
        return True

    def _chunking_key(self) -> str:
        """Return the settings that shape the index; with others it has other rows."""
        own = "".join(f" {own_type!r}" for own_type in self._types.values())
        return f"{self._chunking.name} {BODY_VERSION} {REDACTION_VERSION}{own}"
