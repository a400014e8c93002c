"""Memory: write, sync, rebuild, search, read, list, status. What every door calls."""

from __future__ import annotations

from dataclasses import replace
from threading import RLock

from hivemind_memory.errors import IndexUnusableError, UsageError
from hivemind_memory.memory import asking
from hivemind_memory.memory.opening import open_index
from hivemind_memory.memory.syncing import ChunkSettings, Syncer
from hivemind_memory.memory.vectoring import QuestionVector, VectorSide
from hivemind_memory.model.query import SearchAnswer, SearchReport
from hivemind_memory.notes.folder import NotesFolder
from hivemind_memory.notes.paths import parse_note_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.embeddings.provider import Provider
    from hivemind_memory.index.sqlite.index import SqliteIndex
    from hivemind_memory.memory.opening import OpenIndex
    from hivemind_memory.memory.places import Places
    from hivemind_memory.memory.syncing import Progress
    from hivemind_memory.model.answers import (
        Diagnosis,
        EmbedResult,
        ListedNote,
        MemoryStatus,
        Passage,
        SyncResult,
        Written,
    )
    from hivemind_memory.model.note import NotePath
    from hivemind_memory.model.query import Query

ANSWER_S = 1.8
"""Every question is answered within 2 s; so long may its vector take."""

SECONDS_PER_DAY = 86_400


