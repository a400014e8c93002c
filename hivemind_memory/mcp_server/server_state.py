"""Holds the memory of one server: opened when first wanted, kept in step meanwhile.

Any number of servers may run over one index: the watcher in one of them leads, those in
the others wait for its lock to be free.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from hivemind_memory.errors import HivemindError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.memory.service import Memory
    from hivemind_memory.watch.loop import Watcher


logger = logging.getLogger(__name__)

HEAD_START_S = 0.5
"""So long after the first answer the watcher begins: what a client asks at its start
need not wait for what the watcher loads."""

RETRY_S = 2.0
"""Between two looks for a folder of notes, or two tries to watch."""


class ServerState:
    """Opens one memory for all tools, and runs its watcher. Threads may share it."""

    def __init__(
        self,
        open_memory: Callable[[], Memory],
        open_watcher: Callable[[Memory], Watcher] | None = None,
    ) -> None:
        """Open nothing yet.

        Args:
            open_memory: Returns the memory; what it raises goes to whoever asked.
            open_watcher: Returns its watcher; None: nothing is watched.
        """
        self._open_memory = open_memory
        self._open_watcher = open_watcher
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._stop = threading.Event()
        self._watcher: Watcher | None = None
        self._thread: threading.Thread | None = None

    def memory(self) -> Memory:
        """Return the memory.

        Raises:
            HivemindError: It cannot be opened now; a later call tries again.
        """
        with self._lock:
            if self._memory is None:
                self._memory = self._open_memory()
            return self._memory

    def start(self) -> None:
        """Begin to watch, soon and on a thread of its own; once is enough."""
        with self._lock:
            if self._open_watcher is None or self._thread is not None:
                return
            # A daemon: a sync that lasts must not keep the process.
            self._thread = threading.Thread(
                target=self._watch, name="watcher", daemon=True
            )
            self._thread.start()

    def close(self, within_s: float) -> bool:
        """Stop watching and close the memory; return whether that was possible in time.

        Nothing is lost when it was not: whoever opens the index next sees to it.
        """
        self._stop.set()
        closing = threading.Thread(target=self._close, name="closing", daemon=True)
        closing.start()
        closing.join(within_s)
        return not closing.is_alive()

    def _close(self) -> None:
        """Wait for the watcher, then close."""
        watcher, thread, memory = self._watcher, self._thread, self._memory
        if watcher is not None:
            watcher.interrupt()
        if thread is not None:
            thread.join()
        if memory is not None:
            memory.close()

    def _watch(self) -> None:
        """Watch until told to stop, whatever happens."""
        self._stop.wait(HEAD_START_S)
        while not self._stop.is_set():
            try:
                self._watch_once()
            except HivemindError as error:
                logger.warning("not watching, it is tried again: %s", error)
            # A server that no longer watches still answers rightly, only more slowly.
            except Exception:
                logger.exception("not watching, it is tried again")
            self._stop.wait(RETRY_S)

    def _watch_once(self) -> None:
        """Run the watcher as long as there is something to watch."""
        memory = self.memory()
        # Watching would make the folder, and a drive that is not mounted needs none.
        if not memory.settings.enabled or not os.path.isdir(memory.places.notes):
            return
        assert self._open_watcher is not None  # noqa: S101 - start() saw to it
        self._watcher = self._open_watcher(memory)
        self._watcher.run(self._stop, lambda _event: None)
