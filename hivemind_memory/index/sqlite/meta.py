"""The table ``meta``: values that processes share, one under each key.

One key holds the digest of the scan of the folder that the whole index is equal to. A
search that sees the same digest need not read what the index knows of each note.
Whatever changes that drops the digest in the same transaction.
"""

from __future__ import annotations

import apsw

from hivemind_memory.sqlite.connection import BUSY_TIMEOUT_MS, write_transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SCAN = "scan"
"""Key of that digest."""


class notes_transaction(write_transaction):  # noqa: N801 - as its parent
    """A write transaction that changes what the index knows of the folder."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Begin; no earlier scan describes the index any more."""
        super().__enter__()
        try:
            self._connection.execute("DELETE FROM meta WHERE key = ?", (SCAN,))
        except BaseException as error:
            # Python calls no __exit__ then, and the write lock would stay taken.
            self.__exit__(type(error), error, error.__traceback__)
            raise


def record_scan(
    connection: apsw.Connection, digest: str, is_current: Callable[[], bool]
) -> bool:
    """Keep a digest, unless the index is busy or has changed; return whether.

    Args:
        connection: The index.
        digest: Of a scan that the index was equal to.
        is_current: Asked inside the transaction whether it still is.
    """
    try:
        # What only saves time waits for no lock.
        connection.set_busy_timeout(0)
        with write_transaction(connection):
            if not is_current():
                return False
            connection.execute(
                "INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (SCAN, digest)
            )
    except apsw.Error:
        return False  # busy, read-only or full: the next search compares again
    finally:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return True


def get_meta(connection: apsw.Connection, key: str) -> str:
    """Return the value under *key*; empty: there is none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def set_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Set *value* under *key*."""
    with write_transaction(connection):
        connection.execute(
            """
            INSERT INTO meta(key, value) VALUES (?, ?)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value
            """,
            (key, value),
        )
