"""Before every answer: the index is brought in step with the folder, or known to be.

The rule is a look at every note. A process that is asked many questions a second may
skip the look when the kernel proves that nothing has happened since the last one; at
least once a second it looks all the same, for a memory map or another mount changes a
file without an event.
"""

from __future__ import annotations

from hivemind_memory.errors import IndexDamagedError, IndexUnusableError
from hivemind_memory.model.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.index.sqlite.index import SqliteIndex
    from hivemind_memory.memory.places import Places
    from hivemind_memory.memory.syncing import Syncer
    from hivemind_memory.model.snapshot import IndexedFiles, SkippedNote
    from hivemind_memory.notes.os_events import Sentry

TRUST_S = 1.0
"""So long after a look its result may be trusted while no event says otherwise."""


@value
class Freshness:
    """How far the index is from the folder."""

    stale: tuple[str, ...] = ()
    """Paths of notes that changed and are not indexed."""

    skipped: tuple[str, ...] = ()
    """Paths of files that were passed over."""

    warning: str = ""
    """Why it could not be brought in step."""


class Freshener:
    """Brings one index in step before each answer, as cheaply as may be proven."""

    def __init__(
        self, syncer: Syncer, places: Places, stopwatch: Callable[[], float]
    ) -> None:
        self._syncer = syncer
        self._places = places
        self._stopwatch = stopwatch
        self._sentry: Sentry | None = None
        self._can_watch = True
        self._looked_s = -TRUST_S
        self._in_step: IndexedFiles | None = None
        self._last = Freshness()

    def close(self) -> None:
        """Stop watching."""
        if self._sentry is not None:
            self._sentry.close()
            self._sentry = None

    def freshen(self, index: SqliteIndex) -> Freshness:
        """Bring *index* in step, and say how far that went."""
        now_s = self._stopwatch()
        known = index.files()
        is_recent = now_s - self._looked_s < TRUST_S
        if self._sentry is not None and not self._sentry.is_quiet():
            self.close()
        if self._sentry is not None and is_recent and known is self._in_step:
            return self._last
        if self._sentry is None and is_recent and self._can_watch:
            # Before the look: what happens while it goes on must not be missed.
            self._watch()
        self._looked_s = now_s
        return self._look(index, known)

    def _look(self, index: SqliteIndex, known: IndexedFiles) -> Freshness:
        """Look at every note, and index what changed."""
        self._in_step = None
        # An entry that vanished shows as a change of its note; the sync puts it back.
        changes, look = self._syncer.look_for_changes(known)
        is_whole = self._syncer.cuts_like(index) and not index.has_unfinished()
        if changes.is_empty and is_whole:
            self._in_step = known
            self._last = Freshness(skipped=_paths(look.skipped))
            return self._last
        try:
            result = self._syncer.sync(index, look=look)
        except IndexDamagedError:
            raise  # the caller has something better than a damaged index
        except IndexUnusableError as error:
            behind = (*changes.changed, *changes.gone)
            return Freshness(
                stale=behind, skipped=_paths(look.skipped), warning=str(error)
            )
        return Freshness(skipped=_paths(result.skipped))

    def _watch(self) -> None:
        """Have the kernel tell of changes, if it can be trusted to."""
        # Loaded by a process that is asked again and again, never by a cold answer.
        import os

        from hivemind_memory.notes.mounts import shared_type
        from hivemind_memory.notes.os_events import Sentry

        notes = self._places.notes
        cookie = os.path.join(self._places.index, "cookie")
        try:
            if not shared_type(notes):
                self._sentry = Sentry(notes, cookie)
        except OSError:
            self._sentry = None
        self._can_watch = self._sentry is not None


def _paths(skipped: tuple[SkippedNote, ...]) -> tuple[str, ...]:
    """Return where the files lie that were passed over."""
    return tuple(one.path for one in skipped)
