"""Memory: write, sync, search, read, list, status, for commands and tools alike."""

from __future__ import annotations

from hivemind_memory.access.rules import (
    OWNER,
    access_of,
    check_enabled,
    home_scope,
    may_write,
    scope_named,
)
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.scan import BYTES_PER_MB
from hivemind_memory.memory.index_handle import IndexHandle
from hivemind_memory.memory.sync import ChunkSettings, Syncer
from hivemind_memory.model.memories import FORGOTTEN
from hivemind_memory.model.scope import GLOBAL, scope_of
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from hivemind_memory.access.rules import Caller
    from hivemind_memory.config.settings import Settings
    from hivemind_memory.curation.service import Curation
    from hivemind_memory.files.places import Places
    from hivemind_memory.memory.embed import EmbeddingService
    from hivemind_memory.memory.index_handle import Clocks, OpenIndex
    from hivemind_memory.memory.sync import Progress
    from hivemind_memory.model.curation import (
        ForgetResult,
        MemorySelector,
        NewMemory,
        SaveResult,
        TextCandidate,
    )
    from hivemind_memory.model.filters import SearchFilter
    from hivemind_memory.model.matches import QueryVector
    from hivemind_memory.model.memories import MemoryRow
    from hivemind_memory.model.memory_types import MemoryType
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.query import Query, SearchAnswer
    from hivemind_memory.model.results import (
        Diagnosis,
        EmbedResult,
        ListedNote,
        MemoryStatus,
        NoteLines,
        SyncResult,
        WriteResult,
    )
    from hivemind_memory.providers.provider import Provider
    from hivemind_memory.state.file import StateFile


_OFF = "the memory is switched off: `hm config set enabled true` switches it on"

ANSWER_TIMEOUT_S = 1.8
"""Every question is answered within 2 s; so long may its vector take."""


