"""Opens ``state.db``, creates it if it is missing, and copies it for a backup.

Its tables are in ``schema``, and what is done about damage is in ``damage``.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

import apsw

from hivemind_memory.errors import StateTooNewError, StateUnusableError
from hivemind_memory.files.descriptors import (
    PRIVATE_FILE,
    SQLITE_FILES,
    IrregularFileError,
    check_regular,
    make_private_folder,
    open_regular,
    set_mode,
)
from hivemind_memory.files.own_files import refuse_links
from hivemind_memory.sqlite.full_disk import is_full, why_unwritable

COUNT_WAIT_MS = 50
"""How long an answer may wait because another process is counting."""

_NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_RDWR

_OF_THE_DISK = (errno.EROFS, errno.ENOSPC, errno.EDQUOT)
"""What the file itself has no part in."""

_COPY_WAIT_MS = 5_000

STATE_VERSION = 20
"""How many steps ``schema`` has, which is loaded only to apply them."""

_CHECKPOINT_PAGES = 100
"""A process that opens the file reads its log: it stays below half a megabyte."""


def open_state(path: str, *, wait_ms: int = COUNT_WAIT_MS) -> apsw.Connection:
    """Return a connection to the state at *path*, made if it is not there.

    Args:
        path: The file.
        wait_ms: How long to wait for other processes.

    Raises:
        apsw.Error: It cannot be opened, or is no database.
        OSError: It cannot be made.
        StateTooNewError: A newer version of the program made it.
    """
    refuse_links(path, SQLITE_FILES)
    check_regular(path, SQLITE_FILES)
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
        version = int(connection.pragma("user_version"))
        _refuse_newer(path, version)
        if version < STATE_VERSION:
            from hivemind_memory.state.schema import upgrade

            upgrade(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def copy_state(path: str, target: str, notes: str = "") -> None:
    """Copy the state at *path* as it is at one moment; other processes may write.

    Where its folder is read-only, SQLite can't open it as it is. Its bytes are then
    copied first.

    Args:
        path: The file.
        target: The copy, which must not be there.
        notes: What the file calls the notes folder, see ``Places.state_name``. In the
            copy it is a home's own.

    Raises:
        StateUnusableError: It cannot be copied, and why.
    """
    try:
        source = _open_to_copy(path, f"{target}-source")
        try:
            _make_file(target)
            copy = apsw.Connection(target, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                with copy.backup("main", source, "main") as backup:
                    backup.step(-1)  # all pages in one read transaction
                if notes:
                    from hivemind_memory.state.schema import give_to_notes

                    give_to_notes(copy, notes, "")
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, no log
            finally:
                copy.close()
        finally:
            source.close()
    except (apsw.Error, OSError) as error:
        raise state_error(path, error) from error


def _open_to_copy(path: str, scratch: str) -> apsw.Connection:
    """Return a connection to a state, or to its bytes at *scratch* if it's read-only.

    Raises:
        apsw.Error: It cannot be read, or was changed while its bytes were copied.
        OSError: It cannot be copied.
    """
    try:
        return open_state(path, wait_ms=_COPY_WAIT_MS)
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK):
            raise
    for suffix in ("", "-wal"):
        try:
            with open(path + suffix, "rb", opener=open_regular) as file:
                data = file.read()
        except FileNotFoundError:
            continue
        _make_file(scratch + suffix)
        with open(scratch + suffix, "wb") as file:
            file.write(data)
    connection = open_state(scratch)
    if connection.pragma("quick_check") == "ok":
        return connection
    connection.close()
    message = "it changed while it was copied"
    raise apsw.CorruptError(message)


def state_for(data: bytes, notes: str) -> bytes:
    """Return what ``copy_state`` made, for a home that calls the notes folder *notes*.

    Raises:
        StateUnusableError: It is no state, or of a newer version.
    """
    from hivemind_memory.state.schema import give_to_notes

    connection = apsw.Connection(":memory:")
    try:
        connection.deserialize("main", data)
        _refuse_newer("state.db", int(connection.pragma("user_version")))
        give_to_notes(connection, "", notes)
        return connection.serialize("main")
    except apsw.Error as error:
        raise state_error("state.db", error) from error
    finally:
        connection.close()


def purged_mark(path: str) -> str:
    """Return the empty file beside a state that has, or had, texts listed as purged."""
    return f"{path}.purged"


def mark_purged(path: str) -> None:
    """Make that file, so that a state that is lost later is noticed."""
    with suppress(OSError):  # as before there was one: a loss is not noticed
        _make_file(purged_mark(path))


def state_error(path: str, error: Exception) -> StateUnusableError:
    """Return our error for one of SQLite's or the system's."""
    from hivemind_memory.files.errors import cause_of, reason_of

    if isinstance(error, apsw.BusyError | apsw.LockedError):
        message = f"another process keeps {path} locked"
        return StateUnusableError(message, hint="try again")
    if is_full(error, path):
        message = f"the disk is full: {os.path.basename(path)} was not changed"
        return StateUnusableError(message, hint="free some space and try again")
    if isinstance(error, IrregularFileError):
        message = f"{error.filename} cannot be used: {reason_of(error)}"
        return StateUnusableError(message, hint="move it away")
    if isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError):
        error = why_unwritable(path) or error  # SQLite does not say why
    if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
        cause, hint = cause_of(error)
        message = f"{cause}: {os.path.basename(path)} was not changed"
        return StateUnusableError(message, hint=hint)
    reason = reason_of(error) if isinstance(error, OSError) else str(error)
    return StateUnusableError(
        f"{path} cannot be used: {reason}", hint="run `hm doctor`"
    )


def _refuse_newer(path: str, version: int) -> None:
    """Raise if this program does not know what the file holds."""
    if version > STATE_VERSION:
        message = f"{path} was made by a newer version of this program"
        raise StateTooNewError(message, hint="upgrade hivemind-memory")


def _make_file(path: str) -> None:
    """Make an empty file, private under any umask; its -wal and -shm take the mode.

    One that another thread has made meanwhile is not opened: closing it would release
    the locks of that thread's connection.
    """
    make_private_folder(os.path.dirname(path))
    try:
        file = open_regular(path, _NEW_FILE)
    except FileExistsError:
        return
    try:
        set_mode(file, PRIVATE_FILE)
    finally:
        os.close(file)
