"""Elects one leader for each index: the process that watches, indexes and embeds.

The leader holds a kernel lock, so a killed leader stops being one at once. How it
watches is recorded in a second file, which counts only while the lock is held by the
process that wrote it.
"""

from __future__ import annotations

import contextlib
import json
import os

from hivemind_memory.errors import IndexUnusableError
from hivemind_memory.files.atomic import write_file
from hivemind_memory.files.descriptors import (
    FileIdentity,
    identity_at,
    make_private_folder,
    open_regular,
)
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.model.results import Finding
from hivemind_memory.model.value import as_dict
from hivemind_memory.watch.events import WatchState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.files.places import Places


def leader_finding(places: Places) -> Finding:
    """Return for ``hm doctor`` who leads."""
    holder = KernelLock(places.leader_lock).holder()
    detail = (
        f"{holder} watches"
        if holder
        else "no watcher runs; each search checks for changes"
    )
    return Finding(name="leader", is_ok=True, detail=detail)


class Leadership:
    """The right to lead, as one process sees it. Not for use by two threads at once."""

    def __init__(self, lock_path: str, *, state_path: str) -> None:
        """Claim nothing yet.

        Args:
            lock_path: The lock file, in a folder that is there or can be made.
            state_path: Where the leader says how it watches; beside the lock.
        """
        self._lock_path = lock_path
        self._state_path = state_path
        self._lock = KernelLock(lock_path)
        self._identity: FileIdentity | None = None

    def try_acquire(self) -> bool:
        """Become leader if there is none; return whether this process leads now.

        Raises:
            IndexUnusableError: The lock file can be neither opened nor made.
        """
        if self._identity is not None:
            return True
        try:
            make_private_folder(os.path.dirname(self._lock_path))
            if not self._lock.try_acquire():
                return False
        except OSError as error:
            cause, _ = cause_of(error)
            message = f"{self._lock_path} cannot be locked: {cause}."
            hint = "Use the option index_dir to put the index elsewhere."
            raise IndexUnusableError(message, hint=hint) from error
        # Of the open file: the path may name another one by now.
        self._identity = self._lock.identity
        return True

    def still_leads(self) -> bool:
        """This process leads, and by the lock that others see.

        The index may be deleted at any moment and the lock with it; then another
        process may lock a new file of the same name: holding the old means nothing.
        """
        return self._identity is not None and self._identity == identity_at(
            self._lock_path
        )

    def release(self) -> None:
        """Let another process lead; nothing happens when this one does not."""
        if self._identity is None:
            return
        if self.still_leads():
            # Before the lock is free, else it could be the next leader's file.
            with contextlib.suppress(OSError):
                os.unlink(self._state_path)
        self._identity = None
        self._lock.release()

    def holder(self) -> str:
        """Return who leads, as ``pid 123``; empty when there is none."""
        return self._lock.holder()

    def write_state(self, state: WatchState) -> None:
        """Record how this leader watches.

        Raises:
            OSError: It could not be written; leading goes on all the same.
        """
        words = json.dumps({"pid": os.getpid(), **as_dict(state)})
        # Worthless after a restart, so it is not synced to disk.
        write_file(self._state_path, words.encode(), is_durable=False)

    def read_state(self) -> WatchState | None:
        """Return how the current leader watches; None if unknown."""
        try:
            with open(self._state_path, encoding="utf-8", opener=open_regular) as file:
                words = json.load(file)
            state = WatchState(mode=str(words["mode"]), reason=str(words["reason"]))
            pid = str(words["pid"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return state if pid in self.holder().split() else None
