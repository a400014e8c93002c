"""``transcripts.db``: the messages of transcripts, derived, and searched by words.

It can be deleted: the next reading makes it again from the transcripts. One of another
version, or a damaged one, is replaced.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from typing import NamedTuple
from zlib import crc32

import apsw

from hivemind_memory.errors import (
    IndexBusyError,
    IndexDamagedError,
    IndexUnusableError,
)
from hivemind_memory.files.descriptors import identity_at, make_private_folder
from hivemind_memory.files.locks import LOCK_WAIT_S, exclusive
from hivemind_memory.model.activity import ID_BITS
from hivemind_memory.model.terms import TOKENIZER, extra_terms
from hivemind_memory.sqlite.connection import (
    make_file,
    open_as_named,
    open_connection,
    write_transaction,
)
from hivemind_memory.sqlite.full_disk import is_full

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from hivemind_memory.files.descriptors import FileIdentity
    from hivemind_memory.sqlite.writer_lock import WriterConnection

MAPPED_BYTES = 64 * 1024 * 1024
"""Most bytes of the file that are mapped. What is mapped counts as memory of the
process, and reading a gigabyte of transcripts touches all of the file."""

VERSION = 1
_SCHEMA = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE files(
  id        INTEGER PRIMARY KEY,
  source    TEXT    NOT NULL,
  path      TEXT    NOT NULL,
  part      TEXT    NOT NULL,   -- session in a database; '': the file is one session
  inode     INTEGER NOT NULL,
  offset    INTEGER NOT NULL,   -- how far it was read, see line_file.py
  line      INTEGER NOT NULL,
  head_size INTEGER NOT NULL,
  head      BLOB    NOT NULL,
  tail      BLOB    NOT NULL,
  size      INTEGER NOT NULL,   -- as it was when it was read last
  mtime     INTEGER NOT NULL,   -- ns
  state     TEXT    NOT NULL,   -- JSON, see FileState
  session   TEXT    NOT NULL,
  folder    TEXT    NOT NULL,   -- where the session worked
  scope     TEXT    NOT NULL,   -- of the folder's project; '': not known
  messages  INTEGER NOT NULL DEFAULT 0,
  first_ms  INTEGER NOT NULL DEFAULT 0,
  last_ms   INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, path, part)
);
CREATE TABLE messages(
  id    INTEGER PRIMARY KEY,    -- ms since the epoch, and 20 bits that tell apart
  file  INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
  line  INTEGER NOT NULL,       -- from 1; of a part in a database, a hash of its id
  part  INTEGER NOT NULL,       -- which message of the line
  place TEXT    NOT NULL,       -- id of a part in a database
  role  TEXT    NOT NULL,
  tool  TEXT    NOT NULL,
  text  TEXT    NOT NULL,
  extra TEXT    NOT NULL        -- terms that the engine does not find by itself
);
CREATE INDEX messages_file ON messages(file, line, part);
CREATE VIRTUAL TABLE messages_fts USING fts5(
  text, extra, content = 'messages', content_rowid = 'id',
  tokenize = "{TOKENIZER}"
);
INSERT INTO messages_fts(messages_fts, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER messages_added AFTER INSERT ON messages BEGIN
  INSERT INTO messages_fts(rowid, text, extra)
  VALUES (new.id, new.text, new.extra);
END;
CREATE TRIGGER messages_removed AFTER DELETE ON messages BEGIN
  INSERT INTO messages_fts(messages_fts, rowid, text, extra)
  VALUES ('delete', old.id, old.text, old.extra);
END;
"""
_MASK = (1 << ID_BITS) - 1


class NewMessage(NamedTuple):
    """A message to be kept; its text is masked already."""

    line: int
    part: int
    at_ms: int
    role: str
    tool: str
    text: str
    place: str = ""


