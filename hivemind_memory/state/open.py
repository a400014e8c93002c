"""Opens ``state.db``, creates it if it is missing, and says why when it cannot.

Holds its tables, for what no note can hold, and the steps that made them. A file that
is certainly damaged is set aside, and ``hm doctor`` says so.
"""

from __future__ import annotations

import os
from contextlib import suppress

import apsw

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.files.descriptors import (
    PRIVATE_FILE,
    make_private_folder,
    set_mode,
)
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.sqlite.connection import use_wal, write_transaction

COUNT_WAIT_MS = 50
"""So long an answer may be late because another process is counting."""

_NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0)

_COPY_WAIT_MS = 5_000
_SWITCH_WAIT_MS = 1_000
"""Only a new file is switched to WAL mode, and others do the same within moments."""

_CHECKPOINT_PAGES = 100
"""A process that opens the file reads its log: it stays below half a megabyte."""


def open_state(path: str, *, wait_ms: int = COUNT_WAIT_MS) -> apsw.Connection:
    """Return a connection to the state at *path*, made if it is not there.

    Args:
        path: Where the file lies.
        wait_ms: How long to wait for other processes.

    Raises:
        apsw.Error: It cannot be opened, or is no database.
        OSError: It cannot be made.
        StateUnusableError: A newer version of the program made it.
    """
    if not os.path.exists(path):
        _make_file(path)
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(wait_ms)
        # A closing process would wait for the disk; the next checkpoint does that.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.wal_autocheckpoint(_CHECKPOINT_PAGES)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        version = version_of_state(connection)
        _refuse_newer(path, version)
        if version < STATE_VERSION:
            bring_state_up_to_date(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def copy_state(path: str, target: str) -> None:
    """Copy the state at *path* as it is at one moment; other processes may write.

    Raises:
        StateUnusableError: It cannot be copied, and why.
    """
    try:
        source = open_state(path, wait_ms=_COPY_WAIT_MS)
        try:
            _make_file(target)
            copy = apsw.Connection(target, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                with copy.backup("main", source, "main") as backup:
                    backup.step(-1)  # all pages in one read transaction
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, no log
            finally:
                copy.close()
        finally:
            source.close()
    except (apsw.Error, OSError) as error:
        raise state_error(path, error) from error


def identity_of(path: str) -> tuple[int, int] | None:
    """Return what tells one file from another that takes its name later."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def state_error(path: str, error: Exception) -> StateUnusableError:
    """Return our error for one of SQLite's or the system's."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        message = f"another process keeps {path} locked"
        return StateUnusableError(message, hint="try again")
    if isinstance(error, apsw.FullError):
        message = f"the disk is full: {path} was not changed"
        return StateUnusableError(message, hint="free some space and try again")
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return StateUnusableError(
        f"{path} cannot be used: {reason}", hint="run `hm doctor`"
    )


def _refuse_newer(path: str, version: int) -> None:
    """Raise if this program does not know what the file holds."""
    if version > STATE_VERSION:
        message = f"{path} was made by a newer version of this program"
        raise StateUnusableError(message, hint="upgrade hivemind-memory")


def _make_file(path: str) -> None:
    """Make an empty file, private under any umask; its -wal and -shm take the mode.

    One that another thread has made meanwhile is not opened: closing it would release
    the locks of that thread's connection.
    """
    make_private_folder(os.path.dirname(path))
    try:
        file = os.open(path, _NEW_FILE, PRIVATE_FILE)
    except FileExistsError:
        return
    try:
        set_mode(file, PRIVATE_FILE)
    finally:
        os.close(file)


_WAIT_S = 2.0
_TABLES = ("recalls", "tombstones", "unfinished", "injections", "changes", "meta")


def set_aside(path: str) -> bool:
    """Set the file aside if it is damaged beyond doubt; return whether to try again.

    What another process may have repaired meanwhile is left as it is.
    """
    lock = KernelLock(f"{path}.lock")
    try:
        if not lock.acquire(wait_s=_WAIT_S):
            return False
        if is_sound(path):
            return True
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.replace(path + suffix, f"{damaged_name(path)}{suffix}")
    except OSError:
        return False
    finally:
        lock.release()
    return True


def is_sound(path: str) -> bool:
    """Return whether the file can be read as a whole; a busy one is no damage."""
    try:
        connection = open_state(path)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
        return False
    except (apsw.Error, OSError, StateUnusableError):
        return True
    try:
        if list(connection.execute("PRAGMA quick_check(1)")) != [("ok",)]:
            return False
        for table in _TABLES:
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        [(key,)] = connection.execute("SELECT value FROM meta WHERE key = 'key'")
        return isinstance(key, bytes)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, ValueError):
        return False
    except apsw.Error:
        return True
    finally:
        with suppress(apsw.Error):
            connection.close()


def damaged_name(path: str) -> str:
    """Return where a damaged file is kept."""
    return f"{path}.damaged"


def damage_report(path: str) -> str:
    """Return what ``hm doctor`` must say about the state; empty: nothing."""
    aside = damaged_name(path)
    if os.path.exists(aside):
        return (
            f"{path} was damaged and moved to {aside}: recall counters start again, "
            "and purged texts are NO LONGER refused when they are written again"
        )
    if os.path.exists(path) and not is_sound(path):
        return f"{path} is damaged; the next use moves it aside and starts a new one"
    return ""


DAMAGE_HINT = (
    "purge again what must not come back, then delete the damaged file: it holds "
    "counters and hashes, no text"
)


_KEY_BYTES = 32

STEPS = (
    """
    CREATE TABLE meta(
      key   TEXT PRIMARY KEY,
      value NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE recalls(
      ref     TEXT    PRIMARY KEY, -- id of a memory or an entry
      count   INTEGER NOT NULL,
      last_at INTEGER NOT NULL     -- seconds since the epoch
    ) WITHOUT ROWID;
    CREATE TABLE tombstones(
      hash BLOB PRIMARY KEY        -- HMAC-SHA256 of a purged text, see tombstones.py
    ) WITHOUT ROWID;
    CREATE TABLE unfinished(
      hash BLOB PRIMARY KEY,       -- of what was to be purged
      work TEXT NOT NULL           -- what is left to do, as JSON; gone when done
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE injections(
      id       INTEGER PRIMARY KEY, -- in the order in which they were made
      worktree TEXT    NOT NULL,
      file     TEXT    NOT NULL,    -- in the worktree
      is_whole INTEGER NOT NULL,    -- 0: says only that the section was left as it was
      record   TEXT    NOT NULL     -- JSON, see inject/injection_record.py
    );
    CREATE INDEX injections_file ON injections(worktree, file, is_whole, id);
    """,
    """
    CREATE TABLE changes(
      number    INTEGER PRIMARY KEY, -- in the order in which they were made
      id        TEXT    NOT NULL UNIQUE,
      actor     TEXT    NOT NULL,    -- who made it
      record    TEXT    NOT NULL,    -- JSON, see state/changes.py
      undoes    TEXT    NOT NULL,    -- id of the change that it took back
      undone_by TEXT    NOT NULL,    -- id of the change that took it back
      is_undo   INTEGER NOT NULL     -- hm undo made it
    );
    CREATE INDEX changes_actor ON changes(actor, is_undo, undone_by, number);
    """,
)
"""Each step runs in the transaction that records it; a released one never changes."""

STATE_VERSION = len(STEPS)


def version_of_state(connection: apsw.Connection) -> int:
    """Return the number of the last step that the file has seen."""
    return int(connection.pragma("user_version"))


def bring_state_up_to_date(connection: apsw.Connection) -> None:
    """Apply the steps that the file has not seen, and give it its key."""
    # Stays in the file; must come before the first transaction.
    use_wal(connection, wait_ms=_SWITCH_WAIT_MS)
    with write_transaction(connection):
        # Another process may have been faster between the scan and the lock.
        version = version_of_state(connection)
        if version >= STATE_VERSION:
            return
        for sql in STEPS[version:]:
            connection.execute(sql)
        connection.execute(
            "INSERT INTO meta(key, value) VALUES ('key', ?) ON CONFLICT DO NOTHING",
            (os.urandom(_KEY_BYTES),),
        )
        connection.pragma("user_version", STATE_VERSION)
