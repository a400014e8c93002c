"""Repairs a damaged ``state.db`` as far as it can be read, and tells ``hm doctor``.

Only a file that is damaged beyond doubt; a busy or an unreadable one stays.
"""

from __future__ import annotations

import os
import re
from contextlib import closing, suppress

import apsw

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.files.descriptors import (
    SQLITE_FILES,
    IrregularFileError,
    check_regular,
)
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.sqlite.connection import synced_transaction
from hivemind_memory.sqlite.move_aside import move_aside
from hivemind_memory.state.open import open_state, purged_mark
from hivemind_memory.state.schema import STEPS

DAMAGE_HINT = (
    "purge again whatever must not come back, then delete the damaged file: it holds "
    "counters and hashes, no text"
)

_WAIT_S = 2.0
_TABLES = tuple(dict.fromkeys(re.findall(r"CREATE TABLE (\w+)", "".join(STEPS))))


def set_aside(path: str) -> bool:
    """Set the file aside if it is damaged beyond doubt; return whether to try again.

    What can still be read of it is copied into a new file. It is deleted if that has
    every tombstone: it would be one more file for a purge to look through. An earlier
    damaged file stays until a later one takes its place: it says that some are lost.

    What another process may have repaired meanwhile is left as it is.
    """
    lock = KernelLock(f"{path}.lock")
    try:
        if not lock.acquire(wait_s=_WAIT_S):
            return False
        if is_sound(path):
            return True
        kept = damaged_name(path)
        aside = f"{kept}-again" if os.path.exists(kept) else kept
        move_aside(path, aside)
        if _copy_rows(aside, path):
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(aside + suffix)
        elif aside != kept:
            move_aside(aside, kept)
    except (OSError, apsw.Error, StateUnusableError):
        return False
    finally:
        lock.release()
    return True


def _copy_rows(damaged: str, path: str) -> bool:
    """Copy what can be read into a new file; return whether no tombstone is missing.

    Tombstones are keyed hashes, so without the key nothing is copied.

    Raises:
        apsw.Error: The new file cannot be written.
        OSError: It cannot be made.
    """
    tables: dict[str, _Rows] = {}
    with suppress(apsw.Error, IrregularFileError):
        check_regular(damaged, SQLITE_FILES)
        old = apsw.Connection(damaged, flags=apsw.SQLITE_OPEN_READWRITE)
        with closing(old):
            tables = {name: _Rows(old, name) for name in _TABLES}
    if not tables or "key" not in {row[0] for row in tables["meta"].values}:
        return False
    with closing(open_state(path)) as new, synced_transaction(new):
        new.execute("DELETE FROM meta")
        for name, rows in tables.items():
            known = {column[1] for column in new.execute(f"PRAGMA table_info({name})")}
            if not known.issuperset(rows.columns):
                continue
            columns, marks = ", ".join(rows.columns), ", ".join("?" * len(rows.columns))
            sql = f"INSERT OR IGNORE INTO {name}({columns}) VALUES ({marks})"
            new.executemany(sql, rows.values)
    return tables["meta"].are_all and tables["tombstones"].are_all


class _Rows:
    """What can be read of a table, up to its first damaged page."""

    def __init__(self, connection: apsw.Connection, table: str) -> None:
        self.columns: list[str] = []
        self.values: list[tuple[apsw.SQLiteValue, ...]] = []
        self.are_all = False
        with suppress(apsw.Error):
            cursor = connection.execute(f"SELECT * FROM {table}")
            for row in cursor:
                self.columns = self.columns or [
                    str(column[0]) for column in cursor.description
                ]
                self.values.append(row)
            self.are_all = True


def damage_report(path: str) -> str:
    """Return what ``hm doctor`` must say about the state; empty: nothing."""
    aside = damaged_name(path)
    if os.path.exists(aside):
        what = f"damaged and moved to {aside}"
        if not os.path.getsize(aside):
            what = f"emptied or deleted, as {aside} records"
        return (
            f"{path} was {what}: texts that were purged before "
            "may be written again, and some recall counters may be lost"
        )
    if os.path.exists(path) and not is_sound(path):
        return f"{path} is damaged; the next use moves it aside and copies what it can"
    return ""


def record_loss(path: str) -> None:
    """Record that the file lost its tombstones without being damaged."""
    with suppress(OSError):
        if os.path.exists(damaged_name(path)):
            os.unlink(purged_mark(path))
        else:
            os.replace(purged_mark(path), damaged_name(path))


def damaged_name(path: str) -> str:
    """Return where a damaged file is kept."""
    return f"{path}.damaged"


def is_sound(path: str) -> bool:
    """Return whether the file can be read as a whole; a busy one is not damaged."""
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
