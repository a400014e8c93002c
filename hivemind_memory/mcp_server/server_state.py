"""The memory of one server process: opened on first use, watched meanwhile.

Any number of servers may run on one index: one watcher leads, the others wait for its
lock.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from hivemind_memory.errors import HivemindError
from hivemind_memory.mcp_server.descriptor_share import descriptor_share
from hivemind_memory.mcp_server.project_memory import ProjectMemory
from hivemind_memory.model.value import replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.mcp_server.activity_recorder import ActivityRecorder
    from hivemind_memory.memory.memory import Memory
    from hivemind_memory.state.tokens import Token
    from hivemind_memory.watch.watcher import Watcher


logger = logging.getLogger(__name__)

WATCH_DELAY_S = 0.5
"""How long the watcher waits after the first answer, so that a client's first requests
need not wait for what the watcher loads."""

MAX_PROJECTS = 64
"""Projects whose memory is kept open over HTTP; the least recently used goes first.
Together they take a quarter of the descriptors, of which each needs four."""

_LAST_ROWS_S = 0.4
"""How long the last recorded calls may take to be written."""

RETRY_S = 2.0
"""Between two attempts to watch, or two checks for a notes folder."""


class ActivityParts(NamedTuple):
    """What a server has for activity."""

    has_activity: bool = False
    """Whether there is activity to search."""

    recorder: ActivityRecorder | None = None
    """Records calls; None: they are not recorded."""


class ServerState:
    """Opens the memory for all tools and runs its watcher. Safe to share by threads."""

    def __init__(
        self,
        open_memory: Callable[[], Memory],
        open_watcher: Callable[[Memory], Watcher] | None = None,
        open_project: Callable[[str], Memory] | None = None,
        own_folder: str = "",
        open_for_token: Callable[[str, Token], Memory] | None = None,
        *,
        more_scopes: Sequence[str] = (),
        toolsets: tuple[str, ...] = (),
        activity: ActivityParts | None = None,
    ) -> None:
        """Open nothing yet.

        Args:
            open_memory: Returns the memory; its errors go to the caller of a tool.
            open_watcher: Returns the memory's watcher; None: nothing is watched.
            open_project: Returns the memory as a project's agents see it; takes the
                project's name or a folder in it. None: all connections share one.
            own_folder: Folder whose project the memory belongs to; empty: it belongs to
                none, or to one that was given by name.
            open_for_token: Returns the memory as clients with a named token see it;
                takes the same as *open_project*, or nothing where all connections share
                one project. None: there are no such clients.
            more_scopes: team, workspace or both, if the server was started with them.
            toolsets: Tools that are offered beside the usual ones; see ``toolsets``.
            activity: What there is for activity; None: nothing.
        """
        self._open_watcher = open_watcher
        self._lock = threading.Lock()
        """Held for moments only: nothing is opened or looked up under it."""

        self._open_project = open_project
        self._open_for_token = open_for_token
        self.more_scopes = tuple(more_scopes)
        self.own_folder = own_folder if open_project is not None else ""
        self.toolsets = toolsets
        self.has_activity, self.recorder = activity or ActivityParts()
        self._own = ProjectMemory(open_memory)
        self._of_project: OrderedDict[Hashable, ProjectMemory] = OrderedDict()
        self._max_projects = descriptor_share(MAX_PROJECTS, 1 / 16)
        self._stop = threading.Event()
        self._watcher: Watcher | None = None
        self._thread: threading.Thread | None = None

    @property
    def has_projects(self) -> bool:
        """Whether connections may bring projects of their own."""
        return self._open_project is not None

    @contextmanager
    def memory(
        self, project: str | None = None, token: Token | None = None
    ) -> Iterator[Memory]:
        """Lend the memory for one call.

        Args:
            project: Name of a project or a folder in it, as the connection gave it;
                None: what the server was started with.
            token: The named token of the call, if it has one.

        Raises:
            HivemindError: It cannot be opened now; the next call tries again.
        """
        named = project or self.own_folder
        if token is None and (not named or self._open_project is None):
            with _lent(self._own) as memory:
                yield memory
            return
        # Its last use is another one with each call.
        token = token and replaced(token, used_at=0)
        with self.lend((named, token), lambda: self._opened(named, token)) as memory:
            yield memory

    @contextmanager
    def lend(
        self, key: Hashable, open_memory: Callable[[], Memory]
    ) -> Iterator[Memory]:
        """Lend the memory of one of those who share this process, for one call.

        Args:
            key: Who calls, and for what; equal ones share a memory.
            open_memory: Opens the memory as that one sees it.

        Raises:
            HivemindError: It cannot be opened now; the next call tries again.
        """
        with _lent(self._memory_of(key, open_memory)) as memory:
            yield memory

    def _memory_of(
        self, key: Hashable, open_memory: Callable[[], Memory]
    ) -> ProjectMemory:
        """Return what lends a memory, which is not opened yet."""
        dropped = []
        with self._lock:
            known = self._of_project.get(key)
            if known is None:
                known = ProjectMemory(open_memory)
                self._of_project[key] = known
            self._of_project.move_to_end(key)
            while len(self._of_project) > self._max_projects:
                dropped.append(self._of_project.popitem(last=False)[1])
        for unused in dropped:
            unused.drop()
        return known

    def _opened(self, project: str, token: Token | None) -> Memory:
        """Return the memory of a project, as a client sees it."""
        if token is None:
            assert self._open_project is not None  # noqa: S101 - the caller checked it
            return self._open_project(project)
        if self._open_for_token is None:
            raise HivemindError("This server has no named tokens.")
        return self._open_for_token(project, token)

    def start(self) -> None:
        """Start watching on a thread of its own, shortly after the first call."""
        with self._lock:
            if self._open_watcher is None or self._thread is not None:
                return
            # A daemon: a long sync must not keep the process alive.
            self._thread = threading.Thread(
                target=self._watch, name="watcher", daemon=True
            )
            self._thread.start()

    def close(self, within_s: float) -> bool:
        """Stop watching and close the memory; return whether that was done in time.

        If not, nothing is lost: the next process to open the index finishes the work.
        """
        self._stop.set()
        closing = threading.Thread(target=self._close, name="closing", daemon=True)
        closing.start()
        closing.join(within_s)
        return not closing.is_alive()

    def _close(self) -> None:
        """Wait for the watcher, then close the memory."""
        watcher, thread = self._watcher, self._thread
        if watcher is not None:
            watcher.interrupt()
        if thread is not None:
            thread.join()
        for opened in (self._own, *self._of_project.values()):
            opened.close()
        if self.recorder is not None:
            self.recorder.close(_LAST_ROWS_S)

    def _watch(self) -> None:
        """Watch until told to stop, and try again after any error."""
        self._stop.wait(WATCH_DELAY_S)
        while not self._stop.is_set():
            try:
                self._watch_once()
            except HivemindError as error:
                logger.warning("cannot watch the notes, trying again: %s", error)
            # A server that does not watch still answers correctly, only more slowly.
            except Exception:
                logger.exception("cannot watch the notes, trying again")
            self._stop.wait(RETRY_S)

    def _watch_once(self) -> None:
        """Run the watcher while there is a folder to watch."""
        with self.memory() as memory:
            self._watch_memory(memory)

    def _watch_memory(self, memory: Memory) -> None:
        """Run the watcher of a memory while there is a folder to watch."""
        # Watching would create the folder, which an unmounted drive must not get.
        if not memory.settings.enabled or not os.path.isdir(memory.places.notes):
            return
        assert self._open_watcher is not None  # noqa: S101 - start() checked it
        self._watcher = self._open_watcher(memory)
        self._watcher.run(self._stop, lambda _event: None)


@contextmanager
def _lent(shared: ProjectMemory) -> Iterator[Memory]:
    """Lend a memory for one call."""
    lent = shared.lend()
    try:
        yield lent.memory
    finally:
        shared.give_back(lent)
