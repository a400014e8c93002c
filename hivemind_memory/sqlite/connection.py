"""Opens SQLite files, runs transactions, and translates SQLite's errors into ours."""

from __future__ import annotations

import os
import time
from contextlib import suppress

import apsw

from hivemind_memory.errors import IndexBusyError, IndexDamagedError, IndexUnusableError
from hivemind_memory.files.descriptors import (
    PRIVATE_FILE,
    SQLITE_FILES,
    IrregularFileError,
    check_regular,
    identity_at,
    set_mode,
)
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.own_files import open_own, refuse_links
from hivemind_memory.sqlite.full_disk import is_full, why_unwritable
from hivemind_memory.sqlite.writer_lock import WriterConnection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import TypeVar

    from hivemind_memory.files.descriptors import FileIdentity
    from hivemind_memory.sqlite.writer_lock import WriterLock

    C = TypeVar("C", bound=apsw.Connection)


MINIMUM_SQLITE = 3_043_000
"""FTS5 ``contentless``/``external content`` fixes and ``unixepoch`` are all older; 3.43
is the oldest that our checks of the full-text index against its content ran on."""

BUSY_TIMEOUT_MS = 10_000

WAL_RETRY_S = 0.005
"""A switch to WAL mode holds its lock for less than a millisecond."""

_PRAGMAS = (
    # Commits need no fsync of their own: the index can be made again from the notes,
    # and in WAL mode a lost commit is a lost step, never a damaged file.
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA journal_size_limit = 8388608",
    "PRAGMA mmap_size = 1073741824",
    "PRAGMA temp_store = MEMORY",
)

_OPEN_TRIES = 5

_NEW_FILE = os.O_CREAT | os.O_RDWR

IN_MEMORY = ":memory:"
"""Path of a database that no file holds and that ends with its process."""


class translated_errors:  # noqa: N801 - a context manager reads like a word
    """Raise our errors for SQLite's, so that no caller above knows apsw.

    A class and not ``contextlib.contextmanager``: it stands around every query.
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Enter; nothing to do."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Translate what SQLite raised, if it raised."""
        if isinstance(error, apsw.Error):
            raise _translated(error, self._path) from error
        if isinstance(error, TypeError | ValueError):
            # A value of another kind than was written, or text that is none: SQLite has
            # no checksums and hands out what it finds.
            raise _damaged(self._path) from error


def open_connection(path: str, *, read_only: bool = False) -> WriterConnection:
    """Return a connection to the index at *path*, which exists; see ``make_file``.

    Raises:
        IndexUnusableError: SQLite is too old, or the file cannot be opened.
        IndexDamagedError: The file is not an SQLite database.
        IndexBusyError: Another process kept the file locked for 10 s.
    """
    if _library_number() < MINIMUM_SQLITE:
        message = f"SQLite {apsw.sqlitelibversion()} is older than 3.43"
        raise IndexUnusableError(message, hint="upgrade the apsw package")
    if path != IN_MEMORY:
        _check_files(path)
    with translated_errors(path):
        connection = WriterConnection(
            path,
            lock_file="" if path == IN_MEMORY else f"{path}.writer.lock",
            flags=apsw.SQLITE_OPEN_READONLY
            if read_only
            else apsw.SQLITE_OPEN_READWRITE,
        )
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        use_wal(connection, wait_ms=BUSY_TIMEOUT_MS)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    return connection


def _check_files(path: str) -> None:
    """Raise if SQLite would open something else than files of its own.

    It would wait for a pipe, and write to what a link leads to.
    """
    try:
        refuse_links(path, SQLITE_FILES)
        check_regular(path, SQLITE_FILES)
    except IrregularFileError as error:
        message = f"{error.filename} cannot be used: {reason_of(error)}"
        raise IndexUnusableError(message, hint="move it away") from error


def open_as_named(
    path: str, opened: Callable[[str], C]
) -> tuple[C, FileIdentity | None]:
    """Return a connection to the file that a path names, and the file's identity.

    The identity is taken before and after: another process may put another file there
    while the old one is opened, and what is written to that would be lost.

    Args:
        path: The file, which *opened* may make.
        opened: Opens it.
    """
    identity = identity_at(path)
    for _ in range(_OPEN_TRIES if path != IN_MEMORY else 0):
        connection = opened(path)
        before, identity = identity, identity_at(path)
        if identity is not None and identity == before:
            return connection, identity
        connection.close()
    # A file system that has no lasting identities: reopened with each use.
    return opened(path), None


def use_wal(connection: apsw.Connection, *, wait_ms: int) -> None:
    """Switch a database to WAL mode, which stays in the file.

    When two connections switch a new file at once, each waits for the other's lock:
    SQLite refuses one of them immediately, whatever its busy timeout. So it tries
    again.

    Args:
        connection: Not in a transaction.
        wait_ms: How long to try.

    Raises:
        apsw.BusyError: Other connections used the file all that time.
    """
    end_s = time.monotonic() + wait_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() >= end_s:
                raise
            time.sleep(WAL_RETRY_S)
        else:
            return


