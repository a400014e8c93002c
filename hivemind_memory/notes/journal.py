"""The journal of acknowledged entries: what was promised, until it is known to be safe.

An append-only file outside the notes. An entry goes in before it goes into its note, so
whatever happens to the note within ten minutes, its text still exists. Nothing here
touches a note: ``writer`` and ``recovery`` do, and all of them hold one lock.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager

from hivemind_memory.errors import NotSavedError
from hivemind_memory.notes import os_files
from hivemind_memory.notes.journal_file import JournalFile
from hivemind_memory.notes.journal_records import SAVED, entries_of, is_young
from hivemind_memory.notes.os_locks import KernelLock
from hivemind_memory.notes.refusals import cause_of
from hivemind_memory.notes.unsettled import JOURNAL_FILE, has_unsettled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hivemind_memory.notes.journal_records import JournalEntry

LOCK_WAIT_S = 10.0


class Journal:
    """The journal in one folder. Holds nothing open; threads may share it."""

    __slots__ = ("_lock", "folder")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = KernelLock(os.path.join(folder, "lock"))

    def needs_look(self) -> bool:
        """Tell whether ``recovery.recover`` has anything to do, by one stat."""
        return has_unsettled(self.folder)

    def is_busy(self) -> bool:
        """Tell whether somebody holds the lock now."""
        return bool(self._lock.holder())

    def entries(self) -> tuple[JournalEntry, ...]:
        """Return the entries as they are now, oldest first, without waiting for a lock.

        One that is being written this moment shows as begun.
        """
        try:
            with open(os.path.join(self.folder, JOURNAL_FILE), "rb") as lines:
                return tuple(entries_of(lines).values())
        except OSError:
            return ()

    def count_unsettled(self, now_s: float) -> int:
        """Return how many acknowledged entries are in their ten minutes."""
        return sum(
            entry.state == SAVED and is_young(entry, now_s) for entry in self.entries()
        )

    def forget(self, entry_ids: Collection[str], now_s: float) -> None:
        """Take entries out, text and all, so that they neither remain nor come back.

        Raises:
            NotSavedError: The journal could not be rewritten and is as it was.
        """
        if not self.needs_look():
            return
        with self.session() as session:
            kept = session.entries().keys() - set(entry_ids)
            try:
                session.keep(kept, now_s)
            except OSError as error:
                raise self.refused(error) from error

    @contextmanager
    def session(self, *, wait_s: float = LOCK_WAIT_S) -> Iterator[JournalFile]:
        """Hold the lock and the file; whoever writes to a note does it in here.

        Raises:
            NotSavedError: Another process held the lock for too long, or the journal
                cannot be written. No note was touched.
        """
        self._acquire(wait_s)
        try:
            try:
                session = JournalFile(self.folder)
            except OSError as error:
                raise self.refused(error) from error
            with closing(session):
                yield session
        finally:
            self._lock.release()

    def refused(self, error: OSError) -> NotSavedError:
        """Return the error to raise when the system refused to write the journal."""
        cause, hint = cause_of(error)
        message = f"Nothing was saved: the journal {self.folder} cannot be written"
        return NotSavedError(f"{message}: {cause}.", hint=hint)

    def _acquire(self, wait_s: float) -> None:
        """Take the lock, or raise."""
        try:
            os_files.make_private_folder(self.folder)
            if self._lock.acquire(wait_s=wait_s):
                return
        except OSError as error:
            raise self.refused(error) from error
        holder = self._lock.holder() or "another process"
        message = f"Nothing was saved: {holder} has been writing for {wait_s:g} s."
        hint = "Try again; if it stays so, see what that process is doing."
        raise NotSavedError(message, hint=hint)
