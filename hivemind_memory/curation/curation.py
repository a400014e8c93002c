"""Saves, looks up, links, forgets and purges memories, for one caller.

Most methods take the lock and call the module of their name. Secrets are removed first.
"""

from __future__ import annotations

from hivemind_memory.model.value import NO_ITEMS, replaced
from hivemind_memory.redaction.redact import scrubbed, warning_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hivemind_memory.curation.context import CurationContext
    from hivemind_memory.curation.edit_claim import ClaimEdit
    from hivemind_memory.curation.events import ChangeEvents
    from hivemind_memory.curation.inbox import AcceptedClaim
    from hivemind_memory.curation.key_values import KeyValues
    from hivemind_memory.curation.locate import NamedPlace
    from hivemind_memory.curation.projects import Projects
    from hivemind_memory.curation.read_version import ReadVersion
    from hivemind_memory.curation.skills import Skills
    from hivemind_memory.curation.stored import StoredMemories
    from hivemind_memory.curation.uses import Uses
    from hivemind_memory.curation.worktrees import SkillSurroundings
    from hivemind_memory.model.changes import Change, DoneResult, UndoResult
    from hivemind_memory.model.curation import (
        AffectedItem,
        ForgetResult,
        History,
        MemoryDetails,
        MemorySelector,
        NewMemory,
        PurgeResult,
        RecallCounts,
        RestoreResult,
        SaveResult,
        StoredMemory,
        TextCandidate,
        UnfinishedPurge,
    )
    from hivemind_memory.model.link_results import LinkResult
    from hivemind_memory.model.listing import MemoryFilter, MemoryPage, WrittenItem
    from hivemind_memory.model.relations import Comparison


