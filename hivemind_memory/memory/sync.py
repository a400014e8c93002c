"""Makes the index equal to the folder. The same rule for one note and for all."""

from __future__ import annotations

from hivemind_memory.errors import (
    NoteNotFoundError,
    NotePathError,
    NoteUnreadableError,
    NotSavedError,
)
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.snapshot import (
    FolderChanges,
    SkippedNote,
    compare_files,
    is_of_same_day,
    is_settled,
)
from hivemind_memory.notes.pending import has_pending_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.files.scan import FolderSnapshot
    from hivemind_memory.index.port import FileRecord, Index
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note import Note
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.results import SyncResult
    from hivemind_memory.model.snapshot import FileSignature, IndexedFiles

    Progress = Callable[[str, int, int], None]
    "Told the phase, what is done, and how much there is."


REDACTION_VERSION = "secrets 1"
"""Which rules hide secrets from the index; with others every note is read again."""

BATCH_CHUNKS = 250
"""Chunks, and with them whole notes, that one transaction takes: some 40 ms of work."""


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


class SyncCounts:
    """What a sync has done so far."""

    def __init__(self) -> None:
        self.added = self.updated = self.removed = self.chunks = 0
        self.skipped: list[SkippedNote] = []


class Syncer:
    """Brings one index in step with one folder.

    Events and timers are hints that it is time; what changed is found out here, by
    comparing a look at the folder with what the index knows.
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

    def sync(
        self,
        index: Index,
        *,
        progress: Progress | None = None,
        look: FolderSnapshot | None = None,
    ) -> SyncResult:
        """Apply what changed; ``took_s`` is left to the caller.

        Args:
            index: What is brought in step.
            progress: Told how far it is.
            look: A look at the folder of this moment; None: there was none.
        """
        from hivemind_memory.model.results import SyncResult

        recovered = self.recover()
        index.sweep()
        self._invalidate_old_chunking(index)
        if look is None or recovered:
            look = self._folder.snapshot()
        changes = compare_files(look.stamps, index.files())
        counts = SyncCounts()
        counts.skipped += look.skipped
        self._apply(index, changes, counts, progress)
        touched = counts.added + counts.updated
        return SyncResult(
            added=counts.added,
            updated=counts.updated,
            removed=counts.removed,
            unchanged=max(0, len(look.stamps) - touched),
            chunks=counts.chunks,
            recovered=recovered,
            skipped=tuple(counts.skipped),
        )

    def recover(self) -> int:
        """Put back acknowledged entries that vanished; return how many."""
        if not has_pending_entries(self._journal_dir):
            return 0
        from hivemind_memory.notes.journal import Journal
        from hivemind_memory.notes.recovery import recover

        try:
            return len(recover(Journal(self._journal_dir), self._now()))
        except NotSavedError:
            # The journal still has it, and the next look tries again: no reason to
            # answer nothing now.
            return 0

    def find_changes(self, known: IndexedFiles) -> tuple[FolderChanges, FolderSnapshot]:
        """Return what differs between the folder and *known*, and the look itself."""
        look = self._folder.snapshot()
        return compare_files(look.stamps, known), look

    def has_current_chunking(self, index: Index) -> bool:
        """Return whether the index was cut with the settings of today."""
        return index.get_meta("chunking") == self._chunking_key()

    def sync_note(self, index: Index, path: NotePath) -> bool:
        """Bring the index in step with one note; return whether it could be read."""
        counts = SyncCounts()
        self._apply(index, FolderChanges(changed=(path,)), counts, None)
        return not counts.skipped

    def _apply(
        self,
        index: Index,
        changes: FolderChanges,
        counts: SyncCounts,
        progress: Progress | None,
    ) -> None:
        """Apply *changes*; one bad note never hides the others."""
        known = index.files().stamps
        gone = list(changes.gone)
        batch: list[tuple[Note, FileRecord]] = []
        total = len(changes.changed)
        for done, path in enumerate(changes.changed):
            if progress is not None:
                progress("indexing", done, total)
            try:
                prepared = self._prepare(index, path, known.get(path), counts)
            except NoteNotFoundError:
                gone.append(path)  # while we looked
            except (NotePathError, NoteUnreadableError) as error:
                # What nobody can read is not answered from memory either: the index
                # stays what a rebuild would make.
                counts.skipped.append(SkippedNote(path=path, reason=str(error)))
                gone.append(path)
            else:
                if prepared is not None:
                    batch.append(prepared)
            if sum(len(note.chunks) for note, _ in batch) >= BATCH_CHUNKS:
                counts.chunks += index.replace(batch)
                batch.clear()
        if batch:
            counts.chunks += index.replace(batch)
        gone = [path for path in gone if path in known]
        if gone:
            index.remove(gone)
            counts.removed += len(gone)
        if progress is not None and total:
            progress("indexing", total, total)

    def _prepare(
        self,
        index: Index,
        path: NotePath,
        known: FileSignature | None,
        counts: SyncCounts,
    ) -> tuple[Note, FileRecord] | None:
        """Return what the index must be told of a note; None: it knows already."""
        from hivemind_memory.files.folder import read_note

        # The time before it is read: what changes during a long pause afterwards may
        # still bear the stamp of these bytes.
        now_ns = int(self._now() * 1e9)
        read = read_note(self._folder, path)
        settled = is_settled(read.stamp, now_ns)
        if (
            known is not None
            # Another day of the last edit may be another day of the note.
            and is_of_same_day(known, read.stamp)
            and index.digest_of(path) == read.digest
        ):
            if known != read.stamp or settled:
                index.touch(path, read.stamp, is_settled=settled)
            return None
        # What parses and cuts notes loads only when one has changed.
        from hivemind_memory.index.port import FileRecord
        from hivemind_memory.markdown.chunker import parse_note
        from hivemind_memory.notes.dates import day_of_note
        from hivemind_memory.notes.memory_header import header_of
        from hivemind_memory.redaction.redact import masked

        note = parse_note(
            path,
            masked(read.data),
            limit_chars=self._chunking.limit_chars,
            overlap_chars=self._chunking.overlap_chars,
        )
        row = FileRecord(
            stamp=read.stamp,
            digest=read.digest,
            is_settled=settled,
            day=day_of_note(path, note.front_matter, read.stamp[0]),
            scope=scope_of(path),
            header=header_of(
                path,
                note.front_matter,
                (chunk.body for chunk in note.chunks),
                self._types,
            ),
        )
        if known is None:
            counts.added += 1
        else:
            counts.updated += 1
        return note, row

    def _invalidate_old_chunking(self, index: Index) -> None:
        """Have every note cut anew when the settings that cut it have changed."""
        if not self.has_current_chunking(index):
            index.mark_all_stale()
            index.set_meta("chunking", self._chunking_key())

    def _chunking_key(self) -> str:
        """Return what shapes the index beside the notes; other settings, other rows."""
        own = "".join(f" {one!r}" for one in self._types.values())
        return f"{self._chunking.name} {REDACTION_VERSION}{own}"
