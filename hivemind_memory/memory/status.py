"""The figures of ``hm status``: what the memory holds, and what is missing."""

from __future__ import annotations

import os

from hivemind_memory.errors import (
    HivemindError,
    IndexDamagedError,
    NoteForbiddenError,
    NoteUnreadableError,
)
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.files.reader import NoteReader
from hivemind_memory.markdown.text import is_utf8
from hivemind_memory.memory.note_indexer import LARGE_NOTE_BYTES
from hivemind_memory.model.memories import FORGOTTEN
from hivemind_memory.model.results import LARGE_UNINDEXED, MemoryStatus
from hivemind_memory.model.snapshot import IndexedFiles, SkippedNote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.files.folder import NotesFolder
    from hivemind_memory.files.places import Places
    from hivemind_memory.files.scan import FolderSnapshot
    from hivemind_memory.memory.embed import EmbeddingService
    from hivemind_memory.memory.index_fallback import OpenIndex
    from hivemind_memory.memory.open_index import IndexHandle
    from hivemind_memory.memory.sync import Syncer
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FolderChanges
    from hivemind_memory.providers.provider import Provider

_MAX_READ_BYTES = 64 * 1024 * 1024
"""Of all notes together of which it is not known whether they are UTF-8."""


def read_status(
    handle: IndexHandle,
    places: Places,
    syncer: Syncer,
    provider: Provider,
    now_s: float,
    *,
    service: EmbeddingService | None,
    is_updated: bool = False,
) -> MemoryStatus:
    """Return the state of a memory; changes nothing in it unless *is_updated*.

    Args:
        handle: The index.
        places: Where the files are.
        syncer: Compares the folder with the index.
        provider: Who makes vectors.
        now_s: Seconds since 1970.
        service: Asks the provider first whether it answers; None: it is not asked.
        is_updated: Update the index first, as a search does: what is asked again and
            again need not scan the folder.
    """
    is_asked = service is not None and service.check(handle)
    with handle.lock:
        whole = (
            handle.run_whole(lambda _, passed_over: passed_over) if is_updated else None
        )
        return handle.run_with_fallback(
            lambda opened: _status_of(
                places,
                opened,
                syncer,
                provider,
                now_s,
                is_asked=is_asked,
                passed_over=whole,
            ),
            may_repair=False,
        )


def _status_of(
    places: Places,
    opened: OpenIndex,
    syncer: Syncer,
    provider: Provider,
    now_s: float,
    *,
    is_asked: bool,
    passed_over: tuple[SkippedNote, ...] | None,
) -> MemoryStatus:
    """Return the state of a memory from its open index.

    *passed_over*: the files that are no notes, if the index has all others as they
    are; None: the folder is scanned.
    """
    index = opened.index
    known = index.files()
    stale, notes = 0, len(known.signatures)
    unread: list[SkippedNote] = []
    if passed_over is None:
        # A note too young to be sure of is not behind: the next search reads it.
        certain = IndexedFiles(signatures=known.signatures)
        changes, snapshot = syncer.find_changes(certain)
        if opened.error is not None:
            notes = len(snapshot.signatures)  # the substitute for the index has none
        unread, forbidden = _unread(changes, snapshot, syncer)
        stale = len(changes.changed) + len(changes.gone) - forbidden
        passed_over = snapshot.skipped
    vectors, pending, name, reason = _vectors(opened, provider)
    problem = ""
    if pending or is_asked:
        problem = _last_problem(opened, provider, now_s)
    if pending and not problem and name != "none":
        problem = "`hm sync` computes them, and so does `hm watch` while it runs."
    return MemoryStatus(
        memory_dir=places.notes,
        index_file=places.index_file,
        notes=notes,
        forgotten_notes=_forgotten(opened),
        chunks=index.count_chunks(),
        index_bytes=_size(places.index_file),
        provider=name,
        provider_reason=reason,
        vectors=vectors,
        pending_vectors=pending,
        vectors_problem=problem,
        retrievers=("words", "vectors") if vectors else ("words",),
        leader=KernelLock(places.leader_lock).holder(),
        stale_notes=stale,
        skipped=(*_skipped(opened, passed_over), *unread),
        not_utf8=_not_utf8(syncer.folder, opened, known),
        unsettled_entries=_unsettled(places, now_s),
    )