def make_file(path: str) -> None:
    """Make an empty file, private under any umask, unless it is there.

    SQLite would make it under the umask; its -wal and -shm take over the mode. Those of
    a deleted file may still be in use, and must not become this one's.
    The caller holds the lock of the file.
    """
    if os.path.exists(path):
        return
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    file = open_own(path, _NEW_FILE)
    try:
        set_mode(file, PRIVATE_FILE)
    finally:
        os.close(file)


class read_transaction:  # noqa: N801 - a context manager reads like a word
    """``BEGIN … COMMIT`` around reads that belong together: all see one state."""

    __slots__ = ("_connection",)

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        """Begin; the state is that of the first read."""
        self._connection.execute("BEGIN")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the transaction."""
        if kind is None:
            with translated_errors(self._connection.filename):
                self._connection.execute("COMMIT")
        elif self._connection.in_transaction:
            # What is damaged may not even be let go of; the error on its way counts.
            with suppress(apsw.Error):
                self._connection.execute("ROLLBACK")


class hold_writer_lock:  # noqa: N801 - a context manager reads like a word
    """Be the only process that writes to a file, for several transactions."""

    __slots__ = ("_lock",)

    def __init__(self, connection: WriterConnection) -> None:
        self._lock = connection.writer_lock

    def __enter__(self) -> None:
        """Wait for the lock; see ``WriterLock.acquire``."""
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        """Let the next one write."""
        self._lock.release()


class write_transaction:  # noqa: N801 - a context manager reads like a word
    """``BEGIN IMMEDIATE … COMMIT``, rolled back when the body raises.

    Immediate: a transaction that begins by reading and writes later cannot wait for
    another writer; SQLite refuses it at once.
    """

    __slots__ = ("_connection", "_lock")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._lock: WriterLock | None = None

    def __enter__(self) -> None:
        """Take the lock beside the file and SQLite's, each within the busy timeout."""
        lock = getattr(self._connection, "writer_lock", None)
        if lock is not None and lock.acquire():
            self._lock = lock
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except BaseException:
            self._release()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Commit, or roll back when the body raised."""
        try:
            if kind is None:
                self._connection.execute("COMMIT")
            elif self._connection.in_transaction:
                # Some errors (a full disk) have rolled back already.
                self._connection.execute("ROLLBACK")
        finally:
            self._release()

    def _release(self) -> None:
        """Release the lock beside the file, if it was taken for this transaction."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class synced_transaction(write_transaction):  # noqa: N801 - as the one above
    """A write transaction that is on the disk once it ends: a power cut keeps it.

    With it, what the file committed before is on the disk, too.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        """Have this commit wait for the disk."""
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            super().__enter__()
        except BaseException:
            self._connection.execute("PRAGMA synchronous = NORMAL")
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Commit and wait for the disk, or roll back when the body raised."""
        try:
            super().__exit__(kind, error, traceback)
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")


def select_int(connection: apsw.Connection, sql: str, *values: object) -> int:
    """Return the one number that a query answers; 0 when it answers nothing."""
    row = connection.execute(sql, values).fetchone()
    return int(row[0]) if row else 0


def version_of(connection: apsw.Connection) -> tuple[int, int]:
    """Return what differs whenever the file was changed, by others or by us."""
    return int(connection.pragma("data_version")), connection.total_changes()


def _library_number() -> int:
    """Return the running SQLite's version as its own number, 3043000 for 3.43.0."""
    major, minor, patch = (int(part) for part in apsw.sqlitelibversion().split(".")[:3])
    return major * 1_000_000 + minor * 1_000 + patch


def unwritable(path: str, error: OSError) -> IndexUnusableError:
    """Return the error for a file whose folder the system refuses to write to."""
    from hivemind_memory.files.errors import cause_of

    cause, _ = cause_of(error)
    return IndexUnusableError(
        f"The folder {os.path.dirname(path)} cannot be written: {cause}.",
        hint="Use the option index_dir to put the index elsewhere.",
    )


def _damaged(path: str) -> IndexDamagedError:
    """Return the error for a file that is not sound."""
    return IndexDamagedError(
        f"the index {path} is damaged; the notes are untouched",
        hint="run `hm rebuild`: it rebuilds the index from the notes",
    )


def _busy(path: str) -> IndexBusyError:
    """Return the error for a file that another process keeps locked."""
    from hivemind_memory.sqlite.lock_holder import lock_holder

    number, name = lock_holder(path)
    hint = "try again; `hm status` names the leader"
    if number:
        hint = f"try again; `kill {number}` ends that process if it hangs"
    return IndexBusyError(
        f"{name or 'another process'} kept the index locked for 10 s; the notes are"
        " untouched",
        hint=hint,
    )


def _translated(error: apsw.Error, path: str) -> IndexUnusableError:
    """Return our error for one of SQLite's."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return _busy(path)
    # Our statements fit our tables; where they do not, the schema itself is damaged.
    if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.SQLError):
        return _damaged(path)
    if is_full(error, path):
        return IndexUnusableError(
            "the disk is full: the index was not changed", hint="free some space"
        )
    if isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError):
        # Even a reader writes, to the files beside the index; SQLite does not say why
        # it could not.
        refused = why_unwritable(path)
        if refused is not None:
            return unwritable(path, refused)
    return IndexUnusableError(
        f"the index {path} cannot be used: {error}",
        hint="run `hm doctor`; the notes are untouched",
    )
