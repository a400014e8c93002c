"""Reads notes that have changed, cuts them, and gives them to the index in batches."""

from __future__ import annotations

from hivemind_memory.errors import (
    HivemindError,
    NoteForbiddenError,
    NoteNotFoundError,
    NotePathError,
    NoteTooLargeError,
    NoteUnreadableError,
)
from hivemind_memory.model.scope import scope_of
from hivemind_memory.model.snapshot import SkippedNote, is_of_same_day, is_settled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.files.reader import NoteReader, ReadNote
    from hivemind_memory.index.port import FileRecord, Index, IndexedNote
    from hivemind_memory.markdown.blocks import BlockReader
    from hivemind_memory.memory.sync_round import SyncRound
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note import Growth, Note
    from hivemind_memory.model.note_path import NotePath

    _ReadNote = tuple[NotePath, ReadNote, bool, Note | None]
    "A note, what was read of it, whether that is settled, and its end if it has grown."

    Progress = Callable[[str, int, int], None]
    "Called with the phase, how much is done, and how much there is."


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

_IS_A_BUG = "this is a bug in hm"
_KNOWN_ERRORS = (HivemindError, OSError, MemoryError)


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


class NoteIndexer:
    """Indexes notes of one folder, and keeps what it has read of them."""

    def __init__(
        self,
        folder: NotesFolder,
        chunking: ChunkSettings,
        now: Callable[[], float],
        types: Mapping[str, MemoryType],
    ) -> None:
        self._folder = folder
        self._chunking = chunking
        self._now = now
        self._types = types
        self._block_reader: BlockReader | None = None
        self._masked_by: object = None

    def index_notes(
        self,
        index: Index,
        paths: Sequence[NotePath],
        work: SyncRound,
        progress: Progress | None,
    ) -> list[NotePath]:
        """Index what some notes hold, in batches; return those that are not found."""
        from hivemind_memory.files.reader import NoteReader

        with NoteReader(self._folder) as reader:
            return self._index_notes(index, paths, work, reader, progress)

    def _index_notes(
        self,
        index: Index,
        paths: Sequence[NotePath],
        work: SyncRound,
        reader: NoteReader,
        progress: Progress | None,
    ) -> list[NotePath]:
        """Index notes; see ``index_notes``."""
        gone = []
        batch: list[_ReadNote] = []
        batch_bytes = 0
        total = len(paths)
        indexed: dict[NotePath, IndexedNote] = {}
        for done, path in enumerate(paths):
            if progress is not None:
                progress("indexing", done, total)
            if done % BATCH_NOTES == 0:
                work.record_same()
                indexed = index.notes_at(paths[done : done + BATCH_NOTES])
            try:
                found = self._read(path, indexed.get(path), work, reader)
            except NoteNotFoundError:
                gone.append(path)  # since the scan
            except (NotePathError, NoteTooLargeError, NoteForbiddenError) as error:
                # A rebuild would not read it either, so it is not found any more.
                work.skipped.append(SkippedNote.because(path, error))
                gone.append(path)
            except NoteUnreadableError as error:
                # It is there: what the index has of it stays until it can be read.
                work.skipped.append(SkippedNote.because(path, error))
            else:
                if found is not None:
                    batch.append(found)
                    batch_bytes += len(found[1].data)
            if len(batch) >= BATCH_NOTES or batch_bytes >= BATCH_BYTES:
                self._write(index, batch, work, gone)
                batch, batch_bytes = [], 0
        self._write(index, batch, work, gone)
        work.record_same()
        if progress is not None:
            progress("indexing", total, total)
        return gone

    def _write(
        self,
        index: Index,
        found: Sequence[_ReadNote],
        work: SyncRound,
        gone: list[NotePath],
    ) -> None:
        """Index some notes that were read; those that cannot be are *gone* then."""
        if not found:
            return
        notes = self._cut(
            [(path, read.data) for path, read, _, grown in found if grown is None],
            work,
        )
        batch: list[tuple[Note, FileRecord]] = []
        batch_chunks = 0
        for path, read, settled, grown in found:
            note = notes.get(path) if grown is None else grown
            if note is None:
                gone.append(path)
                continue
            batch.append((note, self._record(note, read, is_settled=settled)))
            batch_chunks += len(note.chunks)
            if batch_chunks >= BATCH_CHUNKS:
                work.chunks += index.replace(batch, work.may_replace)
                batch, batch_chunks = [], 0
        if batch:
            work.chunks += index.replace(batch, work.may_replace)

    def _cut(
        self, noted: Sequence[tuple[NotePath, bytes]], work: SyncRound
    ) -> dict[NotePath, Note]:
        """Return the notes that some bytes are, without those that a rule fails on.

        A rule that fails is a defect of the program, and no reason to hide all others.
        """
        blocks = self._blocks()
        try:
            return dict(
                zip((path for path, _ in noted), blocks.read_all(noted), strict=True)
            )
        except _KNOWN_ERRORS:
            raise
        except Exception:  # noqa: BLE001 - which note it was is found below
            return dict(self._cut_each(noted, work))

    def _cut_each(
        self, noted: Sequence[tuple[NotePath, bytes]], work: SyncRound
    ) -> Iterator[tuple[NotePath, Note]]:
        """Yield the notes that can be read; report the others as skipped."""
        for path, data in noted:
            try:
                yield path, self._blocks().read(path, data)
            except _KNOWN_ERRORS:
                raise
            except Exception as error:  # noqa: BLE001 - told as the reason
                reason = f"cannot be indexed ({type(error).__name__}): {_IS_A_BUG}"
                work.skipped.append(SkippedNote(path=path, reason=reason))

    def _read(
        self,
        path: NotePath,
        known: IndexedNote | None,
        work: SyncRound,
        reader: NoteReader,
    ) -> _ReadNote | None:
        """Return what a note holds and whether it is settled; None: indexed already.

        *known* is what the index had a moment ago.
        """
        # The time before it is read: what changes during a long pause afterward may
        # still bear the signature of these bytes.
        now_ns = int(self._now() * 1e9)
        read = reader.read(path)
        settled = is_settled(read.signature, now_ns)
        if (
            known is not None
            # Another day of the last edit may be another day of the note.
            and is_of_same_day(known.signature, read.signature)
            and known.digest == read.digest
        ):
            if known.signature != read.signature or settled:
                work.add_same(path, read, is_settled=settled)
            return None
        grown = None
        if known is not None and work.knows_rules:
            grown = self._read_grown(path, read, known)
        is_large = (
            grown is None
            and len(read.data) > LARGE_NOTE_BYTES
            and self._blocks().count_new_chars(path, read.data) > LARGE_NOTE_BYTES
        )
        rule = work.may_take_large
        if is_large and rule is not None and not rule(path, read.data):
            work.left.append(path)
            return None
        before = known.digest if known is not None else ""
        work.record_read(
            path, before=before, digest=read.digest, is_whole=grown is None
        )
        return path, read, settled, grown

    def _read_grown(
        self, path: NotePath, read: ReadNote, known: IndexedNote
    ) -> Note | None:
        """Return the end of a note that has only grown; None: all of it has to be read.

        Any process may have indexed it: what it had then is known by its digest.
        """
        size = known.signature[2]
        if not known.digest or not 0 < size < len(read.data) <= size + LARGE_NOTE_BYTES:
            return None
        from hivemind_memory.files.reader import digest_of

        if digest_of(read.data[:size]) != known.digest:
            return None
        from hivemind_memory.markdown.growth import growth_of

        growth = growth_of(read.data, size=size, digest=known.digest)
        if growth is None:
            return None
        try:
            note = self._blocks().read_grown(path, read.data, growth)
        except _KNOWN_ERRORS:
            raise
        except Exception:  # noqa: BLE001 - the whole note is read, and may be skipped
            return None
        return None if _has_lost_link(growth, note) else note

    def _record(self, note: Note, read: ReadNote, *, is_settled: bool) -> FileRecord:
        """Return what the index records of a note besides its chunks."""
        # What parses and cuts notes loads only when one has changed.
        from hivemind_memory.index.port import FileRecord
        from hivemind_memory.markdown.text import is_utf8
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
            is_utf8=is_utf8(read.data),
        )

    def _blocks(self) -> BlockReader:
        """Return what reads notes, and keeps what it has read while it is masked so."""
        from hivemind_memory.vault.opened import vaults_state

        masked_by = vaults_state()
        if self._block_reader is None or masked_by != self._masked_by:
            from hivemind_memory.markdown.blocks import shared_reader
            from hivemind_memory.redaction.redact import mask

            self._masked_by = masked_by
            self._block_reader = shared_reader(
                self._folder.root,
                mask,
                masked_by=masked_by,
                limit_chars=self._chunking.limit_chars,
                overlap_chars=self._chunking.overlap_chars,
            )
        return self._block_reader


def _has_lost_link(growth: Growth, note: Note) -> bool:
    """Return whether a link that the index may have has to go.

    What was appended may close a comment around it, or make a secret of it, and other
    chunks may have the same link: only the whole note tells.
    """
    if "[[" not in growth.again:
        return False
    from hivemind_memory.notes.edge import links_in

    kept = {link for chunk in note.chunks for link in links_in(chunk.body)}
    return not kept.issuperset(links_in(growth.again))
