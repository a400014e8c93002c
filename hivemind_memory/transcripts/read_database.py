"""Reads what is new in a database of transcripts, as OpenCode keeps one.

A part of a message may be updated; then what is kept of it is replaced.
"""

from __future__ import annotations

import os
from hashlib import blake2b

from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.transcripts.kept_text import kept_text
from hivemind_memory.transcripts.opencode_parts import changed_parts, session_ids
from hivemind_memory.transcripts.store import (
    NewMessage,
    add_messages,
    remove_files,
    remove_messages,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.sqlite.writer_lock import WriterConnection
    from hivemind_memory.transcripts.opencode_parts import ChangedPart
    from hivemind_memory.transcripts.sources import DatabaseSource
    from hivemind_memory.transcripts.target import ReadTarget

_STEP = 500
"""Parts that one transaction writes."""

_INSERT = """
INSERT INTO files(source, path, part, inode, offset, line, head_size, head, tail, size,
  mtime, state, session, folder, scope)
VALUES (?, ?, ?, ?, ?, 0, 0, x'', x'', ?, ?, '', ?, ?, ?)
ON CONFLICT (source, path, part) DO UPDATE
SET inode = excluded.inode, offset = excluded.offset, size = excluded.size,
  mtime = excluded.mtime, folder = excluded.folder, scope = excluded.scope
"""
_DATABASE = "#"
"""In place of a session: the row of the database itself."""


def read_database(
    target: ReadTarget, connection: WriterConnection, source: DatabaseSource
) -> None:
    """Read the parts that were updated since the last reading.

    Raises:
        IndexUnusableError: The database cannot be read now.
    """
    try:
        status = os.stat(source.path)
    except OSError:
        if os.path.isdir(source.folder):
            _forget_others(connection, source, frozenset())
        return
    signature = (*_size_and_time(source.path), *_size_and_time(f"{source.path}-wal"))
    size, mtime = signature[0] + signature[2], max(signature[1], signature[3])
    row = connection.execute(
        "SELECT inode, offset, size, mtime FROM files"
        " WHERE source = ? AND path = ? AND part = ?",
        (source.name, source.path, _DATABASE),
    ).fetchone()
    since_ms = 0
    if row is not None and row[0] == status.st_ino:
        if row[2:] == (size, mtime):
            return
        since_ms = int(row[1])
    else:
        # Another database, or a new one.
        _forget_others(connection, source, frozenset())
    target.files += 1
    steps = _Steps(target, connection, source, status.st_ino)
    is_whole = steps.read(since_ms)
    _forget_others(connection, source, session_ids(source.path))
    # Until all is read, the database counts as changed.
    steps.write_mark(size if is_whole else -1, mtime)
    if not is_whole:
        target.bytes_left += size


class _Steps:
    """One reading of a database."""

    def __init__(
        self,
        target: ReadTarget,
        connection: WriterConnection,
        source: DatabaseSource,
        inode: int,
    ) -> None:
        self._target = target
        self._connection = connection
        self._source = source
        self._inode = inode
        self._mark_ms = 0

    def read(self, since_ms: int) -> bool:
        """Read the parts updated since a time; return whether that was all."""
        self._mark_ms = since_ms
        some: list[ChangedPart] = []
        for part in changed_parts(self._source.path, since_ms):
            some.append(part)
            self._target.bytes_read += part.size_bytes
            if len(some) >= _STEP:
                self._write(some)
                some = []
                if self._target.is_over():
                    return False
        self._write(some)
        return True

    def write_mark(self, size: int, mtime: int) -> None:
        """Write the time up to which parts were read."""
        with write_transaction(self._connection):
            self._put(_DATABASE, "", size, mtime)

    def _write(self, parts: list[ChangedPart]) -> None:
        """Write some parts, in place of what was kept of them."""
        if not parts:
            return
        connection, source = self._connection, self._source
        by_session: dict[tuple[str, str], list[ChangedPart]] = {}
        for part in parts:
            by_session.setdefault((part.session, part.folder), []).append(part)
        with write_transaction(connection):
            for (session, folder), some in by_session.items():
                self._put(session, folder, 0, 0)
                [(row,)] = connection.execute(
                    "SELECT id FROM files WHERE source = ? AND path = ? AND part = ?",
                    (source.name, source.path, session),
                )
                for part in some:
                    remove_messages(
                        connection, "file = ? AND line = ?", (row, _number(part.id))
                    )
                new = [message for part in some for message in self._messages_of(part)]
                key = f"{source.path}\0{session}"
                self._target.messages += add_messages(connection, row, key, new)
            self._mark_ms = parts[-1].updated_ms
            self._put(_DATABASE, "", -1, 0)

    def _put(self, part: str, folder: str, size: int, mtime: int) -> None:
        """Write the row of a session, or of the database itself."""
        session = "" if part == _DATABASE else part
        mark_ms = self._mark_ms if part == _DATABASE else 0
        source = self._source
        row = (source.name, source.path, part, self._inode, mark_ms, size, mtime)
        scope = self._target.scope_of(folder)
        self._connection.execute(_INSERT, (*row, session, folder, scope))

    def _messages_of(self, part: ChangedPart) -> list[NewMessage]:
        """Return the messages of a part that are kept."""
        if part.created_ms < self._target.floor_ms:
            return []
        number, new = _number(part.id), []
        for at, message in enumerate(part.messages):
            text = kept_text(message.text, message.role)
            if text and not self._target.erased.has(part.session, text):
                new.append(
                    NewMessage(
                        *(number, at, part.created_ms, message.role),
                        *(message.tool[:200], text, part.id),
                    )
                )
        return new


def _forget_others(
    connection: WriterConnection, source: DatabaseSource, kept: frozenset[str]
) -> None:
    """Drop the sessions that the database no longer holds."""
    rows = connection.execute(
        "SELECT id, part FROM files WHERE source = ? AND path = ?",
        (source.name, source.path),
    ).fetchall()
    kept |= {_DATABASE}
    gone = [int(str(row)) for row, part in rows if part not in kept]
    if gone:
        with write_transaction(connection):
            remove_files(connection, gone)


def _size_and_time(path: str) -> tuple[int, int]:
    """Return size and time of a file; zeros if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _number(part_id: str) -> int:
    """Return the number that stands for the id of a part."""
    digest = blake2b(part_id.encode("utf-8", "replace"), digest_size=6).digest()
    return int.from_bytes(digest)
