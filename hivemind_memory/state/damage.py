"""Sets a damaged ``state.db`` aside, and reports it to ``hm doctor``.

Only a file that is damaged beyond doubt; a busy or an unreadable one stays.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

import apsw

from hivemind_memory.errors import StateUnusableError
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.sqlite.connection import move_aside
from hivemind_memory.state.open import open_state
from hivemind_memory.state.schema import STEPS

DAMAGE_HINT = (
    "purge again whatever must not come back, then delete the damaged file: it holds "
    "counters and hashes, no text"
)

_WAIT_S = 2.0
_TABLES = tuple(re.findall(r"CREATE TABLE (\w+)", "".join(STEPS)))


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
        move_aside(path, damaged_name(path))
    except OSError:
        return False
    finally:
        lock.release()
    return True


def damage_report(path: str) -> str:
    """Return what ``hm doctor`` must say about the state; empty: nothing."""
    aside = damaged_name(path)
    if os.path.exists(aside):
        return (
            f"{path} was damaged and moved to {aside}: recall counters start again, "
            "and purged texts are no longer refused when they are written again"
        )
    if os.path.exists(path) and not is_sound(path):
        return f"{path} is damaged; the next use moves it aside and starts a new one"
    return ""


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
