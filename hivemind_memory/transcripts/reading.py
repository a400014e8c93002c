"""Reads what is new in the transcripts into ``transcripts.db``.

One process at a time reads; a kill loses nothing, because how far a file was read is
written with its messages. Files are read one after the other in bounded steps, those
that were changed last first, so that a search with little time finds the newest.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import NamedTuple

from hivemind_memory.errors import HivemindError, IndexUnusableError
from hivemind_memory.files.descriptors import make_private_folder, open_regular
from hivemind_memory.files.errors import reason_of
from hivemind_memory.files.locks import KernelLock
from hivemind_memory.model.activity import ReadReport
from hivemind_memory.model.clocks import SECONDS_PER_DAY
from hivemind_memory.sqlite.connection import write_transaction
from hivemind_memory.transcripts.kept_text import kept_text
from hivemind_memory.transcripts.line_file import (
    Line,
    ReadPlace,
    lines_after,
    place_after,
    place_to_go_on,
)
from hivemind_memory.transcripts.message import FileState
from hivemind_memory.transcripts.read_database import read_database
from hivemind_memory.transcripts.retention import floor_ms, keep_within
from hivemind_memory.transcripts.scopes import settle_scopes
from hivemind_memory.transcripts.sources import DatabaseSource, LineSource, find_files
from hivemind_memory.transcripts.store import (
    NewMessage,
    add_messages,
    remove_files,
)
from hivemind_memory.transcripts.target import ReadTarget, changed_while_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from hivemind_memory.sqlite.writer_lock import WriterConnection
    from hivemind_memory.transcripts.sources import FoundFile, Source

STEP_BYTES = 4 * 1024 * 1024
STEP_MESSAGES = 2_000
"""After so much of a file, what was read is committed, and the clock looked at."""


class _KnownFile(NamedTuple):
    """A file as it was read last."""

    row: int
    place: ReadPlace
    size_bytes: int
    mtime_ns: int
    state: str


_KNOWN = (
    "SELECT path, id, inode, offset, line, head_size, head, tail, size, mtime, state"
    " FROM files WHERE source = ? AND part = ''"
)


def read_transcripts(
    target: ReadTarget, sources: Sequence[Source], *, budget_s: float
) -> ReadReport:
    """Read what is new, and drop what is too old, too much or gone.

    Args:
        target: Where it goes, and by which rules.
        sources: The agents whose transcripts are read.
        budget_s: How long it may take, waiting for another reader included.

    Raises:
        IndexUnusableError: The file of messages cannot be used.
        StateUnusableError: What was purged cannot be looked up.
    """
    target.begin(budget_s)
    lock = KernelLock(target.lock_path)
    try:
        make_private_folder(os.path.dirname(target.lock_path))
        is_held = lock.acquire(wait_s=min(budget_s, target.seconds_left()))
    except OSError:
        is_held = False
    if not is_held:
        return ReadReport(is_busy=True)
    try:
        target.erased.load()
        with target.store.opened() as connection:
            target.floor_ms = max(floor_ms(connection), _oldest_ms(target))
            for source in sources:
                _read_source(target, connection, source)
            settle_scopes(connection, target)
            keep_within(connection, target)
    finally:
        lock.release()
    return target.report()


def _oldest_ms(target: ReadTarget) -> int:
    """Return the time before which nothing is kept, in ms since the epoch."""
    return int((target.now_s - target.days * SECONDS_PER_DAY) * 1000)


def _read_source(
    target: ReadTarget, connection: WriterConnection, source: Source
) -> None:
    """Read the transcripts of one agent; what cannot be read now is reported."""
    if isinstance(source, DatabaseSource):
        try:
            read_database(target, connection, source)
        except IndexUnusableError as error:
            target.problems.append(str(error))
        return
    known = {
        str(path): _KnownFile(row, ReadPlace(*rest[:6]), *rest[6:])
        for path, row, *rest in connection.execute(_KNOWN, (source.name,))
    }
    found = sorted(find_files(source), key=lambda file: -file.mtime_ns)
    for file in found:
        before = known.pop(file.path, None)
        if before is None and file.mtime_ns // 1_000_000 < target.floor_ms:
            continue
        if before is not None and (before.size_bytes, before.mtime_ns) == file[2:]:
            continue
        try:
            _read_file(target, connection, source, file, before)
        except OSError as error:
            target.problems.append(f"{file.path} cannot be read: {reason_of(error)}.")
    if os.path.isdir(source.folder):  # else it may be on a drive that is not there
        _forget(connection, [file.row for file in known.values()])


def _forget(connection: WriterConnection, rows: list[int]) -> None:
    """Drop files that are gone, or were rewritten, with their messages."""
    if rows:
        with write_transaction(connection):
            remove_files(connection, rows)


def _read_file(
    target: ReadTarget,
    connection: WriterConnection,
    source: LineSource,
    found: FoundFile,
    before: _KnownFile | None,
) -> None:
    """Read what is new in one file, step by step, as long as there is time."""
    place = before.place if before is not None else ReadPlace()
    if target.is_over():
        target.bytes_left += max(0, found.size_bytes - place.offset)
        return
    with open(found.path, "rb", opener=open_regular) as file:
        start = place_to_go_on(file, place, found.inode)
        state = FileState.from_json(before.state if before and start is place else "")
        if not state.folder and source.folder_of is not None:
            state.folder = source.folder_of(found.path)
        row = before.row if before is not None else 0
        if start is not place and row:
            _forget(connection, [row])
            row = 0
        target.files += 1
        reading = _FileReading(target, source, found, state)
        for last, new in reading.steps(file, start):
            after = start if last is None else place_after(file, start, last)
            is_done = last is None or target.is_over()
            row = _commit(connection, reading, row, after, new, is_done=last is None)
            start = after
            if is_done:
                break
        left = found.size_bytes - start.offset
        target.bytes_left += left if target.is_over() and left > 0 else 0


class _FileReading:
    """One file while it is read."""

    def __init__(
        self,
        target: ReadTarget,
        source: LineSource,
        found: FoundFile,
        state: FileState,
    ) -> None:
        self.target = target
        self.source = source
        self.found = found
        self.state = state

    def steps(
        self, file: BinaryIO, start: ReadPlace
    ) -> Iterator[tuple[Line | None, list[NewMessage]]]:
        """Yield messages in bounded steps, each with the last line that it is of.

        The last step has no line: the end of what is there was reached before.
        """
        new: list[NewMessage] = []
        begun = start.offset
        last = None
        for line in lines_after(file, start):
            last = line
            if any(mark in line.data for mark in self.source.marks):
                new += self._messages_of(line)
            if line.end - begun >= STEP_BYTES or len(new) >= STEP_MESSAGES:
                self.target.bytes_read += line.end - begun
                yield line, new
                new, begun, last = [], line.end, None
        if last is not None:
            self.target.bytes_read += last.end - begun
            yield last, new
        yield None, []

    def _messages_of(self, line: Line) -> Iterator[NewMessage]:
        """Yield the messages of a line that are kept."""
        try:
            record = json.loads(line.data)
        except (ValueError, RecursionError):
            return  # not ours to judge
        if not isinstance(record, dict):
            return
        messages = list(self.source.read_record(record, self.state))
        at_ms = round(self.state.at_s * 1000) or self.found.mtime_ns // 1_000_000
        if at_ms < self.target.floor_ms:
            return
        for part, message in enumerate(messages):
            text = kept_text(message.text, message.role)
            if text and not self.target.erased.has(self.state.session, text):
                role, tool = message.role, message.tool[:200]
                yield NewMessage(line.number, part, at_ms, role, tool, text)


def _commit(
    connection: WriterConnection,
    reading: _FileReading,
    row: int,
    place: ReadPlace,
    new: list[NewMessage],
    *,
    is_done: bool,
) -> int:
    """Write messages and how far the file was read, together; return the file's row."""
    target, found, state = reading.target, reading.found, reading.state
    # Until all is read, the file counts as changed.
    size, mtime = (found.size_bytes, found.mtime_ns) if is_done else (-1, 0)
    values = (
        *place,
        *(size, mtime, state.as_json(), state.session, state.folder),
        target.scope_of(state.folder),
    )
    with write_transaction(connection):
        if row:
            connection.execute(
                "UPDATE files SET (inode, offset, line, head_size, head, tail, size,"
                " mtime, state, session, folder, scope)"
                " = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
                (*values, row),
            )
            if not connection.changes():
                raise changed_while_read(target.store.path)
        else:
            connection.execute(
                "INSERT INTO files(source, path, part, inode, offset, line, head_size,"
                " head, tail, size, mtime, state, session, folder, scope)"
                " VALUES (?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (reading.source.name, _stored_path(found.path), *values),
            )
            row = connection.last_insert_rowid()
        target.messages += add_messages(connection, row, found.path, new)
    return row


def _stored_path(path: str) -> str:
    """Return a path as SQLite takes it."""
    with suppress(UnicodeEncodeError):
        path.encode()
        return path
    raise OSError(0, "its name is not UTF-8")


def read_quietly(
    target: ReadTarget, sources: Sequence[Source], *, budget_s: float
) -> ReadReport:
    """Read as ``read_transcripts`` does; a problem is reported and raises nothing."""
    try:
        return read_transcripts(target, sources, budget_s=budget_s)
    except HivemindError as error:
        return ReadReport(problems=(str(error),))
