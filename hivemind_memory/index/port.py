"""The port of the index: what the rest of the program may ask of an engine.

Nothing outside ``index/`` imports an engine. ``index/choose_engine.py`` chooses one;
every engine passes the contract suite in ``tests/index/contract.py``.

Every method of an index may raise:
    IndexBusyError: Another process kept the index locked for 10 s.
    IndexDamagedError: The engine says that its storage is not sound.
"""

from __future__ import annotations

from hivemind_memory.model.late_typing import NamedTuple, Protocol
from hivemind_memory.model.ports import HitSource, ListSource, MemoryIndex, VectorStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from hivemind_memory.model import matches
    from hivemind_memory.model.filters import Access, SearchFilter
    from hivemind_memory.model.matches import ChunkLocation, VectorMatches, WordMatches
    from hivemind_memory.model.memories import MemoryHeader
    from hivemind_memory.model.note import Note
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.snapshot import FileSignature, IndexedFiles
    from hivemind_memory.model.terms import QueryTerm

    T = TypeVar("T")
    MayWrite = Callable[[NotePath, "FileSignature | None", str], bool]
    """Decides inside the write transaction whether a note is written, given its
    signature and digest in the index by then (None and empty: it is not there). So an
    older reading never overwrites a newer one."""


MADE = "made"
"""Key of a value that is another one once a rebuild has replaced the index."""


class FileRecord(NamedTuple):
    """What the index records of one note besides its chunks."""

    signature: FileSignature
    digest: str
    """SHA-256 of the bytes."""

    is_settled: bool
    """Whether the signature alone will prove that the file has not changed."""

    day: int | None
    """Days since the epoch; None: it does not age."""

    scope: str = ""
    header: MemoryHeader | None = None
    """What its front matter says; None: nothing."""

    is_utf8: bool = True
    """Whether all of its bytes are UTF-8."""


class TouchedNote(NamedTuple):
    """A note whose signature has changed, and its bytes have not."""

    path: NotePath
    signature: FileSignature
    digest: str
    """SHA-256 of the bytes."""

    is_settled: bool
    """See ``FileRecord``."""


class IndexedNote(NamedTuple):
    """What the index knows of the bytes of one note."""

    signature: FileSignature
    digest: str
    """SHA-256 of the bytes; empty: they have to be read again."""


class IndexCounts(NamedTuple):
    """What the index holds of some memories."""

    chunks: int = 0
    """Each with its postings."""

    vectors: int = 0
    """Vectors in the cache, in all spaces."""

    free_pages: int = 0
    """Pages that hold deleted content only."""


class VacuumResult(NamedTuple):
    """What a vacuum removed, and what it could not."""

    vectors: int = 0
    """Vectors removed from the cache."""

    free_pages: int = 0
    files: int = 0
    """Damaged or half-built indexes that lay beside the index."""

    problems: tuple[tuple[str, str], ...] = ()
    """(file, why deleted content may still be in it)."""


class NotesIndex(Protocol):
    """The side of the index that a sync writes: whole notes."""

    def files(self) -> IndexedFiles:
        """Return what the index knows of the folder; cheap when nothing changed."""

    def version(self) -> object:
        """Return the same object as long as nothing in the index has changed."""

    def scan_digest(self) -> str:
        """Return the digest of the scan that the index is equal to; empty: unknown.

        Any later change to what the index knows of a note makes it empty.
        """

    def record_scan(self, version: object, digest: str) -> None:
        """Keep the digest of a scan that the index is equal to, every note settled.

        Does nothing when the index has changed since *version*, or is busy.
        """

    def writer_lock(self) -> AbstractContextManager[None]:
        """Return a context in which no other process writes.

        Processes that want to write enter it in the order they came. To write needs no
        such context: it only keeps others from the same work meanwhile. It may end
        early, when a large note is written.
        """

    def notes_at(self, paths: Sequence[NotePath]) -> dict[NotePath, IndexedNote]:
        """Return what the index knows of those of some notes that are indexed."""

    def touch(self, touched: Sequence[TouchedNote]) -> None:
        """Record new signatures of notes whose bytes are still the indexed ones.

        Skips a note of which the index has other bytes by now.

        Args:
            touched: Few enough notes for one transaction.
        """

    def replace(
        self,
        batch: Sequence[tuple[Note, FileRecord]],
        may_write: MayWrite | None = None,
    ) -> int:
        """Make the index of some notes equal to them; return the chunks written.

        Readers see a note as it was or as it is, never half of it.

        Args:
            batch: Few enough notes for some 50 ms of work. One that has grown is
                written only on what it has grown from, whose chunks stay.
            may_write: Decides about each note in the transaction that writes it.
        """

    def remove(
        self, paths: Iterable[NotePath], may_write: MayWrite | None = None
    ) -> None:
        """Remove notes; their vectors stay in the cache."""

    def mark_stale(self, holding: Collection[NotePath] | None = None) -> None:
        """Have these and all with a masked secret read again; None: every note."""

    def has_unfinished(self) -> bool:
        """Return whether a note is half written, by a live process or a killed one."""

    def has_outdated(self) -> bool:
        """Return whether other rules or settings than those of today made some rows."""

    def sweep(self) -> None:
        """Delete what a killed process left half written, unless one is writing."""

    def count_chunks(self) -> int:
        """Return how many chunks can be found."""


