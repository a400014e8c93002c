"""The class ``Memory``: one method for each thing that commands and tools do."""

from __future__ import annotations

from hivemind_memory.access import rules, scope_names
from hivemind_memory.curation.namespace_ends import NamespaceEnds
from hivemind_memory.files.folder import NotesFolder
from hivemind_memory.files.scan import BYTES_PER_MB
from hivemind_memory.memory.note_indexer import ChunkSettings
from hivemind_memory.memory.open_index import IndexHandle
from hivemind_memory.memory.sync import Syncer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from hivemind_memory.config.settings import Settings
    from hivemind_memory.curation.curation import Curation
    from hivemind_memory.curation.worktrees import Worktrees
    from hivemind_memory.files.places import Places
    from hivemind_memory.memory.embed import EmbeddingService
    from hivemind_memory.memory.lists import MemoryLists
    from hivemind_memory.memory.note_indexer import Progress
    from hivemind_memory.model.clocks import Clocks
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
    from hivemind_memory.state.state_file import StateFile


class Memory:
    """The notes folder with its index. Threads may share one."""

    def __init__(
        self,
        places: Places,
        settings: Settings,
        provider: Provider,
        clocks: Clocks,
        *,
        caller: rules.Caller = rules.OWNER,
        here: rules.ProjectHere = rules.NO_PROJECT,
        open_worktrees: Callable[[Memory], Worktrees | None],
    ) -> None:
        """Take the parts; nothing is opened before its first use.

        Args:
            places: Where the files of the memory are.
            settings: The options.
            provider: Makes vectors.
            clocks: Tell the time.
            caller: Who asks.
            here: The project that the process is in.
            open_worktrees: Returns the worktrees in which agents are shown it.
        """
        self.places, self.settings = places, settings
        self.caller = caller
        self.origin = "agent"
        """Where the caller comes from; ``hm`` says ``person`` or ``program``."""
        self.find_terminal: Callable[[], str] = str
        """Returns the terminal session that the caller is in; empty: none."""
        self.here = here
        self._open_worktrees = open_worktrees
        self.access = rules.access_of(caller, settings.private_scopes())
        self.provider = provider
        self.clocks = clocks
        max_bytes, links = settings.max_note_mb * BYTES_PER_MB, settings.followed_links
        self.folder = NotesFolder(places.notes, max_note_bytes=max_bytes, links=links)
        self._vectors: EmbeddingService | None = None
        self._state: StateFile | None = None
        self.chunking = ChunkSettings(
            limit_chars=settings.chunk_chars, overlap_chars=settings.chunk_overlap_chars
        )
        self.types = settings.own_types()
        parts = (self.folder, places.journal, self.chunking, clocks.now, self.types)
        self.syncer = Syncer(*parts)
        self.index_handle = IndexHandle(places, self.syncer, clocks)
        self.lock = self.index_handle.lock
        self._search_settings = settings.search_settings()
        self.namespace_ends = NamespaceEnds()

    def __enter__(self) -> Self:
        """Return the memory."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the memory."""
        self.close()

    def close(self) -> None:
        """Close the index; nothing is lost when this is not called."""
        with self.lock:
            for part in (self._vectors, self._state, self.index_handle, self.provider):
                if part is not None:
                    part.close()

    def as_caller(self, caller: rules.Caller) -> Memory:
        """Return the same memory as another caller sees it, to be closed by itself."""
        parts = (self.places, self.settings, self.provider, self.clocks)
        here, find = self.here, self._open_worktrees
        return Memory(*parts, caller=caller, here=here, open_worktrees=find)

    def current(self) -> Memory:
        """Return it as its caller sees it now: projects are renamed, namespaces end."""
        caller = self.here.caller() if self.here.caller else self.caller
        memory = self if caller == self.caller else self.as_caller(caller)
        memory.namespace_ends.carry_out(memory, is_again=True)
        return memory

    def search(self, query: Query, *, is_fresh: bool = True) -> SearchAnswer:
        """Return the hits for *query*, best first, and how strong the answer is.

        Never raises because of what the query holds. An index that cannot be used
        is replaced for this answer by one in memory, and the report says so.
        Unless *is_fresh*, the index as it is answers; only notes of hits are read.
        """
        from hivemind_memory.memory.chosen_reranker import find_reranker
        from hivemind_memory.memory.search import OFF, Asker, ask

        settings = self.settings
        if not settings.enabled:
            return OFF
        self.namespace_ends.carry_out(self)
        started = self.clocks.stopwatch()
        return ask(
            query,
            self.index_handle,
            query_vector=self._query_vector(query.text, started),
            settings=self._search_settings,
            asker=Asker(self.access, self.caller, self.here),
            asked_at=self.clocks.asked_at(started),
            is_fresh=is_fresh,
            reranker=find_reranker(self.provider, settings, self.state, self.clocks),
        ).with_warnings(settings.unusable.values())

    def parse_filter(self, **words: Any) -> SearchFilter:
        """Return what a question is narrowed to; see ``filter_parser.parse_filter``."""
        from hivemind_memory.memory.filter_parser import filter_of

        parts = (self.types, self.find_scope, self.folder, self.caller)
        return filter_of(words, *parts)

    def read(
        self, path: str, *, start_line: int = 1, line_count: int | None = None
    ) -> NoteLines:
        """Return lines of a note, from *start_line* on; all of them without a count.

        Raises:
            NotePathError: *path* is not a plain relative name of a note.
            NoteNotFoundError: There is no such note.
            LineNotFoundError: It ends before *start_line*.
            UsageError: A number is below what it may be.
        """
        from hivemind_memory.memory.read import read_passage

        self.namespace_ends.carry_out(self)
        return read_passage(
            self.folder, path, self.caller, start_line=start_line, line_count=line_count
        )

    def list(self, below: str = "") -> list[ListedNote]:
        """Return the notes below a folder, or every one that the caller may see."""
        return self.lists.notes(below)

    @property
    def lists(self) -> MemoryLists:
        """What lists notes, and counts memories."""
        from hivemind_memory.memory.lists import MemoryLists

        self.namespace_ends.carry_out(self)
        clock, caller = self.clocks.local_iso, self.caller
        return MemoryLists(self.folder, self.index_handle, caller, clock)

    def memories(self) -> tuple[MemoryRow, ...]:
        """Return the typed memories that the caller may see, newest first."""
        return self.lists.memories()

    def count_pending(self, *, is_fresh: bool) -> int:
        """Return how many claims wait in the inboxes that the caller may see."""
        return self.index_handle.count_pending_claims(self.access, is_fresh=is_fresh)

    def write(  # noqa: PLR0913 - what the comment line of an entry says
        self,
        content: str,
        *,
        file: str = "",
        scope: str = "",
        by: str = "",
        session: str = "",
        source: str = "agent",
        source_ref: str = "",
        tags: tuple[str, ...] = (),
        is_forced: bool = False,
    ) -> WriteResult:
        """Append *content* to a note, today's if none is named; saved when it returns.

        What looks like a secret is left out of it first. Without a name, a claim from
        outside goes to the inbox.

        Args:
            content: What to remember.
            file: Name of a note in the scope, or a path with a folder; empty: today's.
            scope: Name of a scope, such as ``project``; empty: see ``find_scope``.
            by: Agent or person.
            session: The writer's own name for its session.
            source: human, agent, tool or external.
            source_ref: What it was derived from, ``specs/ios.md#L40``.
            tags: Words to search by.
            is_forced: Also what was purged before.

        Raises:
            NotSavedError: Nothing was saved, and why.
            NotePathError: *file* is not a plain relative name of a note.
            UsageError: There is nothing to save.
        """
        from hivemind_memory.memory.write import append_entry, prepare_entry
        from hivemind_memory.model.note import Provenance
        from hivemind_memory.projects.move_lock import no_moves

        why = self.settings.why_read_only()
        rules.check_enabled(is_enabled=self.settings.enabled, why_read_only=why)
        at = self.clocks.local_iso(self.clocks.now())
        entry = Provenance(
            at=at, by=by, session=session, source=source, ref=source_ref, tags=tags
        )
        with no_moves(self.places.shared_locks, "Nothing was saved"):
            new = prepare_entry(
                content,
                entry,
                file=file,
                scope=scope,
                find_scope=self.find_scope,
                caller=self.caller,
                state=self.state(),
                is_forced=is_forced,
            )
            where = (self.folder, self.places.journal, self.index_handle, self.clocks)
            return append_entry(new, *where, record=self.curation.record_written)

    def save(self, wanted: NewMemory, *, is_forced: bool = False) -> SaveResult:
        """Save a memory under its key; see ``Curation.save``."""
        return self.curation.save(wanted, is_forced=is_forced)

    def forget(self, selector: MemorySelector) -> ForgetResult:
        """Hide memories from searches, injection and lists; see ``Curation.forget``."""
        return self.curation.forget(selector)

    @property
    def curation(self) -> Curation:
        """What saves, looks up, links, forgets and purges memories."""
        from hivemind_memory.curation.change_recording import actor_of
        from hivemind_memory.curation.context import CurationContext
        from hivemind_memory.curation.curation import Curation

        self.namespace_ends.carry_out(self)
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
            projects=self.settings.projects,
            is_enabled=self.settings.enabled,
            why_read_only=self.settings.why_read_only(),
            actor=actor_of(self.caller, self.origin),
            find_terminal=self.find_terminal,
            find_worktrees=lambda: self._open_worktrees(self),
        )
        return Curation(context, find_similar=self._find_similar)

    def record_recall(self, answer: SearchAnswer, agent: str = "") -> bool:
        """Count that these hits were asked for; see ``count_use.count_answer``."""
        from hivemind_memory.memory.count_use import count_answer

        parts = (self.caller, self.state(), self.clocks, self.provider)
        return count_answer(answer, agent, *parts)

    def sync(
        self, progress: Progress | None = None, *, keeps_rebuild: bool = False
    ) -> SyncResult:
        """Update the index, and clear what killed processes left; see its handle."""
        return self.index_handle.sync(progress, keeps_rebuild=keeps_rebuild)

    def rebuild(self, progress: Progress | None = None) -> SyncResult:
        """Make the index again from the notes alone; the old one answers meanwhile."""
        from hivemind_memory.memory.index_fallback import check_notes_folder

        check_notes_folder(self.places)
        return self.index_handle.rebuild(progress)

    def embed_pending(
        self,
        progress: Progress | None = None,
        should_stop: Callable[[], bool] | None = None,
        *,
        should_ask: bool = False,
    ) -> EmbedResult:
        """Give a vector to every text that has none, holding no lock; see ``fill``."""
        from hivemind_memory.memory.count_use import counting_sent
        from hivemind_memory.model.results import EmbedResult

        if self.provider.is_certainly_absent:
            return EmbedResult()
        if unusable := self.provider.prepare() or self.provider.why_none_is_named():
            return EmbedResult(problem=unusable)
        parts = (self.state, self.clocks, self.provider)
        with counting_sent(*parts), self.index_handle.separate() as opened:
            return self._embedding_service().fill(
                opened.index, progress, should_stop, should_ask=should_ask
            )

    def status(
        self, *, should_ask: bool = False, is_updated: bool = False
    ) -> MemoryStatus:
        """Return what there is and what is missing.

        *should_ask*: ask the provider; *is_updated*: update the index first.
        """
        from hivemind_memory.memory.status import read_status

        service = self._embedding_service() if should_ask else None
        parts = (self.places, self.syncer, self.provider, self.clocks.now())
        handle = self.index_handle
        return read_status(handle, *parts, service=service, is_updated=is_updated)

    def diagnose(self, above: Diagnosis | None = None) -> Diagnosis:
        """Look for what is wrong; *above*: what the rooms above have found."""
        from hivemind_memory.memory.doctor import diagnose

        parts = (self.places, self.settings, self.provider, self.clocks.now)
        with self.lock:
            self.index_handle.close()
            return diagnose(*parts, above=above)

    def state(self) -> StateFile:
        """Return the file of what no note can hold, opened with its first use."""
        if self._state is None:
            from hivemind_memory.state.state_file import StateFile

            with self.lock:
                self._state = self._state or StateFile.at(self.places)
        return self._state

    def find_scope(self, name: str = "") -> str:
        """Return the scope that a name means to the caller; see ``scope_meant``."""
        is_global = self.settings.default_scope == "global"
        return scope_names.scope_meant(
            self.caller, name, is_global=is_global, find_project=self.here.find
        )

    def _query_vector(self, text: str, started: float) -> QueryVector:
        """Return the vector of a question that was asked at *started*."""
        from hivemind_memory.memory.no_vectors import answer_without_vectors

        if answer := answer_without_vectors(self.index_handle, self.provider):
            return answer
        from hivemind_memory.memory.embed import embed_query

        service, handle = self._embedding_service(), self.index_handle
        return embed_query(text, service, handle, self.clocks, started)

    def _find_similar(self, text: str) -> Sequence[TextCandidate]:
        """Return texts that share words with a text; the lock is held."""
        from hivemind_memory.memory.retrieve import find_similar

        today, index = self.clocks.today(), self.index_handle.opened().index
        return find_similar(index, text, access=self.access, today=today)

    def _embedding_service(self) -> EmbeddingService:
        """Return what makes vectors, loaded when the first is wanted."""
        from hivemind_memory.memory.embed import EmbeddingService

        if self._vectors is None:
            times = (self.clocks.now, self.clocks.stopwatch)
            self._vectors = EmbeddingService(self.provider, *times)
        return self._vectors