class Clocks:
    """Where the time comes from; tests bring their own."""

    __slots__ = ("local_iso", "local_offset_s", "now", "randomness", "stopwatch")

    def __init__(
        self,
        *,
        now: Callable[[], float],
        stopwatch: Callable[[], float],
        local_iso: Callable[[float], str],
        local_offset_s: Callable[[float], int],
        randomness: Callable[[], bytes],
    ) -> None:
        self.now = now
        """Seconds since the epoch, UTC."""
        self.stopwatch = stopwatch
        """Seconds on a clock that never goes back."""
        self.local_iso = local_iso
        """A moment as ISO 8601 in the user's time zone, with its offset."""
        self.local_offset_s = local_offset_s
        """The offset of the user's time zone at a moment."""
        self.randomness = randomness
        """Ten random bytes."""

    def today(self) -> int:
        """Return the local day, in days since the epoch."""
        now = self.now()
        return int((now + self.local_offset_s(now)) // SECONDS_PER_DAY)


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
        self._vectors = VectorSide(provider, clocks.now)
        chunking = ChunkSettings(
            limit_chars=settings.chunk_chars, overlap_chars=settings.chunk_overlap_chars
        )
        self._syncer = Syncer(self._folder, places.journal, chunking, clocks.now)
        self._open: OpenIndex | None = None
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
            if self._open is not None:
                self._open.index.close()
                self._open = None

    # -- asking ----------------------------------------------------------------

    def search(self, query: Query) -> SearchAnswer:
        """Return the hits for *query*, best first, and how strong the answer is.

        Never raises because of what the question holds. An index that cannot be used
        is replaced for this answer by one in memory, and the report says so.
        """
        started = self._clocks.stopwatch()
        if not self.settings.enabled:
            return SearchAnswer(hits=(), report=_off())
        with self._lock:
            opened = self._opened()
            freshness = self._freshen(opened.index)
            settings = self._search_settings
            if query.min_score is not None:
                settings = replace(settings, min_score=query.min_score)
            question = self._question_vector(opened.index, query.text, started)
            lanes = asking.look_up(opened.index, query.text, question)
            answer = asking.answer(
                opened.index,
                query,
                lanes,
                settings=settings,
                today=self._clocks.today(),
            )
            report = self._report(opened, answer, lanes, question, freshness)
        took_ms = 1000 * (self._clocks.stopwatch() - started)
        return replace(answer, report=replace(report, took_ms=took_ms))

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

        with self._lock:
            index = self._opened().index
            self._freshen(index)
            counts = index.chunk_counts()
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
        from hivemind_memory.model.answers import Written
        from hivemind_memory.model.note import Provenance

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
        return replace(result, took_s=self._clocks.stopwatch() - started)

    def rebuild(self, progress: Progress | None = None) -> SyncResult:
        """Make the index again from the notes alone; the old one answers meanwhile."""
        from hivemind_memory.memory.rebuilding import rebuild

        started = self._clocks.stopwatch()
        with self._lock:
            self.close()
            result = rebuild(self.places, self._syncer, self._clocks.now, progress)
        return replace(result, took_s=self._clocks.stopwatch() - started)

    def embed_pending(
        self,
        progress: Progress | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> EmbedResult:
        """Give a vector to every text that has none; cheap when there is nothing to do.

        Holds no lock of this memory: other threads search and sync meanwhile.
        """
        from hivemind_memory.model.answers import EmbedResult

        if self._provider.is_off:
            return EmbedResult()
        opened = open_index(self.places, self._clocks.now)
        try:
            return self._vectors.fill(
                opened.index, progress=progress, should_stop=should_stop
            )
        finally:
            opened.index.close()

    # -- looking after ---------------------------------------------------------

    def status(self) -> MemoryStatus:
        """Return what there is, who leads, and what is missing."""
        from hivemind_memory.memory.reporting import status_of

        with self._lock:
            return status_of(
                self.places,
                self._opened(),
                self._syncer,
                self._provider,
                self._clocks.now(),
            )

    def diagnose(self) -> Diagnosis:
        """Look for what is wrong, and say what to do."""
        from hivemind_memory.memory.diagnosing import diagnose

        with self._lock:
            self.close()
            return diagnose(
                self.places, self.settings, self._provider, self._clocks.now
            )

    # -- inside ----------------------------------------------------------------

    def _opened(self) -> OpenIndex:
        """Return the open index, opened anew if its file is another one now."""
        if self._open is not None and not self._open.index.is_still_there():
            self.close()
        if self._open is None:
            self._open = open_index(self.places, self._clocks.now)
        return self._open

    def _freshen(self, index: SqliteIndex) -> tuple[int, int, str]:
        """Bring the index in step before an answer.

        Returns:
            Notes that it still lacks, files passed over, and a warning.
        """
        self._syncer.recover()
        changes, skipped = self._syncer.look_for_changes(index.files())
        if changes.is_empty and self._syncer.cuts_like(index):
            return 0, len(skipped), ""
        try:
            result = self._syncer.sync(index)
        except IndexUnusableError as error:
            return len(changes.changed) + len(changes.gone), len(skipped), str(error)
        return 0, len(result.skipped), ""

    def _index_one(self, path: NotePath) -> bool:
        """Index one note right after a write; return whether that worked."""
        try:
            self._syncer.apply_one(self._opened().index, path)
        except IndexUnusableError:
            return False  # it is saved all the same, and the next look indexes it
        return True

    def _question_vector(
        self, index: SqliteIndex, text: str, started: float
    ) -> QuestionVector:
        """Return the vector of the question, or why there is none."""
        if self._provider.is_off:
            return QuestionVector(None, "", "no embedding provider is chosen")
        left_s = ANSWER_S - (self._clocks.stopwatch() - started)
        return self._vectors.of_question(index, text, timeout_s=left_s)

    def _report(
        self,
        opened: OpenIndex,
        answer: SearchAnswer,
        lanes: asking.Lanes,
        question: QuestionVector,
        freshness: tuple[int, int, str],
    ) -> SearchReport:
        """Complete the report with what is known only here."""
        stale, skipped, warning = freshness
        warnings = tuple(one for one in (opened.warning, warning) if one)
        report = answer.report
        reason = question.reason if report.mode == "keyword" else ""
        pending = 0
        if report.mode == "hybrid":
            pending = opened.index.vector_store().count_pending_chunks(
                question.fingerprint
            )
        suggestions: tuple[str, ...] = ()
        if not answer.hits:
            suggestions = asking.suggest(opened.index, lanes.words)
        return replace(
            report,
            reason=reason,
            is_fresh=not stale,
            stale_notes=stale,
            skipped_notes=skipped,
            pending_vectors=pending,
            suggestions=suggestions,
            why_empty=_why_empty(lanes, report) if not answer.hits else "",
            warnings=warnings,
        )


def _off() -> SearchReport:
    """Return the report of a memory that is switched off."""
    reason = "the memory is switched off: `hm config set enabled true` switches it on"
    return SearchReport(mode="off", reason=reason, is_fresh=True, why_empty=reason)


def _why_empty(lanes: asking.Lanes, report: SearchReport) -> str:
    """Return why nothing was found, in one sentence."""
    below = report.cut.below_min_score
    if below:
        noun = "chunk was" if below == 1 else "chunks were"
        return f"{below} {noun} found, none relevant enough (see --min-score)"
    if not lanes.words.asked:
        return "the question holds no word to look for"
    return "no note holds a word of the question"
