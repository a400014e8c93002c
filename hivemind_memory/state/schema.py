"""The tables of ``state.db``, what no note can hold, and the steps that made them."""

from __future__ import annotations

import os

from hivemind_memory.sqlite.connection import write_transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw


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
)
"""Each step runs in the transaction that records it; a released one never changes."""

STATE_VERSION = len(STEPS)


def version_of_state(connection: apsw.Connection) -> int:
    """Return the number of the last step that the file has seen."""
    return int(connection.pragma("user_version"))


def bring_state_up_to_date(connection: apsw.Connection) -> None:
    """Apply the steps that the file has not seen, and give it its key."""
    # Stays in the file; must come before the first transaction.
    connection.execute("PRAGMA journal_mode = WAL")
    with write_transaction(connection):
        # Another process may have been faster between the look and the lock.
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
