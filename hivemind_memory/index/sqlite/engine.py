"""The SQLite engine: one index file, and the files beside it.

Opening is here; what a cold answer does not need (rebuilding, cleaning) is imported
when it is asked for.
"""

from __future__ import annotations

import os
from math import inf

from hivemind_memory.errors import IndexDamagedError
from hivemind_memory.files.errors import reason_of
from hivemind_memory.index.sqlite.index import SqliteIndex
from hivemind_memory.sqlite.connection import IN_MEMORY, unwritable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import TypeVar

    from hivemind_memory.files.places import Places
    from hivemind_memory.index.port import Index, IndexCounts, VacuumResult

    T = TypeVar("T")

REBUILD_WAIT_S = 10.0
"""How long a rebuild or a vacuum waits for another process's rebuild."""

VACUUM_WAIT_S = 10.0
"""How long a vacuum waits for each process that uses the index."""

MAX_COPY_BYTES = 256 << 20
"""A larger index is not copied into memory; that of 60,000 small notes is smaller."""

_SUFFIXES = ("", "-wal", "-shm", ".hold", ".writer.lock")
"""The database goes first: without its log it may be half of what it was.

Its locks are only for the process that rebuilds, so they may go too."""


class SqliteEngine:
    """Opens, rebuilds and cleans the index file of one memory."""

    def __init__(self, places: Places, now: Callable[[], float]) -> None:
        self._places = places
        self._now = now

    def open(self) -> SqliteIndex:
        """Return the index, its file made with its folder if it is not there."""
        self._make_folder()
        return SqliteIndex(self._places.index_file, now=self._now)

    def open_in_memory(self) -> SqliteIndex:
        """Return an empty index that no file holds."""
        return SqliteIndex(IN_MEMORY, now=self._now)

    def copy_in_memory(self) -> SqliteIndex | None:
        """Return a copy that no file holds, of the state that readers see now.

        Who writes to the file meanwhile is not waited for. None: it is too large.
        """
        from hivemind_memory.index.sqlite.swap import copy_to_memory

        if sum(size for _, size, _ in self.state()) > MAX_COPY_BYTES:
            return None
        copy = self.open_in_memory()
        try:
            copy_to_memory(self._places.index_file, copy)
        except BaseException:
            copy.close()
            raise
        return copy

    def is_locked(self) -> bool:
        """Return whether another process keeps the file from being written now."""
        from hivemind_memory.index.sqlite.lock import is_locked

        return is_locked(self._places.index_file)

    def state(self) -> tuple[tuple[int, ...], ...]:
        """Return a value that differs after any change to the file or its log."""
        found = []
        for suffix in ("", "-wal"):
            try:
                status = os.stat(self._places.index_file + suffix)
            except OSError:
                continue
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
        return tuple(found)

    def rebuild(self, fill: Callable[[Index], T], *, wait_s: float | None = None) -> T:
        """Fill a second file, then copy it over the first in one transaction.

        The new index is an ordinary one: a rebuild that was killed continues where it
        stopped. Readers keep the old pages until the copy is whole, and no file is
        swapped while a process has it open. Cached vectors are taken over.
        """
        from hivemind_memory.errors import IndexBusyError
        from hivemind_memory.files.locks import KernelLock
        from hivemind_memory.index.sqlite.lock import index_lock
        from hivemind_memory.index.sqlite.swap import copy_vectors, replace_index

        self._make_folder()
        path, rebuild_file = self._places.index_file, self._places.rebuild_file
        lock = KernelLock(f"{rebuild_file}.lock")
        try:
            is_taken = lock.acquire(wait_s=REBUILD_WAIT_S if wait_s is None else wait_s)
        except OSError as error:
            raise unwritable(path, error) from error
        if not is_taken:
            raise IndexBusyError(
                f"{lock.holder() or 'another process'} is rebuilding the index",
                hint="wait for it; the old index answers meanwhile",
            )
        try:
            new = self._open_rebuild_file()
            try:
                result = fill(new)
                with index_lock(path):
                    copy_vectors(path, new)
                    replace_index(new, path)
            finally:
                new.close()
            _remove(rebuild_file)
        finally:
            lock.release()
        return result

    def count(
        self,
        *,
        paths: Collection[str],
        entry_ids: Collection[str],
        text_hashes: Collection[str],
        is_seen: Callable[[str], bool],
    ) -> IndexCounts:
        """Return what the file holds of some notes, entries and texts.

        Chunks are counted in notes for which *is_seen* is true.
        """
        from hivemind_memory.index.sqlite.vacuum import count_in_index

        return count_in_index(
            self._places.index_file,
            paths=paths,
            entry_ids=entry_ids,
            text_hashes=text_hashes,
            is_seen=is_seen,
        )

    def vacuum(
        self,
        text_hashes: Collection[str],
        *,
        refresh: Callable[[], object] = lambda: None,
        since_s: float = inf,
        probes: Collection[str] = (),
    ) -> VacuumResult:
        """Rewrite the file without what was deleted, and remove the files beside it.

        No rebuild runs meanwhile: one that has already read the notes would bring the
        old text back.
        """
        from hivemind_memory.files.locks import KernelLock
        from hivemind_memory.index.port import VacuumResult
        from hivemind_memory.index.sqlite.vacuum import remove_set_aside, vacuum

        path, rebuild_file = self._places.index_file, self._places.rebuild_file
        if not os.path.isdir(self._places.index):
            return VacuumResult()
        lock = KernelLock(f"{rebuild_file}.lock")
        try:
            if not lock.acquire(wait_s=REBUILD_WAIT_S):
                holder = lock.holder() or "another process"
                why = f"{holder} is rebuilding the index from notes as they were"
                return VacuumResult(problems=((path, why),))
        except OSError as error:
            return VacuumResult(problems=((lock.path, reason_of(error)),))
        try:
            refresh()
            files, problems = remove_set_aside(path, rebuild_file)
            result = vacuum(
                path,
                text_hashes,
                since_s=since_s,
                probes=probes,
                wait_s=VACUUM_WAIT_S,
            )
        finally:
            lock.release()
        return result._replace(files=files, problems=(*problems, *result.problems))

    def remove_unfinished_rebuild(self) -> int:
        """Remove what a killed rebuild left, unless a rebuild runs that uses it."""
        from hivemind_memory.files.locks import KernelLock

        rebuild_file = self._places.rebuild_file
        if not _files_of(rebuild_file):
            return 0
        lock = KernelLock(f"{rebuild_file}.lock")
        try:
            if not lock.try_acquire():
                return 0
        except OSError as error:
            raise unwritable(self._places.index_file, error) from error
        try:
            return _remove(rebuild_file)
        except OSError as error:
            raise unwritable(self._places.index_file, error) from error
        finally:
            lock.release()

    def set_aside_files(self) -> list[str]:
        """Return the damaged and half-built indexes next to the file."""
        from hivemind_memory.index.sqlite.vacuum import set_aside_files

        return set_aside_files(self._places.index_file, self._places.rebuild_file)

    def _make_folder(self) -> None:
        """Make the folder of the index if it is not there."""
        try:
            self._places.make_index_folder()
        except OSError as error:
            raise unwritable(self._places.index_file, error) from error

    def _open_rebuild_file(self) -> SqliteIndex:
        """Return the index that a rebuild fills: a killed one's, else an empty one."""
        path = self._places.rebuild_file
        try:
            new = SqliteIndex(path, now=self._now)
            new.sweep()
        except IndexDamagedError:
            _remove(path)
            new = SqliteIndex(path, now=self._now)
        return new


def _files_of(path: str) -> list[str]:
    """Return what there is of a database and the files that belong to it."""
    return [path + end for end in _SUFFIXES if os.path.exists(path + end)]


def _remove(path: str) -> int:
    """Remove a database that no process has open, and what belongs to it."""
    files = _files_of(path)
    for file in files:
        os.unlink(file)
    return len(files)