class TranscriptStore:
    """The file of one home. Opened with its first use; threads may share it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: WriterConnection | None = None
        self._identity: FileIdentity | None = None

    def is_there(self) -> bool:
        """Return whether anything was ever read."""
        return os.path.exists(self.path)

    def close(self) -> None:
        """Close the file; nothing is lost when this is not called."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def opened(self) -> Iterator[WriterConnection]:
        """Lend the connection to one thread at a time.

        Raises:
            IndexUnusableError: The file cannot be used, also during the work. A
                damaged one is deleted: the next reading makes it again.
        """
        with self._lock:
            try:
                if identity_at(self.path) != self._identity:
                    self.close()  # it was deleted, and perhaps made again since
                if self._connection is None:
                    self._connection, self._identity = open_as_named(
                        self.path, self._open
                    )
                yield self._connection
            except apsw.Error as error:
                raise self._translated(error) from error

    def _translated(self, error: apsw.Error) -> IndexUnusableError:
        """Return our error for one of SQLite's; delete a damaged file."""
        if isinstance(error, apsw.BusyError | apsw.LockedError):
            message = f"Another process keeps {self.path} locked."
            return IndexBusyError(message, hint="Try again.")
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            identity = self._identity
            self.close()
            self._delete(identity)
            return IndexUnusableError(
                f"{self.path} was damaged and has been deleted.",
                hint="The next search or `hm sync` reads the transcripts again.",
            )
        if is_full(error, self.path):
            name = os.path.basename(self.path)
            message = f"The disk is full: {name} was not changed."
            return IndexUnusableError(message, hint="Free some space.")
        return IndexUnusableError(
            f"{self.path} cannot be used: {error}.",
            hint="It can be deleted: it is made again from the transcripts.",
        )

    def _open(self, path: str) -> WriterConnection:
        """Return a connection to a file of this version, made if need be."""
        make_private_folder(os.path.dirname(path))
        if not os.path.exists(path):
            with self._changing():
                make_file(path)
        identity = identity_at(path)
        try:
            connection = open_connection(path)
        except IndexDamagedError:
            return self._made_again(identity)
        try:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}")
            version = int(connection.pragma("user_version"))
            if version == 0:
                _make_tables(connection)
        except BaseException:
            connection.close()
            raise
        if version in (0, VERSION):
            return connection
        connection.close()
        return self._made_again(identity)  # it is derived: nothing is upgraded

    def _made_again(self, identity: FileIdentity | None) -> WriterConnection:
        """Return a connection to a new file, in the place of one that is of no use."""
        self._delete(identity)
        return self._open(self.path)

    def _delete(self, identity: FileIdentity | None) -> None:
        """Delete the file, which can be made again, unless another process has.

        Args:
            identity: Of the file that is of no use.
        """
        with self._changing():
            if identity_at(self.path) != identity:
                return
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(self.path + suffix)

    def _changing(self) -> AbstractContextManager[None]:
        """Return a context in which no other process makes or deletes the file."""
        return exclusive(
            f"{self.path}.lock",
            wait_s=LOCK_WAIT_S,
            refused=lambda why, hint: IndexUnusableError(why, hint=hint),
        )


def _make_tables(connection: WriterConnection) -> None:
    """Make the tables, unless another process was faster."""
    with write_transaction(connection):
        if int(connection.pragma("user_version")) == 0:
            connection.execute(_SCHEMA)
            connection.pragma("user_version", VERSION)


def add_messages(
    connection: WriterConnection, file: int, key: str, new: Iterable[NewMessage]
) -> int:
    """Add messages of a file in the caller's transaction; return how many.

    Args:
        connection: In a write transaction.
        file: Its row.
        key: What tells the file from others; ids follow from it and from the place, so
            that a file that is read again gets the same ones.
        new: The messages.
    """
    rows = sorted((_id_of(key, message), message) for message in new)
    taken = 0
    for wanted, message in rows:
        number = max(wanted, taken + 1)
        while connection.execute(
            "SELECT 1 FROM messages WHERE id = ?", (number,)
        ).fetchone():
            number += 1
        taken = number
        connection.execute(
            "INSERT INTO messages(id, file, line, part, place, role, tool, text, extra)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(number, file, message.line, message.part, message.place),
                *(message.role, message.tool, message.text, extra_terms(message.text)),
            ),
        )
    if rows:
        times = [number >> ID_BITS for number, _ in rows]
        connection.execute(
            "UPDATE files SET messages = messages + ?, last_ms = max(last_ms, ?),"
            " first_ms = CASE first_ms WHEN 0 THEN ? ELSE min(first_ms, ?) END"
            " WHERE id = ?",
            (len(rows), max(times), min(times), min(times), file),
        )
    return len(rows)


def remove_files(connection: WriterConnection, files: Iterable[int]) -> None:
    """Remove files with their messages, in the caller's transaction."""
    for file in files:
        connection.execute("DELETE FROM messages WHERE file = ?", (file,))
        connection.execute("DELETE FROM files WHERE id = ?", (file,))


def remove_messages(
    connection: WriterConnection, condition: str, values: tuple[object, ...]
) -> int:
    """Remove messages in the caller's transaction; return how many.

    Args:
        connection: In a write transaction.
        condition: In SQL, on the table ``messages``.
        values: Its values.
    """
    rows = connection.execute(
        f"DELETE FROM messages WHERE {condition} RETURNING file", values
    ).fetchall()
    for file in {row[0] for row in rows}:
        connection.execute(
            "UPDATE files SET (messages, first_ms, last_ms) ="
            " (SELECT count(*), coalesce(min(id) >> ?1, 0), coalesce(max(id) >> ?1, 0)"
            "  FROM messages WHERE file = ?2) WHERE id = ?2",
            (ID_BITS, file),
        )
    return len(rows)


def _id_of(key: str, message: NewMessage) -> int:
    """Return the id of a message: its time, and a few bits of its place."""
    place = f"{key}\0{message.line}\0{message.part}".encode("utf-8", "surrogateescape")
    return message.at_ms << ID_BITS | crc32(place) & _MASK
