"""Memory: write, sync, rebuild, search, read, list, status. What every door calls."""

from __future__ import annotations

from threading import RLock

from hivemind_memory.errors import (
    HivemindError,
    IndexTooNewError,
    IndexUnusableError,
    UsageError,
)
from hivemind_memory.memory.opening import open_again, open_index, stand_in
from hivemind_memory.memory.syncing import ChunkSettings, Syncer
from hivemind_memory.model.value import replaced
from hivemind_memory.notes.folder import NotesFolder
from hivemind_memory.notes.paths import parse_note_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self, TypeVar

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.embeddings.provider import Provider
    from hivemind_memory.memory.clocks import Clocks
    from hivemind_memory.memory.freshening import Freshener
    from hivemind_memory.memory.opening import OpenIndex
    from hivemind_memory.memory.places import Places
    from hivemind_memory.memory.syncing import Progress
    from hivemind_memory.memory.vectoring import VectorSide
    from hivemind_memory.model.answers import (
        Diagnosis,
        ListedNote,
        MemoryStatus,
        Passage,
    )
    from hivemind_memory.model.matches import QuestionVector
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.outcomes import EmbedResult, SyncResult, Written
    from hivemind_memory.model.query import Query, SearchAnswer

    T = TypeVar("T")

_OFF = "the memory is switched off: `hm config set enabled true` switches it on"

ANSWER_S = 1.8
"""Every question is answered within 2 s; so long may its vector take."""


