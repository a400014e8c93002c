"""The index of a memory, as every answer and every change uses it: updated first."""

from __future__ import annotations

from contextlib import contextmanager
from threading import RLock, local

from hivemind_memory.errors import (
    HivemindError,
    IndexBusyError,
    IndexUnusableError,
    NotSavedError,
)
from hivemind_memory.index.choose_engine import index_engine
from hivemind_memory.memory.background_notes import leave_all, may_mean
from hivemind_memory.memory.freshness_result import Freshness
from hivemind_memory.memory.index_fallback import OpenIndex, open_index
from hivemind_memory.memory.kept_index import KeptIndex
from hivemind_memory.model.note_path import NotePath
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from hivemind_memory.files.places import Places
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.background_sync import BackgroundSync
    from hivemind_memory.memory.note_indexer import Progress
    from hivemind_memory.memory.sync import Syncer
    from hivemind_memory.model.clocks import Clocks
    from hivemind_memory.model.filters import Access
    from hivemind_memory.model.results import SyncResult
    from hivemind_memory.model.snapshot import SkippedNote

    T = TypeVar("T")


class IndexHandle(KeptIndex):
    """The open index; hold ``lock`` while using it."""

    def __init__(self, places: Places, syncer: Syncer, clocks: Clocks) -> None:
        super().__init__(places, syncer, clocks)
        self.lock = RLock()
        self._background: BackgroundSync | None = None
        self.left: tuple[str, ...] = ()
        """Paths of the large notes that the last ``fresh`` left to the background."""

        self.why_behind = ""
        """Why the last answer may lack recent changes; empty: it lacks none."""

        self._looks = local()
        """What a thread has found in ``one_look``."""

        self.kept: tuple[object, Any] | None = None
        """What was made of the notes, and of which state; see ``MemoryLists.kept``."""

        self.kept_replaced: tuple[object, Any] | None = None
        """What links replace, and in which state; see ``replaced_by_link``."""

    def run_fresh(
        self, answer: Callable[[Index], T], *, leaves_outdated: bool = False
    ) -> T:
        """Return an answer of the index, updated first, to who asks what memories say.

        For large notes, see ``fresh``. If another process keeps the index locked, the
        answer is of the index as it was: who needs more reads the notes it names.

        Args:
            answer: Asks the index.
            leaves_outdated: See ``FreshnessCheck.ensure_fresh``.
        """

        def of_fresh(opened: OpenIndex) -> T:
            opened, freshness = self._looked(opened, leaves_outdated=leaves_outdated)
            self.why_behind = freshness.warning
            return answer(opened.index)

        with self.lock:
            return self.run_with_fallback(of_fresh)

    def run_whole(
        self, answer: Callable[[Index, tuple[SkippedNote, ...]], T]
    ) -> T | None:
        """Return an answer of the index if it has every note of the folder, as it is.

        It is updated first, as before a search.

        Args:
            answer: Asks the index; takes the files that are passed over, too.

        Returns:
            None: A note is not in it, or it cannot be used now. Only a scan of the
            folder tells what there is.
        """
        with self.lock:
            opened = self._opened_for_answer()
            if opened.error is not None:
                return None
            try:
                opened, freshness = self._looked(opened, leaves_outdated=True)
                if freshness.passed_over is None:
                    return None
                return answer(opened.index, freshness.passed_over)
            except IndexUnusableError:
                return None

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """Let what this thread reads within be of the folder as it was at first.

        An answer with many parts is then of one state, and does not compare all notes
        for each part while another process writes. A search, and whoever changes
        something, looks again.
        """
        before = getattr(self._looks, "found", None)
        self._looks.found = ()
        try:
            yield
        finally:
            self._looks.found = before

    def _looked(
        self, opened: OpenIndex, *, leaves_outdated: bool
    ) -> tuple[OpenIndex, Freshness]:
        """Return the index for who only reads, and how far it is updated."""
        kept = getattr(self._looks, "found", None)
        if kept and kept[0].index is opened.index:
            known: tuple[OpenIndex, Freshness] = kept
            return known
        found = self.ensure_fresh(
            opened,
            may_take_large=self.syncer.holds_memory,
            leaves_outdated=leaves_outdated,
            waits_again=False,
        )
        _, freshness = found
        is_whole = not (freshness.outdated or freshness.left or freshness.warning)
        if kept is not None and is_whole:
            self._looks.found = found
        return found

    def background_sync(self) -> BackgroundSync:
        """Return what indexes large notes while others use the index."""
        from hivemind_memory.memory.background_sync import BackgroundSync

        if self._background is None:
            self._background = BackgroundSync(
                self._places.index_file, self._sync_all, self._clocks.stopwatch
            )
        return self._background

    def _index_rest(self) -> None:
        """Index in the background what an answer has left for later."""
        self.background_sync().start()

    def _sync_all(self, progress: Progress | None) -> SyncResult:
        """Index all that changed, on a connection of its own."""
        from hivemind_memory.memory.background_sync import polite

        with self.separate() as opened:
            if opened.error is not None:
                raise opened.error
            return self.syncer.sync(opened.index, progress=polite(self.lock, progress))

    @contextmanager
    def separate(self) -> Iterator[OpenIndex]:
        """Open the index once more, for what runs while others use this handle."""
        opened = open_index(self._places, self._clocks.now)
        try:
            yield opened
        finally:
            opened.index.close()

    def sync(
        self,
        progress: Progress | None,
        *,
        is_whole: bool = True,
        keeps_rebuild: bool = False,
    ) -> SyncResult:
        """Update the index, and clear what killed processes left.

        Args:
            progress: Called with the progress.
            is_whole: Large notes too; other threads search meanwhile.
            keeps_rebuild: An interrupted rebuild can still be resumed afterwards.

        Raises:
            IndexUnusableError: The index cannot be written, and why.
            NotesMissingError: There is no notes folder.
        """
        started = self._clocks.stopwatch()
        left: set[NotePath] = set()
        with self.lock:
            opened = self._opened_file()
            if opened.error is not None:
                raise opened.error
            try:
                result = self.syncer.sync(
                    opened.index,
                    progress=progress,
                    may_take_large=leave_all,
                    leaves_outdated=True,
                    left=left,
                )
            except IndexBusyError as error:
                self.freshness_check().record_refusal(Freshness(warning=str(error)))
                raise
        if left and is_whole:
            result = result.followed_by(self.background_sync().sync(progress))
        if is_whole:
            from hivemind_memory.memory.leftover_files import remove_beside_notes

            remove_beside_notes(self._places, self._clocks.now())
        if is_whole and not keeps_rebuild:
            # The index is up to date, so it costs nothing to give up the other one.
            index_engine(self._places, self._clocks.now).remove_unfinished_rebuild()
        return replaced(result, took_s=self._clocks.stopwatch() - started)

    def rebuild(self, progress: Progress | None) -> SyncResult:
        """Make the index again; see ``Memory.rebuild``."""
        started = self._clocks.stopwatch()

        def fill(index: Index) -> SyncResult:
            # What changes in the meantime is in the index from its first moment.
            first = self.syncer.sync(index, progress=progress)
            return first.followed_by(self.syncer.sync(index))

        with self.lock:
            self.close()
            result = index_engine(self._places, self._clocks.now).rebuild(fill)
        return replaced(result, took_s=self._clocks.stopwatch() - started)

    def wait_for_rest(self, limit_s: float | None = None) -> bool | None:
        """Wait for what is indexed in the background; return whether it ended, if any.

        Called without the lock, so that others can search. *limit_s*: how long to wait;
        None: within a search's budget.
        """
        return None if self._background is None else self._background.wait(limit_s)

    def fresh(self, *, is_lookup: bool = False) -> Index:
        """Return the index, updated from the folder, large notes included.

        Args:
            is_lookup: Memories and entries are looked up, by their names and links.
                Left to the background is what that does not need: large notes of free
                text (see ``index_named``), and many notes that other rules indexed,
                unless these rules knew other types.

        Raises:
            NotSavedError: It cannot be updated now.
        """
        index, found = self._known(is_lookup=is_lookup, waits_again=True)
        if found.warning:
            hint = "Try again; `hm doctor` checks for problems."
            raise NotSavedError(
                found.warning,
                hint=found.hint if found.is_locked else hint,
                effect="Nothing was changed",
            )
        return index

    def known(self, *, is_lookup: bool = False) -> tuple[Index, str]:
        """Return the index for who only reads, and why it is behind the folder."""
        index, found = self._known(is_lookup=is_lookup, waits_again=False)
        return index, found.warning

    def _known(self, *, is_lookup: bool, waits_again: bool) -> tuple[Index, Freshness]:
        """Return the index, updated if that is possible, and how far that went."""
        opened = self._opened_for_answer()
        if is_lookup and not waits_again:
            opened, freshness = self._looked(opened, leaves_outdated=True)
        else:
            opened, freshness = self.ensure_fresh(
                opened,
                may_take_large=self.syncer.holds_memory if is_lookup else None,
                leaves_outdated=is_lookup,
                waits_again=waits_again,
            )
        if freshness.outdated:
            from hivemind_memory.memory.rule_changes import has_old_types

            if has_old_types(opened.index):
                opened, freshness = self.ensure_fresh(opened, may_take_large=None)
        self.left, self.why_behind = freshness.left, freshness.warning
        return opened.index, freshness

    def index_named(self, name: str) -> None:
        """Index the large notes that ``fresh`` left and that a name may mean.

        Raises:
            IndexUnusableError: The index cannot be written now.
        """
        meant = [path for path in self.left if may_mean(name, path)]
        for path in map(NotePath, meant):
            self.syncer.sync_note(self.opened().index, path)
        self.left = tuple(path for path in self.left if path not in meant)

    def index_after_purge(self) -> None:
        """Index what changed; every process drops what it read. See ``fresh``.

        Raises:
            IndexBusyError: Another process keeps the index locked; it is not waited for
                if it was before.
        """
        from hivemind_memory.memory.sync_round import LAST_PURGE

        index = self._opened_for_answer().index
        self._refuse_copy()
        index.set_meta(LAST_PURGE, self._clocks.randomness().hex())
        self.fresh()
        self._refuse_copy()

    def count_pending_claims(self, access: Access, *, is_fresh: bool) -> int:
        """Return how many claims wait in the inboxes that a caller may see.

        Args:
            access: What the caller may see.
            is_fresh: Look for changes of the notes first; not needed after a search.

        Raises:
            IndexUnusableError: The index cannot be used now; it is not repaired.
        """
        if not is_fresh:
            return self.opened().index.view(access).pending_claims()
        if (error := self.opened().error) is not None:
            raise error
        return self.run_fresh(lambda index: index.view(access).pending_claims())

    def index_note(self, path: NotePath, *, is_whole: bool = True) -> bool:
        """Index one note right after a write; return whether that worked.

        Args:
            path: The note.
            is_whole: Also when it is large; else that is begun in the background.
        """
        try:
            opened = self.opened()
            index = opened.index
            if is_whole or index.path != self._places.index_file:
                # In a copy no other process sees it.
                return self.syncer.sync_note(index, path) and opened.file is None
            if self.syncer.sync_note(index, path, may_take_large=leave_all):
                return True
        except HivemindError:
            return False  # it is saved all the same, and the next scan indexes it
        self.background_sync().start()
        return False
