"""The index of one memory: held open, reopened when its file changes, kept up to date.

When the index cannot be opened, one in memory takes its place, so that a question is
answered all the same.

The notes folder is scanned before every answer. A process that is asked many
questions a second may skip the scan when the kernel proves that nothing has happened
since the last one; it looks at least once a second all the same, for a memory map or
another mount changes a file without an event.
"""

from __future__ import annotations

import os
from threading import RLock

from hivemind_memory.errors import (
    HivemindError,
    IndexBusyError,
    IndexDamagedError,
    IndexTooNewError,
    IndexUnusableError,
    NotesMissingError,
    NotSavedError,
)
from hivemind_memory.index.open import index_engine
from hivemind_memory.model.snapshot import IndexedFiles, compare_files
from hivemind_memory.model.value import replaced, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from hivemind_memory.files.inotify import InotifyProbe
    from hivemind_memory.files.places import Places
    from hivemind_memory.index.port import Index
    from hivemind_memory.memory.sync import Syncer
    from hivemind_memory.model.note_path import NotePath
    from hivemind_memory.model.results import RecoveredEntry
    from hivemind_memory.model.snapshot import SkippedNote

    T = TypeVar("T")


class IndexHandle:
    """The open index; whoever uses it holds ``lock``."""

    def __init__(self, places: Places, syncer: Syncer, clocks: Clocks) -> None:
        self.lock = RLock()
        self._places = places
        self._syncer = syncer
        self._clocks = clocks
        self._open: OpenIndex | None = None
        self._fresh: FreshnessCheck | None = None

    def close(self) -> None:
        """Close the index, to open it anew when it is wanted."""
        if self._fresh is not None:
            self._fresh.close()
            self._fresh = None
        if self._open is not None:
            self._open.index.close()
            self._open = None

    def opened(self) -> OpenIndex:
        """Return the open index, opened anew if its file is another one now."""
        if self._open is not None and not self._open.index.is_still_there():
            self.close()
        if self._open is None:
            self._open = open_index(self._places, self._clocks.now)
        elif self._open.warning:
            self._open = reopen_index(self._places, self._clocks.now, self._open)
        return self._open

    def run_with_fallback(self, answer: Callable[[OpenIndex], T]) -> T:
        """Return an answer of the index, or of a substitute if it cannot give one."""
        try:
            return answer(self.opened())
        except IndexTooNewError:
            raise
        except IndexUnusableError as error:
            # What is damaged within shows when it is read, and not before.
            self.close()
            self._open = memory_fallback(self._places, self._clocks.now, error)
            return answer(self._open)

    def freshness_check(self) -> FreshnessCheck:
        """Return what updates the index before an answer."""
        if self._fresh is None:
            stopwatch = self._clocks.stopwatch
            self._fresh = FreshnessCheck(self._syncer, self._places, stopwatch)
        return self._fresh

    def fresh(self) -> Index:
        """Return the index, updated from the folder.

        Raises:
            NotSavedError: It cannot be updated now.
        """
        opened = self.opened()
        freshness = self.freshness_check().ensure_fresh(opened.index)
        if freshness.warning:
            raise NotSavedError(
                freshness.warning,
                hint="Try again; `hm doctor` looks for what is wrong.",
                effect="Nothing was changed",
            )
        return opened.index

    def index_note(self, path: NotePath) -> bool:
        """Index one note right after a write; return whether that worked."""
        try:
            return self._syncer.sync_note(self.opened().index, path)
        except HivemindError:
            return False  # it is saved all the same, and the next scan indexes it


@value
class OpenIndex:
    """An index that answers."""

    index: Index
    warning: str = ""
    """Why it is a substitute in memory; empty when it is the file."""

    error: IndexUnusableError | None = None
    """Why the file cannot be used."""

    broken: tuple[tuple[int, ...], ...] = ()
    """What the file looked like that could not be used."""


def open_index(places: Places, now: Callable[[], float]) -> OpenIndex:
    """Return the index of a memory, made if it is not there.

    A folder that cannot be written, or a file that is damaged, does not stop a reader:
    it gets an index in memory, filled from the notes for this process alone.

    Raises:
        NotesMissingError: There is no folder of notes.
        IndexBusyError: Another process kept the file locked for 10 s.
        IndexTooNewError: A newer version of the program made the file.
    """
    if not os.path.isdir(places.notes):
        raise NotesMissingError(
            f"there is no notes folder {places.notes}",
            hint="`hm init` makes it; --memory-dir or HIVEMIND_HOME names another",
        )
    try:
        return OpenIndex(index=index_engine(places, now).open())
    except (IndexBusyError, IndexTooNewError):
        raise
    except IndexUnusableError as error:
        return memory_fallback(places, now, error)


