"""Makes the index again beside the one that answers, then puts it in its place.

The new index is an ordinary one, filled by an ordinary sync: a rebuild that was killed
goes on where it stopped. It takes its place through SQLite's own backup, in one
transaction: readers keep the old pages until it is whole, and no file is ever swapped
under a process that has it open. What was paid for comes along.
"""

from __future__ import annotations

import os

from hivemind_memory.errors import IndexBusyError, IndexDamagedError, IndexUnusableError
from hivemind_memory.index.sqlite.holding import holding
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.index.sqlite.swapping import copy_paid_for, put_in_place
from hivemind_memory.notes.os_locks import KernelLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hivemind_memory.memory.places import Places
    from hivemind_memory.memory.syncing import Progress, Syncer
    from hivemind_memory.model.outcomes import SyncResult

LOCK_WAIT_S = 10.0


def rebuild(
    places: Places,
    syncer: Syncer,
    now: Callable[[], float],
    progress: Progress | None,
) -> SyncResult:
    """Return what the rebuild read; afterwards every process reads the new index.

    Raises:
        IndexBusyError: Another process is rebuilding, or keeps the index locked.
        IndexUnusableError: The folder of the index cannot be written.
    """
    try:
        places.make_index_folder()
    except OSError as error:
        raise IndexUnusableError(
            f"the folder {places.index} cannot be written: {error.strerror}",
            hint="the option index_dir puts the index elsewhere",
        ) from error
    lock = KernelLock(f"{places.rebuild_file}.lock")
    if not lock.acquire(wait_s=LOCK_WAIT_S):
        raise IndexBusyError(
            f"{lock.holder() or 'another process'} is rebuilding the index",
            hint="wait for it; the old index answers meanwhile",
        )
    try:
        new = _open_new(places, now)
        try:
            result = syncer.sync(new, progress=progress)
            with holding(places.index_file):
                copy_paid_for(places.index_file, new)
                put_in_place(new, places.index_file)
        finally:
            new.close()
        _remove(places.rebuild_file)
    finally:
        lock.release()
    return result


def _open_new(places: Places, now: Callable[[], float]) -> SqliteIndex:
    """Return the index that a rebuild fills: a killed one's, else an empty one."""
    try:
        new = SqliteIndex(places.rebuild_file, now=now)
        new.sweep()
    except IndexDamagedError:
        _remove(places.rebuild_file)
        new = SqliteIndex(places.rebuild_file, now=now)
    return new


def _remove(path: str) -> None:
    """Remove a database of ours that nobody has open, and what belongs to it."""
    for suffix in ("", "-wal", "-shm"):
        try:
            os.unlink(path + suffix)
        except FileNotFoundError:
            continue
