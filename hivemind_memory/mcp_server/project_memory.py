"""The memory of one project, as its agents see it now, shared by their calls.

Which project a folder belongs to is asked of git, which may hang. So each project is
looked up by itself, one call at a time, while calls of other projects go on; a lookup
that failed slowly is not repeated at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from hivemind_memory.errors import HivemindError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.memory import Memory

SLOW_S = 1.0
"""A lookup takes some 10 ms. One that failed after so long is likely to do so again."""

FAILURE_S = 30.0
"""How long such a failure answers the calls of its project."""


class LentMemory:
    """An open memory, and how many calls use it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.calls = 0
        self.is_dropped = False
        """The last call closes it."""


class ProjectMemory:
    """Lends the memory of one project. Threads share it."""

    def __init__(
        self,
        open_memory: Callable[[], Memory],
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open nothing yet.

        Args:
            open_memory: Returns the memory; it may take long, and fail.
            stopwatch: Seconds that pass.
        """
        self._open_memory = open_memory
        self._stopwatch = stopwatch
        self._lookup_lock = threading.Lock()
        """Held while the project is looked up: others of this project wait."""

        self._lock = threading.Lock()
        """Of what follows; held for moments only."""

        self._lent: LentMemory | None = None
        self._is_dropped = False
        self._failure: HivemindError | None = None
        self._failed_s = 0.0

    def lend(self) -> LentMemory:
        """Return the memory for one call, which gives it back.

        Raises:
            HivemindError: It cannot be opened now.
        """
        unused = None
        with self._lookup_lock:
            known = self._lent
            memory = self._find(known)
            with self._lock:
                if (
                    known is None
                    or known is not self._lent
                    or (memory is not known.memory)
                ):
                    unused = self._let_go()
                    known = LentMemory(memory)
                    known.is_dropped = self._is_dropped
                    if not self._is_dropped:
                        self._lent = known
                known.calls += 1
        if unused is not None:
            unused.close()
        return known

    def give_back(self, lent: LentMemory) -> None:
        """End a call."""
        with self._lock:
            lent.calls -= 1
            is_over = lent.is_dropped and not lent.calls
        if is_over:
            lent.memory.close()

    def drop(self) -> None:
        """Close the memory, or leave that to the last call that uses it."""
        with self._lock:
            self._is_dropped = True
            unused = self._let_go()
        if unused is not None:
            unused.close()

    def close(self) -> None:
        """Close the memory, whoever uses it: the process ends."""
        lent = self._lent
        if lent is not None:
            lent.memory.close()

    def _find(self, known: LentMemory | None) -> Memory:
        """Return the memory as the project's agents see it now."""
        started_s = self._stopwatch()
        if self._failure is not None:
            if started_s - self._failed_s < FAILURE_S:
                raise self._failure.with_traceback(None)
            self._failure = None
        try:
            if known is None or known.memory.places.is_moved():
                return self._open_memory()
            return known.memory.current()
        except HivemindError as error:
            ended_s = self._stopwatch()
            if ended_s - started_s >= SLOW_S:
                self._failure, self._failed_s = error, ended_s
            raise

    def _let_go(self) -> Memory | None:
        """Forget the memory; return it if no call uses it. The lock is held."""
        lent, self._lent = self._lent, None
        if lent is None:
            return None
        lent.is_dropped = True
        return None if lent.calls else lent.memory
