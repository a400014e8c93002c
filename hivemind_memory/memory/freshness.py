"""Makes the index fresh before an answer: compares it with the notes folder.

A process that answers many queries a second may skip the scan when the kernel proves
that nothing has happened since the last one, or compare only the notes that the kernel
names. It compares all of them at least once a second all the same, for a memory map or
another mount changes a file without an event.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import IndexDamagedError, IndexUnusableError
from hivemind_memory.model.snapshot import IndexedFiles, compare_files
from hivemind_memory.model.value import replaced, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.files.inotify import InotifyProbe
    from hivemind_memory.files.places import Places
    from hivemind_memory.files.scan import FolderSnapshot
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.sync import Syncer
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.results import RecoveredEntry
    from hivemind_memory.model.snapshot import SkippedNote


MAX_SCANS = 5
"""How often an answer looks again because notes change while it looks."""

MAX_UNCHECKED_S = 1.0
"""How long the result of a scan is trusted while no event contradicts it."""


@value
class Freshness:
    """How far the index is from the folder."""

    stale: tuple[str, ...] = ()
    """Paths of notes that changed and are not indexed."""

    left: tuple[str, ...] = ()
    """Those of them that are large and being indexed in the background."""

    outdated: tuple[str, ...] = ()
    """Paths of notes that other rules indexed; they are read again in the
    background."""

    skipped: tuple[str, ...] = ()
    """Paths of files that were passed over."""

    warning: str = ""
    """Why the index could not be updated."""

    is_verified: bool = True
    """The answer is of the state of the index that was compared with the folder."""

    recovered: tuple[RecoveredEntry, ...] = ()
    """Entries that had vanished from their notes and are back."""


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
        self._inotify_probe: InotifyProbe | None = None
        self._can_watch = True
        self._has_hard_links = False
        self._looked_s = self._read_all_s = -MAX_UNCHECKED_S
        self._read_all_of: tuple[object, ...] = ()
        self._looked_at: object = None
        self._verified: object = None
        self._unreadable: frozenset[str] = frozenset()
        self._behind: frozenset[str] = frozenset()
        self._last = Freshness()

    def close(self) -> None:
        """Stop watching."""
        if self._inotify_probe is not None:
            self._inotify_probe.close()
            self._inotify_probe = None
        self._read_all_s = -MAX_UNCHECKED_S

    def ensure_fresh(
        self, index: Index, *, is_whole: bool = False, leaves_outdated: bool = False
    ) -> Freshness:
        """Update *index* if the folder has changed, and say how far that went.

        Args:
            index: The index.
            is_whole: Index large notes at once, however long that takes; else they
                are indexed in the background.
            leaves_outdated: Many notes that have to be read again because the rules
                have changed are left to the background, too.
        """
        recovered: tuple[RecoveredEntry, ...] = ()
        for scans in range(MAX_SCANS):
            now_s = self._stopwatch()
            version = index.version()
            is_recent = now_s - self._looked_s < MAX_UNCHECKED_S
            is_quiet = (
                self._inotify_probe is not None and self._inotify_probe.is_quiet()
            )
            if self._inotify_probe is not None and not self._inotify_probe.is_complete:
                self.close()
            if is_quiet and is_recent and version is self._looked_at:
                return self._last
            can_watch = self._can_watch and not self._has_hard_links
            if self._inotify_probe is None and is_recent and can_watch:
                # Before the scan, so that no change during it is missed.
                self._watch()
            origin = (index, *self._syncer.origin_of(index))
            changed = self._named_changes(origin, now_s)
            if (
                changed is not None
                and scans < MAX_SCANS - 1
                and self._sync_named(index, version, changed)
            ):
                if self._verified is None:
                    continue  # something else has changed meanwhile
                return replaced(self._last, recovered=recovered)
            self._looked_s = now_s
            self._has_hard_links = False
            freshness = self._compare(
                index,
                version,
                is_whole=is_whole,
                leaves_outdated=leaves_outdated,
                changed=changed,
            )
            if not (freshness.stale or freshness.outdated or freshness.warning):
                self._last = Freshness(skipped=freshness.skipped)
                if self._is_rest_named() and changed is None:
                    self._read_all_s, self._read_all_of = now_s, origin
            recovered += freshness.recovered
            if self._verified is not None or freshness.warning:
                break
        return replaced(freshness, recovered=recovered) if recovered else freshness

    def _is_rest_named(self) -> bool:
        """Return whether the kernel names all that differs after a comparison.

        What it named before has been compared.
        """
        probe = self._inotify_probe
        if probe is None:
            return False
        before, probe.changed = probe.changed, set()
        if self._verified is None:
            probe.is_quiet()
        is_named = self._behind <= probe.changed
        # No event tells when a note can be read again.
        probe.changed |= self._unreadable if is_named else before
        return is_named

    def is_verified(self, index: Index) -> bool:
        """Return whether the index still is as the last scan found it or made it.

        Asked in the snapshot that answers: meanwhile a rebuild may have put an index
        in its place that was filled before the snapshot.
        """
        return self._verified is not None and index.version() is self._verified

    def _named_changes(
        self, origin: tuple[object, ...], now_s: float
    ) -> frozenset[str] | None:
        """Return the paths of all that changed since all notes were last compared.

        Returns:
            None: Nothing says so, or that was too long ago.
        """
        is_recent = now_s - self._read_all_s < MAX_UNCHECKED_S
        if self._inotify_probe is None or not is_recent:
            return None
        if self._read_all_of != origin:
            return None
        return frozenset(self._inotify_probe.changed)

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
            changed: See ``_named_changes``.

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
        if self._inotify_probe is None or not is_done:
            return False
        self._inotify_probe.changed -= changed
        if index.version() is version:
            self._looked_at = self._verified = version
            return True
        # Another process may have indexed later changes, and of a rename one half: the
        # note is gone under its old name, and not there yet under its new one.
        version = index.version()
        if (index, *self._syncer.origin_of(index)) != self._read_all_of:
            return False
        self._inotify_probe.has_lost_name = False
        if self._inotify_probe.is_quiet():
            self._looked_at = version
        if not self._inotify_probe.has_lost_name:
            self._verified = version
        return self._inotify_probe.is_complete

    def _compare(
        self,
        index: Index,
        version: object,
        *,
        is_whole: bool,
        leaves_outdated: bool,
        changed: frozenset[str] | None,
    ) -> Freshness:
        """Look at every note, and index what changed.

        The index may remember which scan it is equal to. Then it need not be asked
        what it knows of each note.

        Args:
            index: The index.
            version: Its version.
            is_whole: See ``ensure_fresh``.
            leaves_outdated: See ``ensure_fresh``.
            changed: See ``_named_changes``.
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
            if digest == snapshot.digest:
                return self._equal(version, snapshot)
            known = index.files()
            if index.version() is not version:
                version, known = index.version(), index.files()
                snapshot = self._scan()
        is_settled = not known.unsettled
        is_file = index.path == self._places.index_file
        leaves_outdated = leaves_outdated and is_file
        later = self._syncer.left_for_later(known) if leaves_outdated else frozenset()
        if changed is not None:
            young = known.unsettled & changed | known.outdated
            known = replaced(known, unsettled=young)
        changes = compare_files(
            snapshot.signatures, replaced(known, unsettled=known.unsettled - later)
        )
        if may_trust and changes.is_empty:
            if later:
                self._verified = version
                self._index_rest()
                skipped = _paths(snapshot.skipped)
                return Freshness(outdated=tuple(sorted(later)), skipped=skipped)
            if is_settled:
                index.record_scan(version, snapshot.digest)
            return self._equal(version, snapshot)
        left: set[NotePath] = set()
        try:
            result = self._syncer.sync(
                index,
                seen=(known, snapshot),
                may_take_large=None
                if is_whole
                else self._large_note_rule(is_file=is_file),
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
            )
        skipped = _paths(result.skipped)
        self._unreadable = frozenset(skipped).difference(_paths(snapshot.skipped))
        behind = compare_files(
            snapshot.signatures, IndexedFiles(signatures=indexed.signatures)
        )
        # Of outdated notes alone it is known that their text has not changed.
        outdated = left & indexed.outdated - set(behind.changed)
        large = left - outdated
        self._behind = frozenset((*behind.changed, *behind.gone)) - {*skipped, *large}
        if not self._behind:
            self._verified = version
        if left and is_file:
            self._index_rest()
        return Freshness(
            stale=tuple(sorted(large)),
            left=tuple(sorted(large)),
            outdated=tuple(sorted(outdated)),
            skipped=skipped,
            recovered=result.recovered_entries,
        )

    def _scan(self) -> FolderSnapshot:
        """Return what the folder holds now."""
        snapshot = self._syncer.snapshot()
        if snapshot.has_hard_links:
            # An event names a file as it was called by whoever changed it.
            self._has_hard_links = True
            self.close()
        return snapshot

    def _equal(self, version: object, snapshot: FolderSnapshot) -> Freshness:
        """Return that the index, as it was at a version, is equal to a scan."""
        self._looked_at = self._verified = version
        self._last = Freshness(skipped=_paths(snapshot.skipped))
        return self._last

    def _large_note_rule(self, *, is_file: bool) -> Callable[[], bool]:
        """Return what decides whether a large note is indexed before the answer.

        Nothing but this process can fill an index in memory, so there some are, until
        the budget is spent.
        """
        if is_file:
            return bool
        from hivemind_memory.memory.background_sync import WAIT_S

        end_s = self._stopwatch() + WAIT_S
        return lambda: self._stopwatch() < end_s

    def _watch(self) -> None:
        """Have the kernel report changes, if that works for this folder."""
        if self._syncer.has_links:
            self._can_watch = False  # they lead to where nothing is watched
            return
        # Loaded by a process that is asked again and again, never by a cold answer.
        from hivemind_memory.files.inotify import InotifyProbe
        from hivemind_memory.files.mounts import shared_type

        notes = self._places.notes
        cookie = os.path.join(self._places.index, "cookie")
        try:
            if not shared_type(notes):
                self._inotify_probe = InotifyProbe(notes, cookie)
        except OSError:
            self._inotify_probe = None
        self._can_watch = self._inotify_probe is not None


def _paths(skipped: tuple[SkippedNote, ...]) -> tuple[str, ...]:
    """Return the paths of the files that were passed over."""
    return tuple(note.path for note in skipped)