def _forgotten(opened: OpenIndex) -> int:
    """Return how many notes are forgotten memories, which no list of notes shows."""
    counts = opened.index.lists().count_memories("status", scopes=None)
    return counts.get((FORGOTTEN,), 0)


def _not_utf8(
    folder: NotesFolder, opened: OpenIndex, known: IndexedFiles
) -> tuple[NotePath, ...]:
    """Return the indexed notes whose bytes are not UTF-8.

    An older index does not know it of all. Those are read, but large memories not to
    the end: a person waits for the figures.
    """
    found, unknown = opened.index.lists().not_utf8()
    if not unknown:
        return tuple(found)
    left_bytes = _MAX_READ_BYTES
    with NoteReader(folder) as reader:
        for path in unknown:
            left_bytes -= known.signatures[path][2] if path in known.signatures else 0
            if left_bytes < 0:
                break
            try:
                if not is_utf8(reader.read(path).data):
                    found.append(path)
            except HivemindError:
                continue  # it is among those that could not be read
    return tuple(sorted(found))


def _vectors(opened: OpenIndex, provider: Provider) -> tuple[int, int, str, str]:
    """Return chunks with and without a vector, the provider, and why it is that one."""
    # What waits for a provider without a key is counted too.
    space = provider.space() or provider.unusable_space()
    if space is None:
        return 0, 0, "none", provider.choice().reason
    from hivemind_memory.memory.moved_spaces import fingerprint_in_use

    store, name = opened.index.vector_store(), fingerprint_in_use(opened.index, space)
    return (
        store.count_vectors(name),
        store.count_pending_chunks(name),
        f"{space.provider} {space.model}" if provider.space() else "none",
        provider.choice().reason,
    )


def _last_problem(opened: OpenIndex, provider: Provider, now_s: float) -> str:
    """Return why the provider last failed, and what to do; empty: it did not."""
    from hivemind_memory.memory.embed import EmbeddingService

    return EmbeddingService(provider, lambda: now_s).problem(opened.index)


def _skipped(
    opened: OpenIndex, skipped: tuple[SkippedNote, ...]
) -> tuple[SkippedNote, ...]:
    """Return what was passed over, a substitute for the index among it."""
    if opened.file is not None:
        return (SkippedNote(path=".index", reason=opened.why_copied), *skipped)
    if opened.error is None:
        return skipped
    problem = str(opened.error).removesuffix(".")
    remedy = opened.error.hint or "`hm doctor` checks for problems"
    if isinstance(opened.error, IndexDamagedError):
        remedy = "the next search or `hm rebuild` rebuilds it from the notes"
    return (SkippedNote(path=".index", reason=f"{problem}; {remedy}"), *skipped)


def _unread(
    changes: FolderChanges, scan: FolderSnapshot, syncer: Syncer
) -> tuple[list[SkippedNote], int]:
    """Return the changed notes that a search has not, or cannot, read.

    Returns:
        Those; and how many of them will never be indexed, for it is forbidden.
    """
    unread = []
    forbidden = 0
    for path in changes.changed:
        try:
            syncer.folder.signature(path)
        except NoteUnreadableError as error:
            unread.append(SkippedNote.because(path, error))
            forbidden += isinstance(error, NoteForbiddenError)
        else:
            if scan.signatures[path][2] > LARGE_NOTE_BYTES:
                unread.append(SkippedNote(path=path, reason=LARGE_UNINDEXED))
    return unread, forbidden


def _size(path: str) -> int:
    """Return the bytes of the index file and its log."""
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += os.stat(path + suffix).st_size
        except OSError:
            continue
    return total


def _unsettled(places: Places, now_s: float) -> int:
    """Return how many acknowledged entries are in their ten minutes."""
    from hivemind_memory.files.places import has_journal_entries

    if not has_journal_entries(places.journal):
        return 0
    from hivemind_memory.notes.journal import Journal

    return Journal(places.journal).count_pending_entries(now_s)