class Memory:
    """The notes folder with its index. Threads may share one."""

    def __init__(
        self, places: Places, settings: Settings, provider: Provider, clocks: Clocks
    ) -> None:
        self.places = places
        self.settings = settings
        self._provider = provider
        self._clocks = clocks
        self._lock = RLock()
        self._folder = NotesFolder(places.notes)
        self._vectors: VectorSide | None = None
        chunking = ChunkSettings(
            limit_chars=settings.chunk_chars, overlap_chars=settings.chunk_overlap_chars
        )
        self._syncer = Syncer(self._folder, places.journal, chunking, clocks.now)
        self._open: OpenIndex | None = None
        self._fresh: Freshener | None = None
        self._search_settings = settings.search_settings()

    def __enter__(self) -> Self:
        """Return the memory."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the memory."""
        self.close()

    def close(self) -> None:
        """Close the index; nothing is lost when this is not called."""
        with self._lock:
            if self._vectors is not None:
                self._vectors.close()
            self._close_index()

    # -- asking ----------------------------------------------------------------

    def search(self, query: Query) -> SearchAnswer:
        """Return the hits for *query*, best first, and how strong the answer is.

        Never raises because of what the question holds. An index that cannot be used
        is replaced for this answer by one in memory, and the report says so.
        """
        # Loaded by the first question: a sync needs nothing of it.
        from hivemind_memory.memory.asking import ask
        from hivemind_memory.model.query import SearchAnswer, SearchReport

        if not self.settings.enabled:
            report = SearchReport(
                mode="off", reason=_OFF, why_empty=_OFF, is_fresh=True
            )
            return SearchAnswer(hits=(), report=report)

        started = self._clocks.stopwatch()
        question = self._question_vector(query.text, started)

        def answer(opened: OpenIndex) -> SearchAnswer:
            return ask(
                query,
                opened,
                self._freshener(),
                question=question,
                settings=self._search_settings,
                clocks=self._clocks,
                started=started,
            )

        with self._lock:
            return self._answered(answer)

    def read(
        self, path: str, *, first_line: int = 1, line_count: int | None = None
    ) -> Passage:
        """Return lines of a note, from *first_line* on; all of them without a count.

        Raises:
            NotePathError: *path* is not a plain relative name of a note.
            NoteNotFoundError: There is no such note.
            UsageError: A number is below what it may be.
        """
        from hivemind_memory.memory.reading import read_passage

        return read_passage(
            self._folder, path, first_line=first_line, line_count=line_count
        )

    def list(self) -> list[ListedNote]:
        """Return every note, sorted by path."""
        from hivemind_memory.model.answers import ListedNote

        def count(opened: OpenIndex) -> dict[str, int]:
            self._freshener().freshen(opened.index)
            return opened.index.chunk_counts()

        with self._lock:
            counts = self._answered(count)
            stamps = self._folder.look().stamps
        return [
            ListedNote(
                path=path,
                size_bytes=stamp[2],
                updated_at=self._clocks.local_iso(stamp[0] / 1e9),
                chunk_count=counts.get(path, 0),
            )
            for path, stamp in sorted(stamps.items())
        ]

    # -- writing ---------------------------------------------------------------

    def write(
        self,
        content: str,
        *,
        file: str = "",
        by: str = "",
        session: str = "",
        source: str = "agent",
    ) -> Written:
        """Append *content* to a note, today's if none is named; saved when it returns.

        Raises:
            NotSavedError: Nothing was saved, and why.
            NotePathError: *file* is not a plain relative name of a note.
            UsageError: There is nothing to save.
        """
        from hivemind_memory.memory.writing import write_entry
        from hivemind_memory.model.note import Provenance
        from hivemind_memory.model.outcomes import Written

        if not self.settings.enabled:
            raise UsageError(
                "the memory is switched off (`enabled` is false): nothing was saved",
                hint="`hm config set enabled true` switches it on",
            )
        now = self._clocks.now()
        at = self._clocks.local_iso(now)
        path = parse_note_path(file or f"{at[:10]}.md")
        provenance = Provenance(id="", at=at, by=by, session=session, source=source)
        with self._lock:
            entry = write_entry(
                self._folder,
                self.places.journal,
                self._clocks,
                content,
                provenance,
                path=path,
            )
            is_indexed = self._index_one(path)
        return Written(
            path=entry.path,
            id=entry.id,
            first_line=entry.first_line,
            last_line=entry.last_line,
            is_indexed=is_indexed,
            warnings=() if is_indexed else ("the next search indexes it",),
        )

    # -- keeping in step -------------------------------------------------------

    def sync(self, progress: Progress | None = None) -> SyncResult:
        """Make the index equal to the folder."""
        started = self._clocks.stopwatch()
        with self._lock:
            result = self._syncer.sync(self._opened().index, progress=progress)
        return replaced(result, took_s=self._clocks.stopwatch() - started)

    def rebuild(self, progress: Progress | None = None) -> SyncResult:
        """Make the index again from the notes alone; the old one answers meanwhile."""
        from hivemind_memory.memory.rebuilding import rebuild

        started = self._clocks.stopwatch()
        with self._lock:
            self._close_index()
            result = rebuild(self.places, self._syncer, self._clocks.now, progress)
        return replaced(result, took_s=self._clocks.stopwatch() - started)

    def embed_pending(
        self,
        progress: Progress | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> EmbedResult:
        """Give a vector to every text that has none; cheap when there is nothing to do.

        Holds no lock of this memory: other threads search and sync meanwhile.
        """
        from hivemind_memory.model.outcomes import EmbedResult

        if self._provider.is_surely_absent:
            return EmbedResult()
        opened = open_index(self.places, self._clocks.now)
        try:
            return self._vector_side().fill(
                opened.index, progress=progress, should_stop=should_stop
            )
        finally:
            opened.index.close()

    # -- looking after ---------------------------------------------------------

    def status(self) -> MemoryStatus:
        """Return what there is, who leads, and what is missing."""
        from hivemind_memory.memory.reporting import status_of

        def report(opened: OpenIndex) -> MemoryStatus:
            return status_of(
                self.places,
                opened,
                self._syncer,
                self._provider,
                self._clocks.now(),
            )

        with self._lock:
            return self._answered(report)

    def diagnose(self) -> Diagnosis:
        """Look for what is wrong, and say what to do."""
        from hivemind_memory.memory.diagnosing import diagnose

        with self._lock:
            self._close_index()
            return diagnose(
                self.places, self.settings, self._provider, self._clocks.now
            )

    # -- inside ----------------------------------------------------------------

    def _close_index(self) -> None:
        """Close the index, to open it anew."""
        if self._fresh is not None:
            self._fresh.close()
            self._fresh = None
        if self._open is not None:
            self._open.index.close()
            self._open = None

    def _opened(self) -> OpenIndex:
        """Return the open index, opened anew if its file is another one now."""
        if self._open is not None and not self._open.index.is_still_there():
            self._close_index()
        if self._open is None:
            self._open = open_index(self.places, self._clocks.now)
        elif self._open.warning:
            self._open = open_again(self.places, self._clocks.now, self._open)
        return self._open

    def _answered(self, answer: Callable[[OpenIndex], T]) -> T:
        """Return an answer of the index, or of a stand-in if it cannot give one."""
        try:
            return answer(self._opened())
        except IndexTooNewError:
            raise
        except IndexUnusableError as error:
            # What is damaged within shows when it is read, and not before.
            self._close_index()
            self._open = stand_in(self.places, self._clocks.now, error)
            return answer(self._open)

    def _freshener(self) -> Freshener:
        """Return what brings the index in step before an answer."""
        from hivemind_memory.memory.freshening import Freshener

        if self._fresh is None:
            self._fresh = Freshener(self._syncer, self.places, self._clocks.stopwatch)
        return self._fresh

    def _index_one(self, path: NotePath) -> bool:
        """Index one note right after a write; return whether that worked."""
        try:
            return self._syncer.apply_one(self._opened().index, path)
        except HivemindError:
            return False  # it is saved all the same, and the next look indexes it

    def _question_vector(self, text: str, started: float) -> QuestionVector:
        """Return the vector of a question that was asked at *started*.

        Other threads search and write while the provider is waited for.
        """
        from hivemind_memory.memory.asking import NO_PROVIDER

        if self._provider.is_off:
            return NO_PROVIDER
        from hivemind_memory.memory.vectoring import Unasked

        side = self._vector_side()
        with self._lock:
            planned = self._answered(lambda opened: side.plan(opened.index, text))
        if not isinstance(planned, Unasked):
            return planned
        left_s = ANSWER_S - (self._clocks.stopwatch() - started)
        answer = side.ask(planned, timeout_s=left_s)
        with self._lock:
            return self._answered(
                lambda opened: side.settle(opened.index, planned, answer)
            )

    def _vector_side(self) -> VectorSide:
        """Return what makes vectors, loaded when the first is wanted."""
        from hivemind_memory.memory.vectoring import VectorSide

        if self._vectors is None:
            self._vectors = VectorSide(self._provider, self._clocks.now)
        return self._vectors
