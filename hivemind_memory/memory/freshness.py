"""Makes the index fresh before an answer: compares it with the notes folder.

A process that answers many queries a second may skip the scan when the kernel proves
that nothing has happened since the last one, or compare only the notes that the kernel
names. All of them are compared at least once a second all the same, by this process or
another one, for a memory map or another mount changes a file without an event.
"""

from __future__ import annotations

from hivemind_memory.errors import (
    IndexBusyError,
    IndexDamagedError,
    IndexUnusableError,
)
from hivemind_memory.memory.background_notes import leave_all
from hivemind_memory.memory.freshness_result import Freshness
from hivemind_memory.memory.kernel_proof import MAX_UNCHECKED_S, KernelProof
from hivemind_memory.model.snapshot import IndexedFiles, compare_files, is_unlisted
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.files.places import Places
    from hivemind_memory.files.scan import FolderSnapshot
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.background_notes import LargeNoteRule
    from hivemind_memory.memory.sync import Syncer
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.results import RecoveredEntry
    from hivemind_memory.model.snapshot import SkippedNote


REFUSED_S = 2.0
"""So long after waiting in vain for a locked index, lists do not wait again."""

MAX_SCANS = 5
"""How often an answer looks again because notes change while it looks."""


class FreshnessCheck:
    """Updates one index before each answer, as cheaply as may be proven."""

    def __init__(
        self,
        syncer: Syncer,
        places: Places,
        stopwatch: Callable[[], float],
        *,
        index_rest: Callable[[], None],
    ) -> None:
        self._syncer = syncer
        self._index_rest = index_rest
        self._places = places
        self._stopwatch = stopwatch
        self._proof = KernelProof(
            places,
            has_links=syncer.has_links,
            max_note_bytes=syncer.folder.max_note_bytes,
        )
        self._looked_s = -MAX_UNCHECKED_S
        self._looked_at: object = None
        self._looked_vault = ""
        self._verified: object = None
        self._unreadable: frozenset[str] = frozenset()
        self._behind: frozenset[str] = frozenset()
        self._last = Freshness()
        self._refused: tuple[float, Freshness] | None = None
        self._expects_more = False

    def expect_more(self) -> None:
        """Have the kernel watch from the first comparison on, so that it is the last.

        Else it watches from the second answer within a moment on: to begin costs as
        much as a comparison of few notes, which is for nothing if no answer follows.
        """
        self._expects_more = True

    def close(self) -> None:
        """Stop watching."""
        self._proof.close()

    def ensure_fresh(
        self,
        index: Index,
        *,
        may_take_large: LargeNoteRule | None = leave_all,
        leaves_outdated: bool = False,
        waits_again: bool = True,
    ) -> Freshness:
        """Update *index* if the folder has changed, and say how far that went.

        Args:
            index: The index.
            may_take_large: Which large notes are indexed at once, however long that
                takes; the others are in the background. None: all of them.
            leaves_outdated: Many notes that have to be read again because the rules
                have changed are left to the background, too.
            waits_again: Wait for who has the index locked though that was in vain a
                moment ago.
        """
        began_s = self._stopwatch()
        if not waits_again and self._refused is not None:
            refused_s, refused = self._refused
            if began_s - refused_s < REFUSED_S:
                return refused
        try:
            found = self._ensure_fresh(
                index, may_take_large=may_take_large, leaves_outdated=leaves_outdated
            )
        finally:
            self._proof.end_comparison()
        has_waited = self._stopwatch() - began_s > REFUSED_S
        self.record_refusal(found if found.warning and has_waited else None)
        return found

    def record_refusal(self, found: Freshness | None) -> None:
        """Remember that it was waited in vain for who has the index locked, or not."""
        self._refused = None if found is None else (self._stopwatch(), found)

    def _ensure_fresh(
        self,
        index: Index,
        *,
        may_take_large: LargeNoteRule | None,
        leaves_outdated: bool,
    ) -> Freshness:
        """Update *index*; see ``ensure_fresh``."""
        recovered: tuple[RecoveredEntry, ...] = ()
        for scans in range(MAX_SCANS):
            now_s = self._stopwatch()
            version = index.version()
            is_recent = now_s - self._looked_s < MAX_UNCHECKED_S
            is_quiet = self._proof.is_quiet()
            vault = self._syncer.vault_mark()
            is_same = version is self._looked_at and vault == self._looked_vault
            if is_quiet and is_recent and is_same:
                return self._last
            self._looked_vault = vault
            if is_recent or self._expects_more:
                # Before the scan, so that no change during it is missed.
                self._proof.watch()
            origin = (index, *self._syncer.origin_of(index))
            changed = self._proof.changed_since(origin, now_s)
            if (
                changed is not None
                and scans < MAX_SCANS - 1
                and self._sync_named(index, version, changed)
            ):
                self._looked_s = max(self._looked_s, self._proof.compared_s)
                if self._verified is None:
                    continue  # something else has changed meanwhile
                return replaced(self._last, recovered=recovered)
            self._looked_s = now_s
            freshness = self._compare(
                index,
                version,
                may_take_large=may_take_large,
                leaves_outdated=leaves_outdated,
                changed=changed,
            )
            if not (freshness.stale or freshness.outdated or freshness.warning):
                self._last = Freshness(
                    skipped=freshness.skipped, passed_over=freshness.passed_over
                )
                is_rest_named = self._proof.forget_before(
                    self._behind, self._unreadable, may_ask=self._verified is None
                )
                if is_rest_named and changed is None:
                    self._proof.record_comparison(
                        origin,
                        now_s,
                        skipped=freshness.skipped,
                        is_complete=not self._unreadable,
                    )
            recovered += freshness.recovered
            if self._verified is not None or freshness.warning:
                break
        return replaced(freshness, recovered=recovered) if recovered else freshness

    def is_verified(self, index: Index) -> bool:
        """Return whether the index still is as the last scan found it or made it.

        Asked in the snapshot that answers: meanwhile a rebuild may have put an index
        in its place that was filled before the snapshot.
        """
        return self._verified is not None and index.version() is self._verified

    def _sync_named(
        self, index: Index, version: object, changed: frozenset[str]
    ) -> bool:
        """Update the index of those notes alone that the kernel names.

        Less than a second ago all notes were compared, and nothing else has changed
        since. Whoever has changed the index meanwhile did so because of a change that
        is named, too.

        Args:
            index: The index.
            version: Its version before the kernel was asked.
            changed: See ``KernelProof.changed_since``.

        Returns:
            False: All notes have to be compared.
        """
        self._looked_at = self._verified = None
        try:
            is_done = self._syncer.sync_named(index, changed)
        except IndexDamagedError:
            raise
        except IndexUnusableError:
            return False  # a comparison of all notes says why
        if not is_done or not self._proof.take(changed):
            return False
        if index.version() is version:
            self._looked_at = self._verified = version
            return True
        # Another process may have indexed later changes, and of a rename one half: the
        # note is gone under its old name, and not there yet under its new one.
        version = index.version()
        origin = (index, *self._syncer.origin_of(index))
        is_complete, is_quiet, has_all_names = self._proof.ask_again(origin)
        if is_quiet:
            self._looked_at = version
        if has_all_names:
            self._verified = version
        return is_complete

    def _compare(
        self,
        index: Index,
        version: object,
        *,
        may_take_large: LargeNoteRule | None,
        leaves_outdated: bool,
        changed: frozenset[str] | None,
    ) -> Freshness:
        """Look at every note, and index what changed.

        The index may remember which scan it is equal to. Then it need not be asked
        what it knows of each note.

        Args:
            index: The index.
            version: Its version.
            may_take_large: See ``ensure_fresh``.
            leaves_outdated: See ``ensure_fresh``.
            changed: See ``KernelProof.changed_since``.
        """
        self._looked_at = self._verified = None
        self._behind = self._unreadable = frozenset()
        # Before the scan: what the index gains later is newer than the scan.
        digest = index.scan_digest()
        may_trust = (
            self._syncer.has_current_chunking(index) and not index.has_unfinished()
        )
        known: IndexedFiles | None = None
        if not digest or not may_trust:
            with index.snapshot():
                version, known = index.version(), index.files()
        # A lost entry shows as a change of its note; the sync puts it back.
        snapshot = self._scan()
        if known is None:
            if digest == snapshot.digest and not snapshot.unlisted:
                return self._equal(version, snapshot)
            known = index.files()
            if index.version() is not version:
                version, known = index.version(), index.files()
                snapshot = self._scan()
        is_file = index.path == self._places.index_file
        leaves_outdated = leaves_outdated and is_file
        later = self._syncer.left_for_later(known) if leaves_outdated else frozenset()
        is_settled = not known.unsettled
        if changed is not None:
            young = known.unsettled & changed | known.outdated
            known = replaced(known, unsettled=young)
        changes = compare_files(
            snapshot.signatures,
            replaced(known, unsettled=known.unsettled - later),
            snapshot.unlisted,
        )
        hidden = _unlisted(known, snapshot)
        if may_trust and changes.is_empty and not hidden:
            if later:
                self._verified = version
                self._index_rest()
                skipped = _paths(snapshot.skipped)
                return Freshness(outdated=tuple(sorted(later)), skipped=skipped)
            if is_settled and not snapshot.unlisted:
                index.record_scan(version, snapshot.digest)
            return self._equal(version, snapshot)
        left: set[NotePath] = set()
        try:
            result = self._syncer.sync(
                index,
                seen=(known, snapshot),
                may_take_large=self._within_budget()
                if may_take_large is leave_all and not is_file
                else may_take_large,
                leaves_outdated=leaves_outdated,
                left=left,
            )
            version, indexed = index.version(), index.files()
        except IndexDamagedError:
            raise  # the caller has something better than a damaged index
        except IndexUnusableError as error:
            return Freshness(
                stale=(*changes.changed, *changes.gone),
                skipped=_paths(snapshot.skipped),
                warning=str(error),
                hint=error.hint,
                is_locked=isinstance(error, IndexBusyError),
            )
        skipped = _paths(result.skipped)
        self._unreadable = frozenset(skipped).difference(_paths(snapshot.skipped))
        behind = compare_files(
            snapshot.signatures,
            IndexedFiles(signatures=indexed.signatures),
            snapshot.unlisted,
        )
        # Of outdated notes alone it is known that their text has not changed.
        outdated = left & indexed.outdated - set(behind.changed)
        large = left - outdated
        self._behind = frozenset((*behind.changed, *behind.gone)) - {*skipped, *large}
        if not self._behind:
            self._verified = version
        if left and is_file:
            self._index_rest()
        # Of what cannot be read now, the index has what it held before.
        return Freshness(
            stale=tuple(
                sorted({*large, *hidden, *self._unreadable & set(indexed.signatures)})
            ),
            left=tuple(sorted(large)),
            outdated=tuple(sorted(outdated)),
            skipped=skipped,
            passed_over=None
            if self._behind or self._unreadable or left or snapshot.unlisted
            else snapshot.skipped,
            recovered=result.recovered_entries,
        )

    def _scan(self) -> FolderSnapshot:
        """Return what the folder holds now."""
        snapshot = self._syncer.snapshot()
        self._proof.see_hard_links(are_there=snapshot.has_hard_links)
        return snapshot

    def _equal(self, version: object, snapshot: FolderSnapshot) -> Freshness:
        """Return that the index, as it was at a version, is equal to a scan."""
        self._looked_at = self._verified = version
        passed_over = None if snapshot.unlisted else snapshot.skipped
        self._last = Freshness(
            skipped=_paths(snapshot.skipped), passed_over=passed_over
        )
        return self._last

    def _within_budget(self) -> LargeNoteRule:
        """Return what takes large notes until the budget of a search is spent.

        Nothing but this process can fill an index in memory.
        """
        from hivemind_memory.memory.background_sync import WAIT_S

        end_s = self._stopwatch() + WAIT_S
        return lambda _path, _data: self._stopwatch() < end_s


def _unlisted(known: IndexedFiles, snapshot: FolderSnapshot) -> list[str]:
    """Return the indexed notes that the system does not show now."""
    if not snapshot.unlisted:
        return []
    return [
        path
        for path in known.signatures
        if path not in snapshot.signatures and is_unlisted(path, snapshot.unlisted)
    ]


def _paths(skipped: tuple[SkippedNote, ...]) -> tuple[str, ...]:
    """Return the paths of the files that were passed over."""
    return tuple(note.path for note in skipped)
