"""The index in one SQLite file: the port ``Index``, each method one statement or step.

What a method needs besides the connection is imported when it is called: a sync needs
nothing of what a search does, and a cold search nothing of what writes.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import IndexBusyError
from hivemind_memory.files.descriptors import identity_at
from hivemind_memory.index.sqlite import meta, notes
from hivemind_memory.index.sqlite.filters import (
    IndexContents,
    query_filter,
    visibility_filter,
)
from hivemind_memory.index.sqlite.schema import make_tokenizer, upgrade
from hivemind_memory.sqlite.connection import (
    IN_MEMORY,
    hold_writer_lock,
    open_as_named,
    open_connection,
    read_transaction,
    translated_errors,
    version_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import TypeVar

    import apsw

    from hivemind_memory.index.port import (
        FileRecord,
        IndexedNote,
        MayWrite,
        TouchedNote,
    )
    from hivemind_memory.index.sqlite.hits import SqliteHits
    from hivemind_memory.index.sqlite.lists import SqliteLists
    from hivemind_memory.index.sqlite.rows import RowMaker
    from hivemind_memory.index.sqlite.vector_store import SqliteVectorStore
    from hivemind_memory.index.sqlite.view import SqliteView, Views
    from hivemind_memory.model.filters import Access, SearchFilter
    from hivemind_memory.model.matches import ChunkLocation
    from hivemind_memory.model.memories import EdgeRow, MemoryRow
    from hivemind_memory.model.note import Note
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import IndexedFiles

    T = TypeVar("T")
    Edge = tuple[str, str, str]


class SqliteIndex:
    """Notes as chunks, postings and vectors, in one file that many processes share.

    Not for several threads at once: callers hold a lock.

    Raises (every method):
        IndexBusyError: Another process kept the file locked for 10 s.
        IndexDamagedError: SQLite says that the file is not sound.
    """

    def __init__(self, path: str, *, now: Callable[[], float]) -> None:
        self.path = path
        self._now = now
        if path != IN_MEMORY and not os.path.exists(path):
            from hivemind_memory.index.sqlite.lock import create_file

            create_file(path)
        self._connection, self._opened = open_as_named(path, open_connection)
        with translated_errors(path):
            upgrade(self._connection)
            self._tokens_of = make_tokenizer(self._connection)
        self._views: Views | None = None
        self._row_maker: RowMaker | None = None
        self._cache: dict[str, tuple[tuple[int, int], object]] = {}

    def close(self) -> None:
        """Close the file; nothing is lost when this is not called."""
        self._views = None
        self._connection.close()

    def is_still_there(self) -> bool:
        """Return whether the open file is the one that the path names now."""
        if self.path == IN_MEMORY:
            return True
        return self._opened is not None and identity_at(self.path) == self._opened

    @property
    def connection(self) -> apsw.Connection:
        """The connection, for the modules of this engine."""
        return self._connection

    def check(self) -> Iterator[tuple[str, str]]:
        """Yield (what was checked, what is wrong; empty when it is sound)."""
        from hivemind_memory.index.sqlite.check import check_index

        return check_index(self._connection, self.path)

    # -- notes -----------------------------------------------------------------

    def files(self) -> IndexedFiles:
        """Return what the index knows of the folder; cheap when nothing changed."""
        return self._cached("files", lambda: notes.indexed_files(self._connection))

    def version(self) -> object:
        """Return the same object as long as nothing in the index has changed."""
        return self._cached("version", object)

    def scan_digest(self) -> str:
        """Return the digest of the scan that the index is equal to; empty: unknown."""
        return self.get_meta(meta.SCAN)

    def record_scan(self, version: object, digest: str) -> None:
        """Keep the digest of a scan that the index is equal to; see the port."""
        seen, current = self._cache.get("version", ((0, 0), None))
        if current is not version or self.path == IN_MEMORY:
            return
        connection = self._connection
        if meta.record_scan(connection, digest, lambda: version_of(connection) == seen):
            # What was read before is still true: only the digest is new.
            now = (seen[0], connection.total_changes())
            kept = {
                name: found for name, (at, found) in self._cache.items() if at == seen
            }
            self._cache = {name: (now, found) for name, found in kept.items()}

    def writer_lock(self) -> hold_writer_lock:
        """Return a context in which no other process writes; see the port."""
        return hold_writer_lock(self._connection)

    def notes_at(self, paths: Sequence[NotePath]) -> dict[NotePath, IndexedNote]:
        """Return what the index knows of those of some notes that are indexed."""
        with translated_errors(self.path):
            return notes.notes_at(self._connection, paths)

    def touch(self, touched: Sequence[TouchedNote]) -> None:
        """Record new signatures of notes whose bytes are still the indexed ones."""
        with translated_errors(self.path):
            notes.touch(self._connection, touched)

    def replace(
        self,
        batch: Sequence[tuple[Note, FileRecord]],
        may_write: MayWrite | None = None,
    ) -> int:
        """Make the index of some notes equal to them; return the chunks written.

        One transaction for all, and a few for each that is large; see the port.
        """
        # Only a changed note needs what makes rows.
        if self._row_maker is None:
            from hivemind_memory.index.sqlite.rows import RowMaker

            self._row_maker = RowMaker(self._tokens_of)
        from hivemind_memory.index.sqlite.note_parts import replace_part

        rows_of = self._row_maker.rows_of
        written = 0
        small = []
        with translated_errors(self.path):
            rows_by_path = {note.path: rows_of(note) for note, _ in batch}
            large = notes.large_notes(self._connection, rows_by_path)
            for note, file in batch:
                rows = rows_by_path[note.path]
                if note.grown_from or note.path in large:
                    written += replace_part(
                        self._connection, self.path, note, file, rows, may_write
                    )
                else:
                    small.append((note.path, file, rows))
            if small:
                written += notes.replace_notes(self._connection, small, may_write)
        return written

    def remove(
        self, paths: Iterable[NotePath], may_write: MayWrite | None = None
    ) -> None:
        """Remove notes; their vectors stay in the cache."""
        with translated_errors(self.path):
            notes.remove_notes(self._connection, paths, may_write)

    def mark_stale(self, holding: Collection[NotePath] | None = None) -> None:
        """Have notes read and chunked again at the next sync; see the port."""
        with translated_errors(self.path), meta.notes_transaction(self._connection):
            notes.mark_stale(self._connection, holding)

    def has_unfinished(self) -> bool:
        """Return whether a note is half written, by a live process or a killed one."""
        return self._cached(
            "unfinished", lambda: notes.has_unfinished(self._connection)
        )

    def has_outdated(self) -> bool:
        """Return whether other rules than those of today made some rows."""
        return self._cached("outdated", lambda: notes.has_outdated(self._connection))

    def sweep(self) -> None:
        """Delete what a killed process left half written, unless one is at work."""
        if not self.has_unfinished():
            return
        from hivemind_memory.index.sqlite.lock import index_lock

        try:
            with index_lock(self.path, wait_s=0), translated_errors(self.path):
                notes.sweep_unfinished(self._connection)
        except IndexBusyError:
            return  # another process is writing, and sweeps when it is done

    def count_chunks(self) -> int:
        """Return how many chunks can be found."""
        with translated_errors(self.path):
            return notes.count_chunks(self._connection)

    # -- searching -------------------------------------------------------------

    def view(
        self,
        access: Access | None = None,
        search_filter: SearchFilter | None = None,
        today: int = 0,
    ) -> SqliteView:
        """Return the index as a query sees it; see the port."""
        # A sync asks nothing: what searches is loaded with the first query.
        if self._views is None:
            from hivemind_memory.index.sqlite.view import Views

            self._views = Views(
                self._connection, self.path, self._tokens_of, self._cached
            )
        contents = self._contents()
        return self._views.view(
            visibility_filter(access, contents),
            query_filter(access, search_filter, today, contents),
            contents,
        )

    def _contents(self) -> IndexContents:
        """Return what the index holds, as far as filters care."""
        return self._cached("contents", lambda: IndexContents(self._connection))

    def vector_store(self) -> SqliteVectorStore:
        """Return the store that vectors are written to."""
        from hivemind_memory.index.sqlite.vector_store import SqliteVectorStore

        return SqliteVectorStore(self._connection, self.path, self._now)

    def fingerprints(self) -> list[str]:
        """Return the fingerprints of all spaces."""
        with translated_errors(self.path):
            rows = self._connection.execute("SELECT fingerprint FROM spaces")
            return [name for (name,) in rows]

    def spaces(self) -> dict[str, int]:
        """Return fingerprint -> chunks with a vector, for spaces that have any."""
        from hivemind_memory.index.sqlite.stats import count_spaces

        return self._cached("spaces", lambda: count_spaces(self._connection))

    def snapshot(self) -> read_transaction:
        """Return a context in which all reads see one state of the index."""
        return read_transaction(self._connection)

    def chunk_locations(self, chunks: Sequence[int]) -> dict[int, ChunkLocation]:
        """Return where chunks stand; deleted ones are left out."""
        with translated_errors(self.path):
            from hivemind_memory.index.sqlite.words import chunk_locations

            return chunk_locations(self._connection, chunks)

    def texts(
        self, chunks: Sequence[int], access: Access | None = None
    ) -> dict[int, tuple[str, str]]:
        """Return chunk -> (text, headings, one a line), as far as *access* goes."""
        with translated_errors(self.path):
            from hivemind_memory.index.sqlite.words import texts_of

            visible = visibility_filter(access, self._contents())
            return texts_of(self._connection, chunks, visible)

    def hit_source(self) -> SqliteHits:
        """Return the source of hits without a query, and of details of hits."""
        from hivemind_memory.index.sqlite.hits import SqliteHits

        return SqliteHits(self._connection, self.path, self._contents, self._cached)

    # -- memories --------------------------------------------------------------

    def lists(self) -> SqliteLists:
        """Return what lists memories and notes a part at a time."""
        from hivemind_memory.index.sqlite.lists import SqliteLists

        return SqliteLists(self._connection, self.path, self._cached)

    def memories(
        self,
        *,
        scopes: frozenset[str] | None = None,
        statuses: Collection[int] | None = None,
        **equal: str | None,
    ) -> list[MemoryRow]:
        """Return the memories that fit, newest first.

        Args:
            scopes: Scopes to look in; None: all.
            statuses: Statuses that fit; None: any.
            equal: Column of ``MemoryRow`` -> what it must be; None: anything.
        """
        from hivemind_memory.index.sqlite.memories import select_memories

        with translated_errors(self.path):
            return select_memories(
                self._connection, scopes=scopes, statuses=statuses, **equal
            )

    def resolve_ref(
        self, target: str, *, scopes: frozenset[str] | None, near: str = ""
    ) -> MemoryRow | None:
        """Return the note that an id, a key, a path or a name means."""
        from hivemind_memory.index.sqlite.memories import find_ref

        with translated_errors(self.path):
            return find_ref(self._connection, target, scopes=scopes, near=near)

    def edges_of(self, path: str, *, scopes: frozenset[str] | None) -> list[EdgeRow]:
        """Return the edges that begin or end at a note; see the port."""
        from hivemind_memory.index.sqlite.memories import select_edges

        with translated_errors(self.path):
            return select_edges(self._connection, path, scopes=scopes)

    def entry_path(self, entry_id: str, scopes: frozenset[str] | None) -> str:
        """Return the note in some scopes that holds an entry; empty: none does."""
        from hivemind_memory.index.sqlite.memories import path_of_entry

        with translated_errors(self.path):
            return path_of_entry(self._connection, entry_id, scopes=scopes)

    def scopes_with(self, own_id: str) -> set[str]:
        """Return the scopes in which a memory or an entry has an id."""
        from hivemind_memory.index.sqlite.memories import scopes_with

        with translated_errors(self.path):
            return scopes_with(self._connection, own_id)

    def has_strong_edges(self) -> bool:
        """Return whether any memory supersedes or contradicts another."""
        return self._contents().has_strong_edges

    def strong_edges(self, paths: Collection[str], access: Access) -> list[Edge]:
        """Return (path, kind, target) for what notes supersede or contradict."""
        from hivemind_memory.index.sqlite.memories import strong_edges

        with translated_errors(self.path):
            return strong_edges(self._connection, paths, scopes=access.scopes)

    # -- what processes share --------------------------------------------------

    def get_meta(self, key: str) -> str:
        """Return the value under *key*; empty: there is none."""
        with translated_errors(self.path):
            return meta.get_meta(self._connection, key)

    def set_meta(self, key: str, value: str) -> None:
        """Set *value* under *key* for all processes."""
        with translated_errors(self.path):
            meta.set_meta(self._connection, key, value)

    def _cached(self, name: str, compute: Callable[[], T]) -> T:
        """Return what *compute* returns, computed again only after the file changed."""
        with translated_errors(self.path):
            seen = version_of(self._connection)
            kept = self._cache.get(name)
            if kept is None or kept[0] != seen:
                kept = self._cache[name] = (seen, compute())
            return kept[1]  # type: ignore[return-value]  # of the same name
