"""The journal: acknowledged entries, kept until they are known to be safe.

An append-only file outside the notes folder. An entry goes in before it goes into its
note, so its text still exists whatever happens to the note within ten minutes. Nothing
here touches a note: ``writer`` and ``recovery`` do, under the journal's lock.

``Journal`` takes the lock; ``JournalFile`` is the open file while the lock is held. A
torn last line is removed when the file is opened.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager, nullcontext, suppress

from hivemind_memory.errors import NotSavedError, is_disk_full
from hivemind_memory.files import descriptors
from hivemind_memory.files.errors import cause_of
from hivemind_memory.files.locks import LOCK_WAIT_S, KernelLock, exclusive
from hivemind_memory.files.own_files import open_own
from hivemind_memory.files.places import (
    JOURNAL_FILE,
    JOURNAL_LOCK,
    has_journal_entries,
    notes_locks,
)
from hivemind_memory.notes.journal_reader import JournalReader
from hivemind_memory.notes.journal_records import (
    LONGEST_MARK_BYTES,
    RECOVERED,
    RETURNING,
    SAVED,
    entries_of,
    heading_of,
    is_recoverable,
    last_saved,
    mark_line,
    opened_line,
    renamed_line,
    saved_line,
    text_line,
    text_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from contextlib import AbstractContextManager

    from hivemind_memory.notes.journal_records import JournalEntry, LastSaved


_REWRITTEN = "rewritten.tmp"
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT


class Journal:
    """The journal in one folder. Holds nothing open; threads may share it."""

    __slots__ = ("_lock", "_notes", "_reader", "folder")

    def __init__(self, folder: str, notes: str = "") -> None:
        """Lock nothing yet.

        Args:
            folder: Its folder.
            notes: The notes folder that is written to, whose lock all homes with these
                notes share; empty: no other home has them.
        """
        self.folder = folder
        self._notes = notes
        self._lock = KernelLock(os.path.join(folder, JOURNAL_LOCK))
        self._reader = JournalReader(os.path.join(folder, JOURNAL_FILE))

    def may_need_recovery(self) -> bool:
        """Return whether ``recovery.recover`` has anything to do, by one stat."""
        return has_journal_entries(self.folder)

    def is_busy(self) -> bool:
        """Return whether a process holds the lock now."""
        return bool(self._lock.holder())

    def entries(self) -> tuple[JournalEntry, ...]:
        """Return the entries as they are now, oldest first, without waiting for a lock.

        One that is being written this moment shows as begun.
        """
        return self._reader.entries()

    def count_pending_entries(self, now_s: float) -> int:
        """Return how many acknowledged entries are in their ten minutes."""
        return sum(
            entry.state == SAVED and is_recoverable(entry, now_s)
            for entry in self.entries()
        )

    @contextmanager
    def session(self, *, wait_s: float = LOCK_WAIT_S) -> Iterator[JournalFile]:
        """Hold the lock and the file; every write to a note happens inside.

        Raises:
            NotSavedError: Another process held the lock for too long, or the journal
                cannot be written. No note was touched.
        """
        self._acquire(wait_s)
        try:
            with self._notes_lock(wait_s):
                try:
                    session = JournalFile(self.folder)
                except OSError as error:
                    raise self.write_error(error) from error
                with closing(session):
                    yield session
        finally:
            self._lock.release()

    def _notes_lock(self, wait_s: float) -> AbstractContextManager[None]:
        """Return the lock of the notes folder, which other homes take as well.

        The journal's own lock is taken first, always.
        """
        locks = notes_locks(self._notes) if self._notes else ""
        if not locks:
            return nullcontext()
        return exclusive(
            os.path.join(locks, "journal.lock"),
            wait_s=wait_s,
            refused=lambda why, hint: NotSavedError(
                why, hint=hint, effect="Nothing was saved"
            ),
        )

    def write_error(self, error: OSError) -> NotSavedError:
        """Return the error to raise when the system refused to write the journal."""
        cause, hint = cause_of(error)
        if not is_disk_full(error):
            cause = f"the journal {self.folder} cannot be written: {cause}"
        return NotSavedError(
            f"{cause}.",
            hint=hint,
            effect="Nothing was saved",
        )

    def _acquire(self, wait_s: float) -> None:
        """Take the lock, or raise."""
        try:
            descriptors.make_private_folder(self.folder)
            if self._lock.acquire(wait_s=wait_s):
                return
        except OSError as error:
            raise self.write_error(error) from error
        holder = self._lock.holder() or "another process"
        raise NotSavedError(
            f"{holder} has been writing for {wait_s:g} s.",
            hint="Try again. If it keeps happening, check what that process is doing.",
            effect="Nothing was saved",
        )


_FLAGS |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class JournalFile:
    """The journal while its lock is held. Close it. Its errors are those of ``os``."""

    __slots__ = ("_fd", "_mark", "folder")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._fd = self._open(JOURNAL_FILE)
        self._mark = self._cut_torn_line()

    def close(self) -> None:
        """Close the file and keep the lock; a second call does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def is_unfinished(self) -> bool:
        """Return whether the last writer died before its entry was saved or dropped."""
        # The end of a line with a long text makes no heading, and is one in doubt.
        do = heading_of(self._last_line()).get("do", "begin")
        return self._size() > 0 and do in ("begin", "again")

    def last_saved(self) -> LastSaved | None:
        """Return what the last line knows about its note, if it is a ``saved`` line."""
        return last_saved(heading_of(self._last_line()))

    def opened_s(self) -> float | None:
        """Return when the journal was begun, None while it is empty."""
        at_s = heading_of(descriptors.read_at(self._fd, 0, 256).split(b"\n")[0]).get(
            "at"
        )
        return at_s if isinstance(at_s, int | float) else None

    def entries(self) -> dict[str, JournalEntry]:
        """Return the entries by id, oldest first."""
        return entries_of(self._lines())

    def text(self, entry: JournalEntry) -> str:
        """Return the text that was last written for an entry; empty if damaged."""
        with os.fdopen(os.dup(self._fd), "rb") as lines:
            lines.seek(entry.offset)
            return text_of(lines.readline())

    def begin(self, entry: JournalEntry, text: str) -> None:
        """Put an entry's text on the disk, before any of it goes into a note."""
        head = b"" if self._size() else opened_line(entry.at_s)
        descriptors.write_all(self._fd, head + text_line(entry, text))
        descriptors.sync_file(self._fd)
        if head:
            with descriptors.OpenFolder.at(self.folder) as folder:
                folder.sync()

    def finish(self, entry: JournalEntry, last: LastSaved) -> None:
        """Say that the text is in its note, synced.

        This line itself is not synced: were it lost in a power cut, the next writer
        would find the entry in its note and write the line again.
        """
        is_back = entry.state == RETURNING
        line = mark_line(RECOVERED, entry.id) if is_back else saved_line(entry.id, last)
        descriptors.write_all(self._fd, line)

    def mark(self, do: str, entry: JournalEntry) -> None:
        """Say what became of an entry: saved, recovered or dropped."""
        descriptors.write_all(self._fd, mark_line(do, entry.id))

    def commit(self) -> None:
        """Let ``rollback`` spare all that was written so far."""
        self._mark = self._size()

    def rollback(self) -> None:
        """Cut off what was written since the last ``commit``, or since the start."""
        with suppress(OSError):  # then the next writer finds that nothing was saved
            os.ftruncate(self._fd, self._mark)
            descriptors.sync_file(self._fd)

    def keep(self, entry_ids: Collection[str], now_s: float) -> None:
        """Rewrite the journal with these entries only; without any it is empty."""
        if not entry_ids:
            os.ftruncate(self._fd, 0)
            # Else a power cut brings back what was purged, and recovery restores it.
            descriptors.sync_file(self._fd)
            self.commit()
            with suppress(FileNotFoundError):  # a killed process may have left it
                os.unlink(os.path.join(self.folder, _REWRITTEN))
            return
        kept = (
            line for line in self._lines() if heading_of(line).get("id") in entry_ids
        )
        self._replace((opened_line(now_s), *kept))

    def rename(self, new_path: Callable[[str], str]) -> None:
        """Rewrite the journal for notes that were moved."""
        lines = list(self._lines())
        renamed = [renamed_line(line, new_path) for line in lines]
        if renamed != lines:
            self._replace(renamed)

    def _replace(self, lines: Iterable[bytes]) -> None:
        """Put a new file in the place of this one."""
        self._write_beside(lines)
        self.close()  # Windows does not replace an open file
        try:
            with descriptors.OpenFolder.at(self.folder) as folder:
                folder.rename(_REWRITTEN, JOURNAL_FILE)
                folder.sync()
        finally:
            self._fd = self._open(JOURNAL_FILE)
            self.commit()

    def _write_beside(self, lines: Iterable[bytes]) -> None:
        """Write lines to a new file, synced."""
        fd = self._open(_REWRITTEN)
        try:
            os.ftruncate(fd, 0)  # see above
            for line in lines:
                descriptors.write_all(fd, line)
            descriptors.sync_file(fd)
        finally:
            os.close(fd)

    def _lines(self) -> Iterator[bytes]:
        """Yield the lines of the journal."""
        with os.fdopen(os.dup(self._fd), "rb") as lines:
            lines.seek(0)
            yield from lines

    def _open(self, name: str) -> int:
        """Return a descriptor of a file of the journal, 0600 if it is new."""
        path = os.path.join(self.folder, name)
        fd = open_own(path, _FLAGS)
        try:
            descriptors.set_mode(fd, descriptors.PRIVATE_FILE)
        except OSError:
            os.close(fd)
            raise
        return fd

    def _size(self) -> int:
        """Return the size of the file in bytes."""
        return os.fstat(self._fd).st_size

    def _last_line(self) -> bytes:
        """Return the last line, or only the end of it where it is long."""
        start = max(0, self._size() - LONGEST_MARK_BYTES)
        end = descriptors.read_at(self._fd, start, LONGEST_MARK_BYTES)
        return end[end.rfind(b"\n", 0, -1) + 1 :]

    def _cut_torn_line(self) -> int:
        """Cut off a line that its writer could not finish; return the size then."""
        size = self._size()
        if size and descriptors.read_at(self._fd, size - 1, 1) != b"\n":
            torn = b""
            for line in self._lines():
                torn = line
            size -= len(torn)
            os.ftruncate(self._fd, size)
        return size