class Memory:
    """The notes folder with its index. Threads may share one."""

    def __init__(
        self,
        places: Places,
        settings: Settings,
        provider: Provider,
        clocks: Clocks,
        *,
        caller: Caller = OWNER,
        find_project: Callable[[], str] = str,
    ) -> None:
        """Take the parts; nothing is opened before its first use.

        Args:
            places: Where the files of the memory are.
            settings: The options.
            provider: Makes vectors.
            clocks: Tell the time.
            caller: Who asks.
            find_project: Returns the scope of the project of a person's shell; empty:
                none. Called for a write only, since it may have to ask git.
        """
        self.places = places
        self.settings = settings
        self.caller = caller
        self.origin = "agent"
        """Where the caller comes from; ``hm`` says person or program."""
        self._find_project = find_project
        self._access = access_of(caller, settings.private_scopes())
        self._provider = provider
        self.clocks = clocks
        self.folder = NotesFolder(
            places.notes, max_note_bytes=settings.max_note_mb * BYTES_PER_MB
        )
        self._vectors: EmbeddingService | None = None
        self._state: StateFile | None = None
        self.chunking = ChunkSettings(
            limit_chars=settings.chunk_chars, overlap_chars=settings.chunk_overlap_chars
        )
        self.types = _own_types(settings)
        self.syncer = Syncer(
            self.folder, places.journal, self.chunking, clocks.now, self.types
        )
        self.index_handle = IndexHandle(places, self.syncer, clocks)
        self.lock = self.index_handle.lock
        self._search_settings = settings.search_settings()

    def __enter__(self) -> Self:
        """Return the memory."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the memory."""
        self.close()

    def close(self) -> None:
        """Close the index; nothing is lost when this is not called."""
        with self.lock:
            if self._vectors is not None:
                self._vectors.close()
            if self._state is not None:
                self._state.close()
            self.index_handle.close()

    def as_caller(self, caller: Caller) -> Memory:
        """Return the same memory as another caller sees it, to be closed by itself."""
        return Memory(
            self.places,
            self.settings,
            self._provider,
            self.clocks,
            caller=caller,
            find_project=self._find_project,
        )

    def today(self) -> int:
        """Return the local day, in days since the epoch."""
        return self.clocks.today()

    # -- asking ----------------------------------------------------------------

    def search(self, query: Query, *, is_fresh: bool = True) -> SearchAnswer:
        """Return the hits for *query*, best first, and how strong the answer is.

        Never raises because of what the question holds. An index that cannot be used
        is replaced for this answer by one in memory, and the report says so.

        Args:
            query: What is asked.
            is_fresh: Look at every note first; else the index answers as it is.
        """
        # Loaded by the first question: a sync needs nothing of it.
        from hivemind_memory.memory.search import ask
        from hivemind_memory.model.query import SearchAnswer, SearchReport

        if not self.settings.enabled:
            report = SearchReport(
                mode="off", reason=_OFF, why_empty=_OFF, is_fresh=True
            )
            return SearchAnswer(hits=(), report=report)

        started = self.clocks.stopwatch()
        question = self._query_vector(query.text, started)

        def answer(opened: OpenIndex) -> SearchAnswer:
            return ask(
                query,
                opened,
                self.index_handle.freshness_check() if is_fresh else None,
                question=question,
                settings=self._search_settings,
                access=self._access,
                clocks=self.clocks,
                started=started,
            )

        with self.lock:
            found = self.index_handle.run_with_fallback(answer)
            self.index_handle.clear_notice()
        if found.report.stale_notes and self.index_handle.wait_for_large_notes():
            with self.lock:
                found = self.index_handle.run_with_fallback(answer)
        if not self.settings.unusable:
            return found
        warnings = (*found.report.warnings, *self.settings.unusable.values())
        return replaced(found, report=replaced(found.report, warnings=warnings))

    def parse_filter(self, **words: Any) -> SearchFilter:
        """Return what a question is narrowed to; see ``search_filter.parse_filter``."""
        from hivemind_memory.memory.search_filter import parse_filter

        named = words.pop("scope", "")
        scope = self.find_scope(named) if named else None
        return parse_filter(self.types, scope=scope, **words)

    def read(
        self, path: str, *, start_line: int = 1, line_count: int | None = None
    ) -> NoteLines:
        """Return lines of a note, from *start_line* on; all of them without a count.

        Raises:
            NotePathError: *path* is not a plain relative name of a note.
            NoteNotFoundError: There is no such note.
            UsageError: A number is below what it may be.
        """
        from hivemind_memory.memory.read import read_passage

        return read_passage(
            self.folder,
            path,
            caller=self.caller,
            start_line=start_line,
            line_count=line_count,
        )

    def list(self) -> list[ListedNote]:
        """Return every note that the caller may see, sorted by path."""
        from hivemind_memory.memory.read import list_notes

        def count(opened: OpenIndex) -> tuple[dict[str, int], set[str]]:
            self.index_handle.freshness_check().ensure_fresh(opened.index)
            hidden = opened.index.memories(statuses={FORGOTTEN})
            return opened.index.chunk_counts(), {row.path for row in hidden}

        with self.lock:
            counts, hidden = self.index_handle.run_with_fallback(count)
            signatures = self.folder.snapshot().signatures
        shown = {
            path: signature
            for path, signature in signatures.items()
            if path not in hidden
        }
        return list_notes(shown, counts, self.caller, self.clocks.local_iso)

    def memories(self) -> tuple[MemoryRow, ...]:
        """Return the typed memories that the caller may see, the newest first."""

        def read(opened: OpenIndex) -> tuple[MemoryRow, ...]:
            self.index_handle.freshness_check().ensure_fresh(opened.index)
            return tuple(opened.index.memories(scopes=self._access.scopes))

        with self.lock:
            return self.index_handle.run_with_fallback(read)

    # -- writing ---------------------------------------------------------------

    def write(
        self,
        content: str,
        *,
        file: str = "",
        scope: str = "",
        by: str = "",
        session: str = "",
        source: str = "agent",
        is_forced: bool = False,
    ) -> WriteResult:
        """Append *content* to a note, today's if none is named; saved when it returns.

        What looks like a secret is left out of it first. Without a name, a claim from
        outside goes to the inbox.

        Args:
            content: What to remember.
            file: Name of a note; empty: today's. With a folder it is a path below the
                notes folder; without one, the note is in the scope.
            scope: Name of a scope, such as ``project``; empty: see ``find_scope``.
            by: Agent or person.
            session: The writer's own name for its session.
            source: human, agent, tool or external.
            is_forced: Also what was purged before.

        Raises:
            NotSavedError: Nothing was saved, and why.
            NotePathError: *file* is not a plain relative name of a note.
            UsageError: There is nothing to save.
        """
        from hivemind_memory.memory.write import append_entry, prepare_entry
        from hivemind_memory.model.note import Provenance
        from hivemind_memory.model.results import WriteResult

        settings = self.settings
        check_enabled(
            is_enabled=settings.enabled, why_read_only=settings.why_read_only()
        )
        at = self.clocks.local_iso(self.clocks.now())
        new = prepare_entry(
            content,
            Provenance(id="", at=at, by=by, session=session, source=source),
            file=file,
            scope=scope,
            find_scope=self.find_scope,
            caller=self.caller,
            state=self.state(),
            is_forced=is_forced,
        )
        with self.lock:
            entry = append_entry(new, self.folder, self.places.journal, self.clocks)
            is_indexed = self.index_handle.index_note(entry.path, is_whole=False)
            self.curation.record_written(entry.path, entry.id, new.content)
        if not is_indexed and self.index_handle.wait_for_large_notes():
            with self.lock:
                is_indexed = self.index_handle.index_note(entry.path, is_whole=False)
        later = () if is_indexed else ("the next search indexes it",)
        return WriteResult(
            path=entry.path,
            scope=scope_of(entry.path),
            id=entry.id,
            start_line=entry.start_line,
            end_line=entry.end_line,
            is_indexed=is_indexed,
            warnings=(*new.warnings, *later),
        )

    def save(self, wanted: NewMemory, *, is_forced: bool = False) -> SaveResult:
        """Save a memory under its key; see ``Curation.save``."""
        return self.curation.save(wanted, is_forced=is_forced)

    def forget(self, selector: MemorySelector) -> ForgetResult:
        """Hide memories from searches, injection and lists; see ``Curation.forget``."""
        return self.curation.forget(selector)

    @property
    def curation(self) -> Curation:
        """What saves, looks up, links, forgets and purges memories."""
        from hivemind_memory.curation.changes import actor_of
        from hivemind_memory.curation.context import CurationContext
        from hivemind_memory.curation.service import Curation

        context = CurationContext(
            places=self.places,
            folder=self.folder,
            clocks=self.clocks,
            caller=self.caller,
            chunking=self.chunking,
            index=self.index_handle,
            find_scope=self.find_scope,
            state=self.state,
            types=self.types,
            limit_chars=self.settings.memory_chars,
            is_enabled=self.settings.enabled,
            why_read_only=self.settings.why_read_only(),
            actor=actor_of(self.caller, self.origin),
        )
        return Curation(context, find_similar=self._find_similar)

    def record_recall(self, answer: SearchAnswer) -> None:
        """Count that an agent or a person asked and got these hits."""
        refs = [hit.id for hit in answer.hits if hit.id]
        if refs:
            self.state().count_recall(refs, self.clocks.now())

    # -- keeping the index up to date ------------------------------------------

    def sync(
        self, progress: Progress | None = None, *, is_whole: bool = True
    ) -> SyncResult:
        """Update the index, and clear what killed processes left among the notes.

        Args:
            progress: Called with the progress.
            is_whole: Large notes too; other threads search meanwhile.

        Raises:
            IndexUnusableError: The index cannot be written, and why.
            NotesMissingError: There is no folder of notes.
        """
        started = self.clocks.stopwatch()
        with self.lock:
            opened = self.index_handle.opened()
            if opened.error is not None:
                raise opened.error
            left: set[NotePath] = set()
            result = self.syncer.sync(
                opened.index, progress=progress, may_take_large=bool, left=left
            )
        if left and is_whole:
            more = self.index_handle.background_sync().sync(progress)
            result = result.followed_by(more)
        return replaced(result, took_s=self.clocks.stopwatch() - started)

    def rebuild(self, progress: Progress | None = None) -> SyncResult:
        """Make the index again from the notes alone; the old one answers meanwhile."""
        from hivemind_memory.index.open import index_engine

        started = self.clocks.stopwatch()
        with self.lock:
            self.index_handle.close()
            result = index_engine(self.places, self.clocks.now).rebuild(
                lambda index: self.syncer.sync(index, progress=progress)
            )
        return replaced(result, took_s=self.clocks.stopwatch() - started)

    def embed_pending(
        self,
        progress: Progress | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> EmbedResult:
        """Give a vector to every text that has none; cheap when there is nothing to do.

        Holds no lock of this memory: other threads search and sync meanwhile.
        """
        from hivemind_memory.model.results import EmbedResult

        if self._provider.is_surely_absent:
            return EmbedResult()
        from hivemind_memory.memory.index_handle import open_index

        opened = open_index(self.places, self.clocks.now)
        try:
            return self._embedding_service().fill(
                opened.index, progress=progress, should_stop=should_stop
            )
        finally:
            opened.index.close()

    # -- looking after ---------------------------------------------------------

    def status(self) -> MemoryStatus:
        """Return what there is, who leads, and what is missing."""
        from hivemind_memory.memory.doctor import status_of

        def report(opened: OpenIndex) -> MemoryStatus:
            return status_of(
                self.places,
                opened,
                self.syncer,
                self._provider,
                self.clocks.now(),
            )

        with self.lock:
            return self.index_handle.run_with_fallback(report, may_repair=False)

    def diagnose(self) -> Diagnosis:
        """Look for what is wrong, and say what to do."""
        from hivemind_memory.memory.doctor import diagnose

        with self.lock:
            self.index_handle.close()
            return diagnose(self.places, self.settings, self._provider, self.clocks.now)

    # -- for the modules of this room -----------------------------------------

    def state(self) -> StateFile:
        """Return the file of what no note can hold, opened with its first use."""
        from hivemind_memory.state.file import StateFile

        with self.lock:
            if self._state is None:
                self._state = StateFile(self.places.state_file)
            return self._state

    def find_scope(self, name: str = "") -> str:
        """Return the scope that a name means to the caller.

        For an empty name, the scope of a write that names none: the caller's workspace,
        else its project, else its team, else the global scope. A person at a shell has
        the project of the repository that the shell is in.

        Raises:
            ScopeError: It is not a scope, or the caller does not have it.
        """
        caller = self.caller
        if not name and self.settings.default_scope == "global":
            return GLOBAL if may_write(caller, "global.md") else home_scope(caller)
        if caller.is_owner and name in {"", "project", "projects", "product"}:
            caller = replaced(caller, project=self._find_project())
        return scope_named(caller, name) if name else home_scope(caller)

    # -- inside ----------------------------------------------------------------

    def _query_vector(self, text: str, started: float) -> QueryVector:
        """Return the vector of a question that was asked at *started*.

        Other threads search and write while the provider is waited for.
        """
        from hivemind_memory.memory.search import NO_PROVIDER

        if self._provider.is_off:
            return NO_PROVIDER
        from hivemind_memory.memory.embed import QueryEmbedRequest

        side = self._embedding_service()
        with self.lock:
            planned = self.index_handle.run_with_fallback(
                lambda opened: side.plan(opened.index, text)
            )
        if not isinstance(planned, QueryEmbedRequest):
            return planned
        left_s = ANSWER_TIMEOUT_S - (self.clocks.stopwatch() - started)
        answer = side.ask(planned, timeout_s=left_s)
        with self.lock:
            return self.index_handle.run_with_fallback(
                lambda opened: side.record_answer(opened.index, planned, answer)
            )

    def _find_similar(self, text: str) -> Sequence[TextCandidate]:
        """Return texts that share words with a text; the lock is held."""
        from hivemind_memory.memory.retrieve import find_similar

        index = self.index_handle.opened().index
        return find_similar(index, text, access=self._access, today=self.today())

    def _embedding_service(self) -> EmbeddingService:
        """Return what makes vectors, loaded when the first is wanted."""
        from hivemind_memory.memory.embed import EmbeddingService

        if self._vectors is None:
            self._vectors = EmbeddingService(self._provider, self.clocks.now)
        return self._vectors


def _own_types(settings: Settings) -> dict[str, MemoryType]:
    """Return the types of a person's own; the table of types loads when there are."""
    if not settings.types:
        return {}
    from hivemind_memory.model.memory_types import types_of_config

    return types_of_config(settings.types)
