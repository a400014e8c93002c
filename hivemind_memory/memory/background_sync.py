"""Indexes in the background what takes long: on a thread and a connection of its own.

A search must answer within its budget, and a note of some megabytes, or thousands that
have to be read again, take longer than that. The search starts this for them, waits a
little, and answers without them if they are not indexed by then. A process that ends
meanwhile loses nothing: the next sync or search begins again.
"""

from __future__ import annotations

import logging
import threading
from weakref import WeakValueDictionary

from hivemind_memory.errors import HivemindError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.memory.note_indexer import Progress
    from hivemind_memory.model.results import SyncResult

logger = logging.getLogger(__name__)

WAIT_S = 1.0
"""How long the searches of a process wait for what one run indexes, from the first that
has to wait."""


MAX_PAUSE_S = 0.25
"""So long does work in the background make way for one who holds the lock."""

NOTES_PER_PAUSE = 100
"""Notes between two pauses: with searches one after the other, some 400 a second."""

_locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
"""Index file -> what the syncs of this process take in turn. A server has an index open
for each project, and all see the same large note: the first indexes it, and the others
find that done."""

_locks_lock = threading.Lock()


def _lock_of(index_file: str) -> threading.Lock:
    """Return the lock of an index file."""
    with _locks_lock:
        lock = _locks.get(index_file)
        if lock is None:
            lock = _locks[index_file] = threading.Lock()
        return lock


class BackgroundSync:
    """Runs one sync at a time, large notes included. Threads may share it."""

    def __init__(
        self,
        index_file: str,
        sync_all: Callable[[Progress | None], SyncResult],
        stopwatch: Callable[[], float],
    ) -> None:
        """Start nothing yet.

        Args:
            index_file: The index; no other sync of it runs in this process meanwhile.
            sync_all: Indexes all that changed, on a connection of its own.
            stopwatch: Seconds on a clock that never goes back.
        """
        self._sync_all = sync_all
        self._stopwatch = stopwatch
        self._lock = threading.Lock()
        self._one_at_a_time = _lock_of(index_file)
        self._done = threading.Event()
        self._done.set()
        self._waited_since_s: float | None = None

    def start(self) -> None:
        """Begin a sync on a thread of its own, unless one is running."""
        with self._lock:
            if not self._done.is_set():
                return
            self._done.clear()
            self._waited_since_s = None
        # A daemon: no answer and no end of a process waits for it.
        thread = threading.Thread(target=self._run, name="large notes", daemon=True)
        try:
            thread.start()
        except (
            RuntimeError
        ):  # The system gives no more threads; the next call asks again.
            self._done.set()

    def wait(self, limit_s: float | None = None) -> bool:
        """Wait for the running sync; return whether it ended.

        *limit_s*: how long to wait; None: within the budget of a search.
        """
        if limit_s is not None:
            return self._done.wait(limit_s)
        now_s = self._stopwatch()
        if self._waited_since_s is None:
            self._waited_since_s = now_s
        return self._done.wait(max(0.0, self._waited_since_s + WAIT_S - now_s))

    def sync(self, progress: Progress | None = None) -> SyncResult:
        """Index all that changed, on the calling thread.

        Raises:
            IndexUnusableError: The index cannot be written, and why.
        """
        with self._one_at_a_time:
            return self._sync_all(progress)

    def _run(self) -> None:
        """Sync once; what fails here is tried again after the next scan."""
        try:
            self.sync()
        except HivemindError as error:
            logger.info("large notes are not indexed yet: %s", error)
        finally:
            self._done.set()


def polite(lock: threading.RLock, progress: Progress | None) -> Progress:
    """Return *progress*, which now and then lets an answer go first.

    Threads share one interpreter: what no caller waits for makes way.
    """

    def report(phase: str, done: int, total: int) -> None:
        is_time = done % NOTES_PER_PAUSE == 0
        if is_time and lock.acquire(timeout=MAX_PAUSE_S):
            lock.release()
        if progress is not None:
            progress(phase, done, total)

    return report
