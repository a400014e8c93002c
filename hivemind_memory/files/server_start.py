"""Whether the server that an agent started has listed its tools yet.

A server holds a lock that is named by the agent's process, from its start to its end,
and says in the lock's file when its tools are listed. The hook of the same agent waits
for that (decision 160).
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from hivemind_memory.files.descriptors import make_private_folder
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.files.places import locks_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

APPEARS_S = 2.0
"""How long a hook waits for a server to start: two busy loops delay it by one."""

LISTS_S = 3.0
"""How long a hook waits in all."""

SETTLE_S = 0.3
"""How long an agent may need until it offers its model what was listed. Without it, 28
of 32 first requests of Claude Code 2.1.332 held the tools beside two busy loops; with
it, 40 of 40."""

_LISTED = "tools listed"
_POLL_S = 0.02
_CONTENDED_S = 0.05
_PREFIX, _SUFFIX = "server-", ".lock"


class ServerStart:
    """The start of a server, as hooks of its agent see it. Nothing here ever raises."""

    __slots__ = ("_folder", "_lock")

    def __init__(self, home: str, agent: int) -> None:
        """Take nothing yet.

        Args:
            home: The home folder.
            agent: The process that started the server.
        """
        self._folder = locks_folder(home)
        self._lock = KernelLock(_lock_path(home, agent))

    def begin(self) -> None:
        """Have hooks wait. A second server of one agent is not waited for."""
        with suppress(OSError):
            make_private_folder(self._folder)
            self._lock.acquire(wait_s=_CONTENDED_S)

    def tools_listed(self) -> None:
        """Let hooks go on."""
        self._lock.add(_LISTED)

    def end(self) -> None:
        """Remove the file, and those of servers that were killed."""
        if self._lock.is_held:
            with suppress(OSError):
                os.unlink(self._lock.path)
            self._lock.release()
        with suppress(OSError):
            for name in os.listdir(self._folder):
                if name.startswith(_PREFIX) and name.endswith(_SUFFIX):
                    _remove_if_free(os.path.join(self._folder, name))


def wait_until_listed(home: str, agents: Sequence[int]) -> None:
    """Wait until a server has listed its tools, and its agent may know them.

    Args:
        home: The home folder.
        agents: Processes, one of which may have started a server.
    """
    locks = [KernelLock(_lock_path(home, agent)) for agent in agents]
    began = time.monotonic()
    while (waited := time.monotonic() - began) < LISTS_S:
        for lock in locks:
            holder = lock.holder()
            if holder.endswith(_LISTED):
                time.sleep(_left_to_settle(lock.path))
                return
            if holder:
                break
        else:
            if waited >= APPEARS_S:
                return
        time.sleep(_POLL_S)


def _lock_path(home: str, agent: int) -> str:
    """Return the lock of the server that a process starts."""
    return os.path.join(locks_folder(home), f"{_PREFIX}{agent}{_SUFFIX}")


def _left_to_settle(path: str) -> float:
    """Return for how many seconds an agent may not know yet what was listed."""
    try:
        age_s = time.time() - os.stat(path).st_mtime
    except OSError:
        return 0.0
    return min(max(SETTLE_S - age_s, 0.0), SETTLE_S)


def _remove_if_free(path: str) -> None:
    """Remove the lock of a server that was killed."""
    lock = KernelLock(path)
    with suppress(OSError):
        if lock.try_acquire():
            os.unlink(path)
            lock.release()
