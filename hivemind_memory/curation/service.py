"""The side of ``Memory`` that curates: save, look back, relate, forget.

Each method does what ``core`` is for: it takes the lock, lets a module of this room do
the work, and indexes what changed. Secrets are taken out of a text before anything else
sees it.
"""

from __future__ import annotations

import os
from dataclasses import replace

from hivemind_memory.curation.context import CurationContext
from hivemind_memory.errors import NotSavedError
from hivemind_memory.redaction.redact import scrubbed, warning_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from hivemind_memory.curation.context import ForgetContext
    from hivemind_memory.memory.service import Memory
    from hivemind_memory.model.curation import (
        ForgetResult,
        History,
        LinkResult,
        MemoryDetails,
        MemorySelector,
        NewMemory,
        PurgeResult,
        RecallCounts,
        RestoreResult,
        SaveResult,
        StoredMemory,
        TextCandidate,
    )
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.ports import InjectionRecords, MemoryIndex


_NEAR_HITS = 5
_NEAR_CHARS = 1_000
"""Of a text that is looked for before it is saved."""


class Curation:
    """Curates one memory for its caller."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    # -- saving ----------------------------------------------------------------

    def save(self, wanted: NewMemory, *, is_forced: bool = False) -> SaveResult:
        """Save a memory under its key; it is on the disk when this returns.

        Args:
            wanted: What to remember; its scope is a name, as the caller says it.
            is_forced: Also what was purged before.

        Raises:
            KeyTakenError: An active memory has the key, and no reason was given.
            NotSavedError: Nothing was saved, and why.
            UsageError: It cannot be saved.
        """
        from hivemind_memory.curation.save import save

        clean, warnings = self._prepared(wanted, is_forced=is_forced)
        near = self._similar_texts(clean.content)
        with self._memory.lock:
            saved = save(self._context(), clean, near=lambda _: near)
            return self._index_saved(saved, warnings)

    def learn(
        self,
        wanted: NewMemory,
        *,
        topic: str,
        confidence: str,
        domains: Iterable[str] = (),
        corroborated: int | None = None,
        verified: str = "",
    ) -> SaveResult:
        """Save a claim; the same claim again replaces the one before.

        Raises:
            HivemindError: Nothing was saved, and why.
        """
        from hivemind_memory.curation.learn import learn

        clean, warnings = self._prepared(wanted, is_forced=False)
        [named, *sites], more = scrubbed(topic, *domains)
        warnings = (*warnings, *warning_of(more))
        with self._memory.lock:
            saved = learn(
                self._context(),
                clean,
                topic=named,
                confidence=confidence,
                domains=sites,
                corroborated=corroborated,
                verified=verified,
            )
            return self._index_saved(saved, warnings)

    # -- looking ---------------------------------------------------------------

    def history(self, ref: str, *, scope: str = "") -> History:
        """Return what a memory was and is, the newest first.

        Raises:
            MemoryNotFoundError: The caller sees no such memory.
        """
        from hivemind_memory.curation.history import history

        with self._memory.lock:
            return history(self._context(), ref, scope=self._memory.scope(scope))

    def show(self, ref: str, *, scope: str = "") -> MemoryDetails:
        """Return one memory with its edges, its chain and its recall figures.

        Raises:
            MemoryNotFoundError: The caller sees no such memory.
        """
        from hivemind_memory.curation.history import show

        with self._memory.lock:
            return show(
                self._context(),
                ref,
                scope=self._memory.scope(scope),
                entry_path=self._entry_path,
                figures=self._figures,
            )

    # -- relating --------------------------------------------------------------

    def link(
        self, start: str, end: str, kind: str, *, weight: float = 1.0
    ) -> LinkResult:
        """Join two memories.

        Raises:
            HivemindError: Nothing was linked, and why.
        """
        from hivemind_memory.curation.links import link

        with self._memory.lock:
            linked = link(self._context(), start, end, kind, weight=weight)
            return replace(linked, is_indexed=self._index(linked.changed_paths))

    def unlink(self, start: str, end: str, kind: str) -> LinkResult:
        """End what joins two memories.

        Raises:
            HivemindError: Nothing was changed, and why.
        """
        from hivemind_memory.curation.links import unlink

        with self._memory.lock:
            linked = unlink(self._context(), start, end, kind)
            return replace(linked, is_indexed=self._index(linked.changed_paths))

    # -- forgetting ------------------------------------------------------------

    def forget(
        self, selector: MemorySelector, injected: InjectionRecords | None = None
    ) -> ForgetResult:
        """Hide memories; ``restore`` brings them back.

        Args:
            selector: What is meant.
            injected: What worktrees were shown; those that quote one of the memories
                are shown something else. None: their next injection does it.

        Raises:
            HivemindError: Nothing was changed, and why.
        """
        from hivemind_memory.curation.forget import forget
        from hivemind_memory.model.curation import FailedItem

        with self._memory.lock:
            forgotten = forget(self._forget_context(), selector)
        if injected is None or not forgotten.memories:
            return forgotten
        _, worktrees = injected.count_quoting({one.path for one in forgotten.memories})
        problems = [(place, injected.refresh_section(place)) for place in worktrees]
        failed = [FailedItem(what=place, why=why) for place, why in problems if why]
        return replace(forgotten, failed=(*forgotten.failed, *failed))

    def restore(self, selector: MemorySelector) -> RestoreResult:
        """Show forgotten memories again.

        Raises:
            HivemindError: Nothing was changed, and why.
        """
        from hivemind_memory.curation.forget import restore

        with self._memory.lock:
            return restore(self._forget_context(), selector)

    def purge(
        self,
        selector: MemorySelector,
        injected: InjectionRecords | None = None,
        *,
        is_dry_run: bool = False,
        is_forced: bool = False,
    ) -> PurgeResult:
        """Take memories out of every place, for good.

        Args:
            selector: What is meant.
            injected: What worktrees were shown.
            is_dry_run: Only look.
            is_forced: Also whole notes that a person wrote.

        Raises:
            HivemindError: Nothing was changed, and why.
        """
        from hivemind_memory.curation.purge import purge
        from hivemind_memory.curation.purge_report import PurgeContext

        memory = self._memory
        with memory.lock:
            purge_context = PurgeContext(
                forget_context=self._forget_context(),
                places=memory.places,
                chunking=memory.chunking,
                state=memory.state(),
                injected=injected,
            )
            try:
                return purge(
                    purge_context, selector, is_dry_run=is_dry_run, is_forced=is_forced
                )
            finally:
                if not is_dry_run:
                    memory.close_index()

    # -- inside ----------------------------------------------------------------

    def _prepared(
        self, wanted: NewMemory, *, is_forced: bool
    ) -> tuple[NewMemory, tuple[str, ...]]:
        """Return what is saved, in its scope and without secrets, and warnings."""
        from hivemind_memory.memory.write import refuse_purged

        memory = self._memory
        memory.check_enabled()
        scope = memory.scope(wanted.scope)
        fields = ("content", "key", "reason", "source_ref", "by", "session")
        texts, found = scrubbed(
            *(getattr(wanted, name) for name in fields), *wanted.tags
        )
        named: dict[str, Any] = dict(zip(fields, texts, strict=False))
        content = named["content"]
        doubts = refuse_purged(memory.state(), content, is_forced=is_forced)
        clean = replace(
            wanted,
            scope=memory.home_scope() if scope is None else scope,
            tags=tuple(texts[len(fields) :]),
            **named,
        )
        return clean, (*warning_of(found), *doubts)

    def _index_saved(self, saved: SaveResult, warnings: tuple[str, ...]) -> SaveResult:
        """Index what was saved, and say what whoever saved it should know."""
        return replace(
            saved,
            is_indexed=self._index(saved.changed_paths),
            warnings=(*warnings, *saved.warnings),
        )

    def _similar_texts(self, content: str) -> list[TextCandidate]:
        """Return texts that may say the same; asked before any lock is taken.

        Of the index as it is: the save itself looks at every note right after.
        """
        if not os.path.isdir(self._memory.places.notes):
            return []  # the first save makes the folder
        from hivemind_memory.model.curation import TextCandidate
        from hivemind_memory.model.query import Query

        query = Query(text=content[:_NEAR_CHARS], max_results=_NEAR_HITS)
        return [
            TextCandidate(hit.path, hit.start_line, hit.end_line, hit.snippet)
            for hit in self._memory.search(query, is_fresh=False).hits
        ]

    def _context(self) -> CurationContext:
        """Return what changing memories takes; the lock is held."""
        memory = self._memory
        return CurationContext(
            folder=memory.folder,
            locks=os.path.join(memory.places.home, "locks"),
            clocks=memory.clocks,
            caller=memory.caller,
            fresh_index=self._fresh_index,
            types=memory.types,
            limit_chars=memory.settings.memory_chars,
        )

    def _fresh_index(self) -> MemoryIndex:
        """Return the index in step with the folder."""
        opened = self._memory.index_handle.opened()
        freshness = self._memory.index_handle.freshness_check().ensure_fresh(
            opened.index
        )
        if freshness.warning:
            raise NotSavedError(
                f"Nothing was changed: {freshness.warning}",
                hint="Try again; `hm doctor` looks for what is wrong.",
            )
        return opened.index

    def _forget_context(self) -> ForgetContext:
        """Return what forgetting takes."""
        from hivemind_memory.curation.context import ForgetContext
        from hivemind_memory.notes.journal import Journal

        return ForgetContext(
            context=self._context(),
            journal=Journal(self._memory.places.journal),
            index_note=self._memory.index_handle.index_note,
        )

    def _index(self, paths: Iterable[NotePath]) -> bool:
        """Index notes that were changed; return whether all of that worked."""
        done = [self._memory.index_handle.index_note(path) for path in paths]
        return all(done)

    def _entry_path(self, entry_id: str) -> str:
        """Return the note that holds an entry, for the caller; empty: none does."""
        index = self._memory.index_handle.opened().index
        return index.entry_path(entry_id, self._memory.caller.scopes)

    def _figures(self, recalled: StoredMemory) -> RecallCounts:
        """Return how often a memory was asked for."""
        from hivemind_memory.model.curation import RecallCounts

        count, last = (
            self._memory.state().recalls([recalled.id]).get(recalled.id, (0, 0))
        )
        at = self._memory.clocks.local_iso(last) if last else ""
        return RecallCounts(access_count=count, last_accessed_at=at)