class Vocabulary(Protocol):
    """The words of the notes that one caller may see, as tokens."""

    def is_seen(self, token: str) -> bool:
        """Return whether a token is in something that the caller may see."""

    def longer_words(self, part: str, *, limit: int, anywhere: bool) -> list[str]:
        """Return words of the notes that begin with *part*, the most common first.

        Args:
            part: A word that no note holds.
            limit: Words at most.
            anywhere: Words that contain *part* elsewhere, too: reads every token.
        """

    def near_tokens(self, word: str, parts: Sequence[str]) -> list[tuple[str, int]]:
        """Return the tokens that a misspelled *word* may be, and their chunks.

        They contain one of some *parts* of the word. Some may be hidden from the
        caller, see ``is_seen``.
        """

    def inflections(self, word: str, *, limit: int) -> list[str]:
        """Return *word* with other endings, as notes have it, the commonest first."""

    def shortest_spelling(self, token: str) -> str:
        """Return the shortest word of the notes that becomes *token*, a stem."""


class IndexView(Protocol):
    """The index as one query sees it: only what matches, counted over what is visible.

    What a ranking counts is what the caller may see, so that no score reveals the rest.
    """

    def find_words(
        self, terms: Sequence[QueryTerm], *, limit: int, only_if_all_known: bool = False
    ) -> WordMatches:
        """Return the best candidates, none if a word must be known and is not."""

    def has_other_scopes(self) -> bool:
        """Return whether any note belongs to a scope that is not the global one."""

    def find_near_words(
        self, words: WordMatches, scopes: Collection[str], *, limit: int
    ) -> Sequence[matches.WordCandidate]:
        """Return active candidates in *scopes* that *words* lacks."""

    def find_vectors(
        self, fingerprint: str, query: bytes, *, limit: int, also: Sequence[int]
    ) -> VectorMatches | None:
        """Return cosines of the best *limit* chunks, and of the chunks *also*.

        Args:
            fingerprint: The space to search.
            query: Vector of the query, of that space.
            limit: Chunks at most, by their own cosine.
            also: Chunks that the words retriever found.

        Returns:
            None when the space is empty or the query has another length.
        """

    def vocabulary(self) -> Vocabulary:
        """Return the words of what the caller may see."""

    def pending_chunks(self, fingerprint: str) -> int:
        """Return how many visible chunks have no vector in a space yet."""

    def pending_claims(self) -> int:
        """Return how many visible claims are pending in an inbox."""

    def tag_counts(self) -> dict[str, int]:
        """Return tag -> how many matching notes and entries have it."""


class SearchIndex(Protocol):
    """The side of the index that a search reads."""

    def snapshot(self) -> AbstractContextManager[None]:
        """Return a context in which all reads see one state of the index."""

    def view(
        self,
        access: Access | None = None,
        search_filter: SearchFilter | None = None,
        today: int = 0,
    ) -> IndexView:
        """Return the index as a query sees it.

        Args:
            access: What its caller may see; None: everything.
            search_filter: What it asks for; None: anything, expired and pending too.
            today: Days since the epoch.
        """

    def chunk_locations(self, chunks: Sequence[int]) -> dict[int, ChunkLocation]:
        """Return where chunks stand; deleted ones are left out."""

    def texts(
        self, chunks: Sequence[int], access: Access | None = None
    ) -> dict[int, tuple[str, str]]:
        """Return chunk -> (text, headings, one a line), as far as *access* goes."""

    def hit_source(self) -> HitSource:
        """Return the source of hits without a query, and of details of hits."""

    def lists(self) -> ListSource:
        """Return what lists memories and notes a part at a time."""


class VectorIndex(VectorStore, Protocol):
    """Where vectors are kept, and how many there are."""

    def plan(self, fingerprint: str) -> None:
        """List the texts of every chunk, and link those whose vector is cached."""

    def known_texts(self, fingerprint: str, limit: int) -> list[tuple[str, bytes]]:
        """Return at most *limit* (text, vector) of that space."""

    def near_notes(
        self, fingerprint: str, paths: Collection[str], least: float
    ) -> list[tuple[str, str]]:
        """Return the pairs of some notes whose cosine is at least *least*."""

    def count_vectors(self, fingerprint: str) -> int:
        """Return how many chunks have a vector in that space."""


class Index(NotesIndex, SearchIndex, MemoryIndex, Protocol):
    """One open index. Not for several threads at once: callers hold a lock."""

    @property
    def path(self) -> str:
        """The file that holds it, for messages."""

    def close(self) -> None:
        """Close it; nothing is lost when this is not called."""

    def is_still_there(self) -> bool:
        """Return whether this is still the index that the next opening would get."""

    def check(self) -> Iterator[tuple[str, str]]:
        """Yield (what was checked, what is wrong; empty when it is sound)."""

    # -- vectors ---------------------------------------------------------------

    def vector_store(self) -> VectorIndex:
        """Return the store that vectors are written to."""

    def fingerprints(self) -> list[str]:
        """Return the fingerprints of all spaces."""

    def spaces(self) -> dict[str, int]:
        """Return fingerprint -> chunks with a vector, for spaces that have any."""

    # -- edges and entries, beside ``MemoryIndex`` -----------------------------

    def entry_path(self, entry_id: str, scopes: frozenset[str] | None) -> str:
        """Return the note in some scopes that holds an entry; empty: none does."""

    def has_strong_edges(self) -> bool:
        """Return whether any memory supersedes or contradicts another."""

    def strong_edges(
        self, paths: Collection[str], access: Access
    ) -> list[tuple[str, str, str]]:
        """Return (path, kind, target) for what some notes supersede or contradict.

        A target that is not an id is the path of the note that it means, if there is
        one. A pending claim supersedes and contradicts nothing.
        """

    # -- what processes share --------------------------------------------------

    def get_meta(self, key: str) -> str:
        """Return the value under *key*; empty: there is none."""

    def set_meta(self, key: str, value: str) -> None:
        """Set *value* under *key* for all processes."""
