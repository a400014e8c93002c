"""Reads the journal again and again, each time only what was added.

The journal of a busy ten minutes has thousands of lines, and every look at changed
notes asks what it holds.
"""

from __future__ import annotations

import os
from threading import Lock

from hivemind_memory.files.descriptors import identity_of, open_regular
from hivemind_memory.notes.journal_records import add_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from hivemind_memory.notes.journal_records import JournalEntry


_NONE = ((0, 0), b"")


class JournalReader:
    """What one journal adds up to. Threads may share it; it holds nothing open."""

    __slots__ = ("_end", "_entries", "_generation", "_last_line", "_lock", "_path")

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = Lock()
        self._entries: dict[str, JournalEntry] = {}
        self._generation = _NONE
        self._last_line = b""
        self._end = 0

    def entries(self) -> tuple[JournalEntry, ...]:
        """Return the entries as they are now, oldest first; none if there is no file.

        Takes no lock of the journal: one that is being written shows as begun.
        """
        with self._lock:
            try:
                with open(self._path, "rb", opener=open_regular) as file:
                    self._read(file)
            except OSError:
                self._forget()
            return tuple(self._entries.values())

    def _read(self, file: BinaryIO) -> None:
        """Read what was added, or everything if the file was rewritten."""
        status = os.fstat(file.fileno())
        # The first line says when the file was begun.
        generation = (identity_of(status), file.readline())
        file.seek(self._end - len(self._last_line))
        # A writer that fails cuts off its lines. Those of the next one are others: no
        # two entries have the same id.
        is_longer = file.read(len(self._last_line)) == self._last_line
        if generation != self._generation or not is_longer:
            self._forget()
            self._generation = generation
            file.seek(0)
        self._end, last_line = add_lines(self._entries, file, self._end)
        self._last_line = last_line or self._last_line

    def _forget(self) -> None:
        """Start over."""
        self._entries = {}
        self._generation = _NONE
        self._last_line = b""
        self._end = 0