def memory_fallback(
    places: Places, now: Callable[[], float], error: IndexUnusableError
) -> OpenIndex:
    """Return an empty index in memory, for the file that cannot be used."""
    remedy = error.hint or "`hm doctor` looks for what is wrong"
    return OpenIndex(
        index=index_engine(places, now).open_in_memory(),
        warning=f"{error}; this answer was made from the notes alone. {remedy}",
        error=error,
        broken=index_engine(places, now).state(),
    )


def reopen_index(
    places: Places, now: Callable[[], float], opened: OpenIndex
) -> OpenIndex:
    """Return the index file in the place of a substitute, once it can be used.

    A file that looks as it did when it could not be used is not tried again, for what
    is wrong may lie where opening does not look.
    """
    state = index_engine(places, now).state()
    if state and state == opened.broken:
        return opened
    try:
        file = OpenIndex(index=index_engine(places, now).open())
    except IndexUnusableError:
        return opened
    opened.index.close()
    return file


MAX_SCANS = 5
"""How often an answer looks again because notes change while it looks."""

MAX_UNCHECKED_S = 1.0
"""So long after a scan its result may be trusted while no event says otherwise."""


@value
class Freshness:
    """How far the index is from the folder."""

    stale: tuple[str, ...] = ()
    """Paths of notes that changed and are not indexed."""

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
        self, syncer: Syncer, places: Places, stopwatch: Callable[[], float]
    ) -> None:
        self._syncer = syncer
        self._places = places
        self._stopwatch = stopwatch
        self._sentry: InotifyProbe | None = None
        self._can_watch = True
        self._looked_s = -MAX_UNCHECKED_S
        self._in_step: IndexedFiles | None = None
        self._verified: IndexedFiles | None = None
        self._last = Freshness()

    def close(self) -> None:
        """Stop watching."""
        if self._sentry is not None:
            self._sentry.close()
            self._sentry = None

    def ensure_fresh(self, index: Index) -> Freshness:
        """Update *index* if the folder has changed, and say how far that went."""
        recovered: tuple[RecoveredEntry, ...] = ()
        for _ in range(MAX_SCANS):
            now_s = self._stopwatch()
            known = index.files()
            is_recent = now_s - self._looked_s < MAX_UNCHECKED_S
            if self._sentry is not None and not self._sentry.is_quiet():
                self.close()
            if self._sentry is not None and is_recent and known is self._in_step:
                return self._last
            if self._sentry is None and is_recent and self._can_watch:
                # Before the scan, so that no change during it is missed.
                self._watch()
            self._looked_s = now_s
            freshness = self._compare(index, known)
            recovered += freshness.recovered
            if self._verified is not None or freshness.warning:
                break
        return replaced(freshness, recovered=recovered) if recovered else freshness

    def is_verified(self, index: Index) -> bool:
        """Return whether the index still is as the last scan found it or made it.

        Asked in the snapshot that answers: meanwhile a rebuild may have put an index
        in its place that was filled before the scan.
        """
        return self._verified is not None and index.files() is self._verified

    def _compare(self, index: Index, known: IndexedFiles) -> Freshness:
        """Look at every note, and index what changed."""
        self._in_step = self._verified = None
        # A lost entry shows as a change of its note; the sync puts it back.
        changes, snapshot = self._syncer.find_changes(known)
        is_whole = (
            self._syncer.has_current_chunking(index) and not index.has_unfinished()
        )
        if changes.is_empty and is_whole:
            self._in_step = self._verified = known
            self._last = Freshness(skipped=_paths(snapshot.skipped))
            return self._last
        try:
            result = self._syncer.sync(index, seen=(known, snapshot))
            indexed = index.files()
        except IndexDamagedError:
            raise  # the caller has something better than a damaged index
        except IndexUnusableError as error:
            behind = (*changes.changed, *changes.gone)
            return Freshness(
                stale=behind, skipped=_paths(snapshot.skipped), warning=str(error)
            )
        skipped = _paths(result.skipped)
        left = compare_files(
            snapshot.signatures, IndexedFiles(signatures=indexed.signatures)
        )
        if not left.gone and set(left.changed) <= set(skipped):
            self._verified = indexed
        return Freshness(skipped=skipped, recovered=result.recovered_entries)

    def _watch(self) -> None:
        """Have the kernel tell of changes, if it can be trusted to."""
        # Loaded by a process that is asked again and again, never by a cold answer.
        import os

        from hivemind_memory.files.inotify import InotifyProbe
        from hivemind_memory.files.mounts import shared_type

        notes = self._places.notes
        cookie = os.path.join(self._places.index, "cookie")
        try:
            if not shared_type(notes):
                self._sentry = InotifyProbe(notes, cookie)
        except OSError:
            self._sentry = None
        self._can_watch = self._sentry is not None


def _paths(skipped: tuple[SkippedNote, ...]) -> tuple[str, ...]:
    """Return where the files lie that were passed over."""
    return tuple(one.path for one in skipped)


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