class Curation:
    """Changes and looks up the memories of one caller."""

    def __init__(
        self,
        context: CurationContext,
        *,
        find_similar: Callable[[str], Sequence[TextCandidate]],
    ) -> None:
        """Take the caller's context, and what finds texts that may say the same."""
        self._context = context
        self._lock = context.index.lock
        self._find_similar = find_similar

    def save(self, wanted: NewMemory, *, is_forced: bool = False) -> SaveResult:
        """Save a memory under its key; it is on disk when this returns.

        Args:
            wanted: What to save; its scope is a name, such as ``project``.
            is_forced: Save it even if the same text was purged before.

        Raises:
            KeyTakenError: An active memory has the key, and no reason was given.
            NotSavedError: Nothing was saved; the message says why.
            UsageError: It cannot be saved as it is.
        """
        from hivemind_memory.curation.change_recording import record_saved
        from hivemind_memory.curation.prepare import prepare
        from hivemind_memory.curation.save import save

        with self._context.changing("Nothing was saved"):
            clean, warnings = prepare(self._context, wanted, is_forced=is_forced)
            if clean.is_upsert:
                from hivemind_memory.curation.upsert import upsert

                saved = upsert(self._context, clean)
            else:
                saved = save(self._context, clean, near=self._find_similar)
            return record_saved(self._context, saved, clean.content, warnings)

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
        """Save a claim; again, it replaces the earlier one. See ``learn``."""
        from hivemind_memory.curation.change_recording import record_saved
        from hivemind_memory.curation.learn import learn, validate_claim
        from hivemind_memory.curation.prepare import prepare

        [topic, *domains], found = scrubbed(topic, *validate_claim(topic, domains))
        with self._context.changing("Nothing was saved"):
            clean, warnings = prepare(self._context, wanted, is_forced=False)
            saved = learn(
                self._context,
                clean,
                topic=topic,
                confidence=confidence,
                domains=domains,
                corroborated=corroborated,
                verified=verified,
            )
            warnings += warning_of(found)
            return record_saved(self._context, saved, clean.content, warnings)

    def history(self, ref: str, *, scope: str = "") -> History:
        """Return the versions of a memory, newest first; see ``history.history``."""
        from hivemind_memory.curation.history import history

        with self._lock:
            return history(self._context, ref, scope=self._scope(scope))

    def locate(self, name: str) -> NamedPlace:
        """Return the note, or lines of it, that a name means; see ``locate``."""
        from hivemind_memory.curation.locate import locate

        with self._lock:
            return locate(self._context, name)

    def show(self, ref: str, *, scope: str = "") -> MemoryDetails:
        """Return one memory with all that is known of it; see ``history.show``."""
        from hivemind_memory.curation.history import show

        with self._lock:
            return show(self._context, ref, scope=self._scope(scope))

    def list_memories(self, wanted: MemoryFilter) -> tuple[StoredMemory, ...]:
        """Return the typed memories that fit; see ``listing.list_memories``."""
        from hivemind_memory.curation.listing import list_memories

        with self._lock:
            return list_memories(self._context, wanted)

    def list_page(
        self, wanted: MemoryFilter, *, offset: int = 0, limit: int = 50
    ) -> MemoryPage:
        """Return a page of the typed memories that fit; see ``list_page``."""
        from hivemind_memory.curation.list_page import list_page

        with self._lock:
            return list_page(self._context, wanted, offset=offset, limit=limit)

    def replaced_paths(self) -> frozenset[str]:
        """Return the active memories that another one replaces by a link, by path."""
        from hivemind_memory.curation.replaced import replaced_by_link

        with self._lock:
            index, _ = self._context.index.known(is_lookup=True)
            return frozenset(replaced_by_link(self._context, index))

    def recalls(
        self, memories: Sequence[StoredMemory]
    ) -> dict[tuple[str, str], RecallCounts]:
        """Return scope, id -> how often and when memories were recalled, if ever."""
        from hivemind_memory.curation.recalls import recall_times

        with self._lock:
            return recall_times(self._context, memories)

    def log(self, wanted: MemoryFilter) -> tuple[WrittenItem, ...]:
        """Return what was written, newest first; see ``listing.read_log``."""
        from hivemind_memory.curation.listing import read_log

        with self._lock:
            return read_log(self._context, wanted)

    def says_already(self, key: str, content: str, *, scope: str) -> str:
        """Return what says a text already; see ``known_texts.says_already``."""
        from hivemind_memory.curation.known_texts import says_already

        with self._lock:
            return says_already(self._context, key, content, scope, self._find_similar)

    def accept(self, ref: str, version: str = "") -> AcceptedClaim:
        """Accept a pending claim or a proposed link; see ``inbox.accept``."""
        from hivemind_memory.curation.inbox import accept

        with self._context.changing():
            return accept(self._context, ref, version)

    def pending(self) -> tuple[StoredMemory, ...]:
        """Return the claims and proposed links that wait, newest first."""
        from hivemind_memory.curation.inbox import pending_claims

        with self._lock:
            return pending_claims(self._context)

    def find_pending(self, ref: str) -> str:
        """Return the path of a claim, or the id of an entry; see ``find_pending``."""
        from hivemind_memory.curation.inbox import find_pending

        with self._lock:
            claim = find_pending(self._context, ref)
        return claim.memory.path if claim.entry is None else claim.memory.id

    def edit_claim(self, ref: str, content: str, version: str = "") -> ClaimEdit:
        """Replace the text of a pending claim; see ``edit_claim``."""
        from hivemind_memory.curation.edit_claim import edit_claim

        with self._context.changing("Nothing was saved"):
            return edit_claim(self._context, ref, content, version)

    def reject(self, ref: str) -> ForgetResult:
        """Forget a pending claim or a proposed link; see ``inbox.reject``."""
        from hivemind_memory.curation.inbox import reject

        with self._context.changing():
            return reject(self._context, ref)

    def link(
        self,
        start: str,
        end: str,
        kind: str,
        *,
        weight: float = 1.0,
        by: str = "",
        texts: Mapping[str, str] = NO_ITEMS,
    ) -> LinkResult:
        """Link two memories; see ``links.link``."""
        from hivemind_memory.curation.links import link

        with self._context.changing("Nothing was linked"):
            linked = link(
                self._context, start, end, kind, weight=weight, by=by, texts=texts
            )
            is_indexed = self._context.update_index(linked.changed_paths)
            return replaced(linked, is_indexed=is_indexed)

    def unlink(self, start: str, end: str, kind: str = "") -> LinkResult:
        """Remove links between two memories; see ``links.unlink``."""
        from hivemind_memory.curation.links import unlink

        with self._context.changing():
            linked = unlink(self._context, start, end, kind)
            is_indexed = self._context.update_index(linked.changed_paths)
            return replaced(linked, is_indexed=is_indexed)

    def mark_done(
        self, ref: str, *, scope: str = "", is_open: bool = False
    ) -> DoneResult:
        """Mark a memory as done today, or as open again; see ``done.mark_done``."""
        from hivemind_memory.curation.done import mark_done
        from hivemind_memory.curation.follow_skills import follow_skills

        with self._context.changing():
            done = mark_done(
                self._context, ref, scope=self._scope(scope), is_open=is_open
            )
            is_indexed = self._context.update_index(done.changed_paths)
            follow_skills(self._context)
            return replaced(done, is_indexed=is_indexed)

    def forget(
        self,
        selector: MemorySelector,
        *,
        is_dry_run: bool = False,
        read: ReadVersion | None = None,
    ) -> ForgetResult:
        """Hide memories; ``restore`` brings them back.

        Sections that quote one of them are written again.

        Args:
            selector: Which memories.
            is_dry_run: Only find what would be hidden.
            read: One of them, which must still be as it was read; None: however it is.

        Raises:
            HivemindError: Nothing was changed; the message says why.
        """
        from hivemind_memory.curation.hide import hide

        return hide(self._context, selector, is_dry_run=is_dry_run, read=read)

    def record_written(self, path: str, entry_id: str, content: str) -> str:
        """Record an entry that was written; return its change id, "" if that fails."""
        from hivemind_memory.curation.change_recording import record_written

        return record_written(self._context, path, entry_id, content)

    def record_other(self, kind: str, *names: str) -> None:
        """Record what ``undo`` must not pass by; see ``own_changes.record_other``."""
        from hivemind_memory.curation.own_changes import record_other

        record_other(self._context, kind, *names)

    def restore(self, selector: MemorySelector) -> RestoreResult:
        """Show again what one forget hid; see ``hide.show_again``."""
        from hivemind_memory.curation.hide import show_again

        return show_again(self._context, selector)

    def undo(self, change_id: str, *, is_dry_run: bool = False) -> UndoResult:
        """Undo a change; see ``undo.undo``. Sections are written again."""
        from hivemind_memory.curation.hide import take_back

        return take_back(self._context, change_id, is_dry_run=is_dry_run)

    def changes(self, text_count: int = 0) -> tuple[Change, ...]:
        """Return what the caller may undo; see ``own_changes.find_changes``."""
        from hivemind_memory.curation.own_changes import find_changes

        return find_changes(self._context, text_count)

    def purge(
        self,
        selector: MemorySelector | UnfinishedPurge,
        *,
        is_dry_run: bool = False,
        is_forced: bool = False,
        shown: Sequence[AffectedItem] | None = None,
    ) -> PurgeResult:
        """Remove memories from every place within reach, for good.

        Args:
            selector: Which memories, or what an earlier purge left.
            is_dry_run: Only count what would be removed.
            is_forced: Remove whole notes that a person wrote, too.
            shown: What a person was shown and has confirmed; None: no one was asked.

        Raises:
            HivemindError: Nothing was changed; the message says why.
        """
        from hivemind_memory.curation.purge import purge_and_record

        return purge_and_record(
            self._context,
            selector,
            is_dry_run=is_dry_run,
            is_forced=is_forced,
            shown=shown,
        )

    def apply_relations(
        self, start: str, found: Comparison, *, model: str
    ) -> tuple[int, int]:
        """Write or propose what the language model found; see ``apply_relations``."""
        from hivemind_memory.curation.model_links import apply_relations

        with self._context.changing():
            return apply_relations(self._context, start, found, model=model)

    def uses(self, needed: int) -> Uses:
        """Return what records uses; *needed* of them make a skill be offered."""
        from hivemind_memory.curation.uses import Uses

        return Uses(self._context, needed)

    def skills(self, surroundings: SkillSurroundings) -> Skills:
        """Return what makes memories skills, in these surroundings."""
        from hivemind_memory.curation.skills import Skills

        return Skills(self._context, surroundings)

    @property
    def events(self) -> ChangeEvents:
        """What tells which memories were saved, superseded and forgotten."""
        from hivemind_memory.curation.events import ChangeEvents

        return ChangeEvents(self._context)

    @property
    def stored(self) -> StoredMemories:
        """What finds memories of some scopes, and reads them."""
        from hivemind_memory.curation.stored import StoredMemories

        return StoredMemories(self._context, self._lock)

    @property
    def projects(self) -> Projects:
        """What lists, moves and adopts projects."""
        from hivemind_memory.curation.projects import Projects

        return Projects(self._context, self._lock)

    @property
    def key_values(self) -> KeyValues:
        """The key-value store, of values that are state and not knowledge."""
        from hivemind_memory.curation.key_values import KeyValues

        return KeyValues(self._context)

    def _scope(self, name: str) -> str | None:
        """Return the scope that a name means to the caller; None for no name."""
        return self._context.find_scope(name) if name else None
